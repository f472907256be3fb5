//! How a service begins, ends, and begins again.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;

use corecast_plan::service::{BindError, Options, PlanRequest, Server, ServiceError};
use corecast_plan::{Effort, Operation};

use crate::served::{Served, machine, patient};

#[test]
fn the_socket_is_its_users_alone_and_goes_with_the_service() {
    let mut served = Served::start(4, patient());
    let mode = fs::metadata(served.path()).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut client = served.client();
    client.status().expect("served");
    served.stop();
    assert!(!served.path().exists());
    assert!(matches!(client.status(), Err(ServiceError::Gone { .. })));
    assert_eq!(fs::read_dir(served.folder.path()).expect("listed").count(), 0);
}

#[test]
fn a_second_service_is_refused_and_the_first_goes_on() {
    let served = Served::start(4, patient());
    let error = Server::bind(&served.path(), machine(4), Options::default()).expect_err("taken");
    assert!(matches!(error, BindError::Taken { .. }), "{error}");
    served.client().status().expect("it goes on");
}

#[test]
fn the_socket_of_a_killed_service_is_replaced() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("plan.sock");
    // A listener of the standard library leaves its socket, as a killed process does.
    drop(UnixListener::bind(&path).expect("bound"));
    let server = Server::bind(&path, machine(4), Options::default()).expect("replaced");
    drop(server);
    assert!(!path.exists());
}

#[test]
fn the_end_of_the_service_ends_a_search_with_the_best_so_far() {
    let mut served = Served::start(40, patient());
    let mut client = served.client();
    let request = PlanRequest { effort: Effort::Patient, ..PlanRequest::new(Operation::Broadcast) };
    let asking = std::thread::spawn(move || client.ask(&request));
    let mut watcher = served.client();
    let mut seen = 0;
    loop {
        let status = watcher.status().expect("a status");
        seen += 1;
        if status.requests > seen {
            break;
        }
        std::thread::yield_now();
    }
    served.stop();
    let plan = asking.join().expect("no panic").expect("the best so far");
    assert!(plan.is_stopped);
}
