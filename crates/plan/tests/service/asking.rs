//! The answers that good clients get.

use std::fs;

use corecast_machine::model_file;
use corecast_plan::service::{Client, MachineSource, Options, PlanRequest, RefusalKind, ServiceError, TermsChoice};
use corecast_plan::{Effort, Limits, Operation, Problem, Request, Terms};
use std::time::Duration;

use crate::served::{LONG, Served, machine, patient};

fn quick(operation: Operation) -> PlanRequest {
    PlanRequest { effort: Effort::Quick, ..PlanRequest::new(operation) }
}

#[test]
fn many_clients_get_the_plans_that_they_would_have_made() {
    let served = Served::start(12, patient());
    std::thread::scope(|scope| {
        for number in 0..16_u64 {
            let mut client = served.client();
            scope.spawn(move || {
                let machine = machine(12);
                let cpus = format!("{}-11", number % 4).parse().expect("a list");
                let problem = Problem::new(&machine, &cpus).expect("CPUs");
                for operation in Operation::ALL {
                    let request = PlanRequest { cpus: Some(cpus.clone()), seed: number % 2, ..quick(operation) };
                    let plan = client.plan(&request, &problem).expect("a plan");
                    let own = Request::new(operation).effort(Effort::Quick).seed(number % 2).plan(&problem);
                    let own = own.expect("a plan");
                    assert_eq!((&plan.tree, &plan.up, plan.predicted), (&own.tree, &own.up, own.predicted));
                    assert_eq!((&plan.scheme, plan.seed, plan.effort), (&own.scheme, own.seed, own.effort));
                }
            });
        }
    });
    let status = served.client().status().expect("a status");
    assert_eq!((status.requests, status.refused), (16 * 5 + 1, 0));
    assert_eq!(status.cached_plans, 4 * 5, "four sets of CPUs; two of them with either seed");
}

#[test]
fn a_machine_is_named_by_file_or_sent_along() {
    let served = Served::start(4, patient());
    let mut client = served.client();
    let other = machine(9);
    let problem = Problem::of_machine(&other).expect("CPUs").with_terms(Terms::of(&other));
    let file = served.folder.path().join("model.json");
    model_file::write(&other, &file).expect("written");
    for source in [MachineSource::File(file), MachineSource::model(&other).expect("a model")] {
        let request = PlanRequest { machine: source, terms: TermsChoice::Extended, ..quick(Operation::Barrier) };
        let plan = client.plan(&request, &problem).expect("a plan");
        assert_eq!(plan.cpus.len(), 9);
        let again = client.ask(&request).expect("a plan");
        assert!(again.is_cached && !again.is_stopped);
    }
    let error = client.plan(&quick(Operation::Barrier), &problem).expect_err("the service's own machine has 4 CPUs");
    assert!(matches!(error, ServiceError::Unfit(_)), "{error}");
}

#[test]
fn files_that_are_no_models_are_refused_and_pipes_do_not_hold_the_service() {
    let served = Served::start(4, Options { searches: 1, ..patient() });
    let mut client = served.client();
    let folder = served.folder.path();
    fs::write(folder.join("text"), "no model").expect("written");
    let pipe = folder.join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).expect("a pipe");
    for (path, expected) in [
        (folder.join("none"), "No such file"),
        (folder.join("text"), "this is not JSON"),
        (folder.to_owned(), "not a regular file"),
        (pipe, "not a regular file"),
        ("/dev/zero".into(), "not a regular file"),
        (served.path(), "not a regular file"),
    ] {
        let request = PlanRequest { machine: MachineSource::File(path), ..quick(Operation::Reduce) };
        let Err(ServiceError::Refused(refusal)) = client.ask(&request) else { panic!("{expected}") };
        assert_eq!(refusal.kind, RefusalKind::Machine);
        assert!(refusal.message.contains(expected), "{refusal}");
    }
    client.ask(&quick(Operation::Reduce)).expect("it goes on");
}

#[test]
fn impossible_plans_fail_as_in_process() {
    let served = Served::start(4, patient());
    let mut client = served.client();
    let cpus = |list: &str| Some(list.parse().expect("a list"));
    for (request, expected) in [
        (PlanRequest { cpus: cpus("2-5"), ..quick(Operation::Reduce) }, "CPU 4 is not in the machine model"),
        (
            PlanRequest { root: Some(corecast_base::CpuId::new(3)), cpus: cpus("0-2"), ..quick(Operation::Reduce) },
            "root CPU 3 is not among the CPUs",
        ),
        (
            PlanRequest { planner: "crystal ball".to_owned(), ..quick(Operation::Reduce) },
            "'crystal ball' is not a shape",
        ),
        (
            PlanRequest { limits: Limits { children: Some(1), depth: Some(1) }, ..quick(Operation::Reduce) },
            "no tree over 4 members",
        ),
    ] {
        let Err(ServiceError::Refused(refusal)) = client.ask(&request) else { panic!("{expected}") };
        assert_eq!(refusal.kind, RefusalKind::Plan);
        assert!(refusal.message.contains(expected), "{refusal}");
    }
}

#[test]
fn a_list_names_what_requests_may_name() {
    let served = Served::start(4, patient());
    let mut client = served.client();
    let list = client.list().expect("a list");
    assert_eq!(list.operations.len(), Operation::ALL.len());
    assert!(list.shapes.iter().any(|shape| shape == "adaptive"));
    for shape in list.shapes {
        client.ask(&PlanRequest { planner: shape.clone(), ..quick(Operation::Broadcast) }).expect(&shape);
    }
}

#[test]
fn a_search_beyond_the_limit_gives_the_best_so_far_which_is_not_kept() {
    let served = Served::start(40, Options { search_limit: Duration::ZERO, ..patient() });
    let mut client = served.client();
    let problem = Problem::of_machine(&machine(40)).expect("CPUs");
    let request = PlanRequest { effort: Effort::Patient, ..PlanRequest::new(Operation::Broadcast) };
    let plan = client.ask(&request).expect("a plan");
    assert!(plan.is_stopped && !plan.is_cached);
    plan.check(&request, &problem).expect("the best so far is a plan");
    assert!(!client.ask(&request).expect("a plan").is_cached);
}

#[test]
fn an_absent_service_is_an_error_at_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Client::connect(&folder.path().join("none"), LONG).expect_err("nobody there");
    assert!(matches!(error, ServiceError::NotConnected { .. }), "{error}");
    let listener = std::os::unix::net::UnixListener::bind(folder.path().join("silent")).expect("bound");
    let mut client = Client::connect(&folder.path().join("silent"), Duration::from_millis(1)).expect("connected");
    let error = client.status().expect_err("nobody answers");
    assert!(matches!(error, ServiceError::TimedOut { .. }), "{error}");
    drop(listener);
    assert!(matches!(client.status(), Err(ServiceError::Gone { .. })));
}

#[test]
fn a_bound_comes_along_where_it_is_asked_for() {
    let served = Served::start(14, patient());
    let mut client = served.client();
    let problem = Problem::of_machine(&machine(14)).expect("CPUs");
    let quick = quick(Operation::Reduce);
    let bound = |bound| PlanRequest { bound, ..quick.clone() };
    let none = client.plan(&bound(None), &problem).expect("a plan");
    assert!(none.bound.is_none() && !none.is_proven);
    let loose = client.plan(&bound(Some(0)), &problem).expect("a plan").bound.expect("asked for");
    let tight = client.plan(&bound(Some(40)), &problem).expect("a plan").bound.expect("asked for");
    assert!(0.0 < loose && loose <= tight && tight <= none.predicted, "{loose} {tight} {}", none.predicted);
}
