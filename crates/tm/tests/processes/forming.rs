//! Instances that processes find and join.

use std::thread;

use corecast_base::region::{RegionPlan, SharedRegion};
use corecast_base::rendezvous::SocketDir;
use corecast_lock::Algorithm;
use corecast_testing::actor::Actor;
use corecast_tm::{Form, OpenError, Tm};

use super::{ACCOUNTS, FIRST, FORMS, application, builder, machine, open_accounts, roles, server, total};

#[test]
fn processes_find_an_instance_by_its_name() {
    for form in FORMS {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let dir = SocketDir::at(folder.path().join("names"));
        let machine = machine();
        let tm = builder(&machine, form).create_named(&dir, "bank").expect("memory");
        let accounts = open_accounts(&tm);
        let servers: Vec<_> = (0..4).filter(|&id| tm.is_server(id)).map(|id| server(&tm, id)).collect();
        thread::scope(|scope| {
            servers.into_iter().for_each(|server| drop(scope.spawn(|| server.serve())));
            let mut other = roles::start_by_name("transfer by name", &folder);
            assert_eq!(other.hear(), "done");
            let mut participant = application(&tm, 1);
            assert_eq!(total(&mut participant, &accounts), Ok(FIRST * i64::from(ACCOUNTS)));
            other.dismiss();
        });
    }
}

#[test]
fn a_participant_is_given_out_once() {
    let machine = machine();
    let tm = builder(&machine, Form::Messages).create().expect("memory");
    let again = Tm::attach_fd(tm.share().expect("/proc is there")).expect("the same instance");
    let _mine = application(&tm, 1);
    assert!(matches!(again.participant(1), Err(OpenError::Taken(1))));
    let _other = application(&again, 3);
    let beyond = again.participant(4).expect_err("there is none");
    assert_eq!(beyond.to_string(), "participant 4 of 4");
}

#[test]
fn locks_that_die_with_their_holder_are_refused() {
    let machine = machine();
    for lock in [Algorithm::Tas, Algorithm::Mcs] {
        // The machine, for which messages may be faster, does not matter.
        for form in [Form::Shared, Form::Auto] {
            let refused = builder(&machine, form).lock(lock).create().expect_err("it would be held for ever");
            assert!(matches!(refused, OpenError::Lock(found) if found == lock), "{refused}");
        }
    }
    builder(&machine, Form::Shared).lock(Algorithm::Word).create().expect("the one that survives");
}

#[test]
fn other_memory_is_no_instance() {
    let plan = RegionPlan::new().add("other", 6, [0; 6], 64).expect("a plan");
    let region = SharedRegion::memfd(&plan).expect("memory");
    let refused = Tm::attach_fd(region.share().expect("/proc is there")).expect_err("it holds something else");
    assert_eq!(refused.to_string(), "this is no transactional memory that this program can join: it holds none");
}

#[test]
fn more_channels_than_a_region_has_are_refused() {
    let machine = machine();
    let refused = Tm::builder(&machine).participants(256).servers_every(2).create().expect_err("32,768 channels");
    assert!(matches!(refused, OpenError::Plan(_)), "{refused}");
}

#[test]
fn a_thread_that_the_system_refuses_is_an_error() {
    let mut other = Actor::start("roles::play", "run without threads", "");
    let said = other.hear();
    assert!(said.starts_with("no thread for participant 0: "), "{said}");
    other.dismiss();
}
