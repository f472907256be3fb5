//! The answers that bad clients get, and that the others do not notice.

use std::io::Write;
use std::net::Shutdown;
use std::time::Duration;

use corecast_plan::Effort;
use corecast_plan::Operation;
use corecast_plan::service::{Client, Options, PlanRequest, RefusalKind, ServiceError};

use crate::served::{LONG, Served, patient};

const STATUS: &str = "{\"corecast-plan\": 1, \"op\": \"status\"}\n";

#[test]
fn bad_lines_are_answered_and_the_next_one_is_read() {
    let served = Served::start(4, patient());
    let mut client = served.raw();
    for (line, kind) in [
        ("", "json"),
        ("hello", "json"),
        ("{\"corecast-plan\": 1,", "json"),
        ("[1]", "request"),
        ("{\"corecast-plan\": 2, \"op\": \"status\"}", "version"),
        ("{\"corecast-plan\": 1, \"op\": \"sing\"}", "request"),
        ("{\"corecast-plan\": 1, \"op\": \"reduce\", \"speed\": 1}", "request"),
        ("{\"corecast-plan\": 1, \"op\": \"reduce\", \"machine\": {\"model\": {}}}", "machine"),
        ("{\"corecast-plan\": 1, \"op\": \"reduce\", \"cpus\": \"9\"}", "plan"),
        ("\0\0\0", "json"),
    ] {
        client.send(&format!("{line}\n"));
        assert_eq!(client.refusal(), kind, "{line}");
    }
    client.send(STATUS);
    let answer = client.answer().expect("an answer");
    assert_eq!(answer["status"]["refused"], 10);
    client.send(&format!("{STATUS}{STATUS}"));
    assert!(client.answer().is_some() && client.answer().is_some(), "two at once are two");
}

#[test]
fn a_request_of_100_mb_is_refused_unread() {
    let served = Served::start(4, patient());
    let mut client = served.raw();
    client.send("{\"corecast-plan\": 1, \"op\": \"");
    let chunk = vec![b'x'; 1 << 20];
    let sent = (0..100).take_while(|_| client.stream.write_all(&chunk).is_ok()).count();
    assert!(sent < 100, "the service closes long before the end");
    assert_eq!(client.refusal(), "too-large");
    assert_eq!(client.answer(), None);
    served.client().status().expect("it goes on");
}

#[test]
fn half_a_request_is_told_to_be_one() {
    let served = Served::start(4, patient());
    let mut client = served.raw();
    client.send("{\"corecast-plan\": 1, \"op\": \"sta");
    client.stream.shutdown(Shutdown::Write).expect("half closed");
    assert_eq!(client.refusal(), "truncated");
    assert_eq!(client.answer(), None);

    let mut gone = served.raw();
    gone.send("{\"corecast-plan\": 1, \"op\": \"sta");
    drop(gone);

    let mut last = served.raw();
    last.send(STATUS);
    last.stream.shutdown(Shutdown::Write).expect("half closed");
    assert!(last.answer().is_some(), "a client that has no more to ask is answered nevertheless");
    assert_eq!(last.answer(), None);
}

#[test]
fn a_hanging_client_is_dropped_and_holds_no_thread() {
    let options = Options { idle_timeout: Duration::from_millis(50), ..patient() };
    let served = Served::start(4, options);
    let mut silent = served.raw();
    let mut slow = served.raw();
    slow.send("{\"corecast-plan\"");
    let mut deaf = served.raw();
    // It never reads, and asks until the service has had enough of it.
    let deaf = std::thread::spawn(move || while deaf.stream.write_all(STATUS.as_bytes()).is_ok() {});
    for _ in 0..20 {
        served.client().status().expect("others are served");
    }
    assert_eq!((silent.refusal().as_str(), silent.answer()), ("idle", None));
    assert_eq!((slow.refusal().as_str(), slow.answer()), ("idle", None));
    deaf.join().expect("dropped");
}

#[test]
fn one_client_too_many_is_told_so() {
    let served = Served::start(4, Options { max_clients: 1, ..patient() });
    let mut first = served.client();
    first.status().expect("served");
    let mut second = served.client();
    let Err(ServiceError::Refused(refusal)) = second.status() else { panic!("it should be busy") };
    assert_eq!(refusal.kind, RefusalKind::Busy);
    drop(first);
    while Client::connect(&served.path(), LONG).expect("it serves").status().is_err() {
        std::thread::yield_now();
    }
}

#[test]
fn the_search_for_a_client_that_went_away_ends() {
    let served = Served::start(40, Options { searches: 1, ..patient() });
    let mut gone = served.raw();
    gone.send("{\"corecast-plan\": 1, \"op\": \"reduce\", \"effort\": \"patient\"}\n");
    let mut client = served.client();
    drop(gone);
    // Once its turn comes, the search before has ended.
    let request = PlanRequest { effort: Effort::Quick, ..PlanRequest::new(Operation::Broadcast) };
    client.ask(&request).expect("a plan");
    while client.status().expect("a status").clients > 1 {
        std::thread::yield_now();
    }
    let status = client.status().expect("a status");
    assert_eq!(status.cached_plans, 1, "a search that was not finished is not kept");
}
