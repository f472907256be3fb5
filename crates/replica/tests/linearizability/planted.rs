//! Violations as a replicated store would make them, and what looks like one and is none.

use corecast_replica::linearizability::{
    Counter, CounterOp, Operation, Register, RegisterAnswer, RegisterOp, Return, USUAL_LIMIT, Verdict, check,
};

use RegisterAnswer::{Done, Number, Value, Was};
use RegisterOp::{CompareAndSet, Delete, Get, Increment, Set};

type Event = Operation<RegisterOp, RegisterAnswer>;

fn event(client: u64, call_ns: u64, at_ns: u64, op: RegisterOp, answer: RegisterAnswer) -> Event {
    Operation { client, op, call_ns, returned: Some(Return { at_ns, answer }) }
}

fn unanswered(client: u64, call_ns: u64, op: RegisterOp) -> Event {
    Operation { client, op, call_ns, returned: None }
}

#[track_caller]
fn refused(history: &[Event]) -> String {
    let Verdict::Violated(violation) = check(&Register, history, USUAL_LIMIT) else { panic!("it is a violation") };
    let mut text = String::new();
    violation.explain(history, &mut text).expect("a string");
    text
}

#[track_caller]
fn accepted(history: &[Event]) {
    assert_eq!(check(&Register, history, USUAL_LIMIT), Verdict::Linearizable);
}

#[test]
fn a_stale_read() {
    let text = refused(&[
        event(1, 0, 10, Set(1), Done),
        event(1, 20, 30, Set(2), Done),
        event(2, 40, 50, Get, Value(Some(1))),
    ]);
    assert_eq!(
        text,
        "2 operations in order; the last of them:\n  0..10 client 1: Set(1) -> Done\n  20..30 client 1: Set(2) -> Done\n\
         then, in state Some(2), none of these:\n  40..50 client 2: Get -> Value(Some(1))\n"
    );
    accepted(&[event(1, 0, 10, Set(1), Done), event(1, 20, 45, Set(2), Done), event(2, 40, 50, Get, Value(Some(1)))]);
}

#[test]
fn a_lost_update() {
    refused(&[event(1, 0, 10, Increment, Number(1)), event(2, 5, 15, Increment, Number(1))]);
    let swap = |client, new| event(client, 20, 30, CompareAndSet { old: Some(1), new }, Was(true));
    refused(&[event(1, 0, 10, Set(1), Done), swap(1, 2), swap(2, 3)]);
    accepted(&[event(1, 0, 10, Increment, Number(2)), event(2, 5, 15, Increment, Number(1))]);
}

#[test]
fn b_reads_the_new_value_and_then_c_the_old_one() {
    let history = |b_ends, c_begins| {
        [
            event(1, 0, 10, Set(1), Done),
            event(1, 20, 100, Set(2), Done),
            event(2, 30, b_ends, Get, Value(Some(2))),
            event(3, c_begins, 60, Get, Value(Some(1))),
        ]
    };
    refused(&history(40, 50));
    accepted(&history(50, 40));
    // The same if nobody answers the writer.
    let [first, _, b, c] = history(40, 50);
    refused(&[first, unanswered(1, 20, Set(2)), b, c]);
}

#[test]
fn a_value_from_nowhere() {
    refused(&[event(1, 0, 10, Set(1), Done), event(2, 5, 15, Get, Value(Some(9)))]);
    refused(&[event(1, 0, 10, Get, Value(Some(9))), event(2, 20, 30, Set(9), Done)]);
    refused(&[event(1, 0, 10, Get, Value(Some(9))), unanswered(2, 20, Set(9))]);
}

#[test]
fn an_acknowledged_write_is_lost() {
    refused(&[event(1, 0, 10, Set(1), Done), event(2, 20, 30, Get, Value(None))]);
    refused(&[
        event(1, 0, 10, Set(1), Done),
        event(1, 20, 30, Set(2), Done),
        unanswered(3, 25, Set(3)),
        event(2, 40, 50, Get, Value(Some(3))),
        event(2, 60, 70, Get, Value(Some(2))),
    ]);
    refused(&[event(1, 0, 10, Set(1), Done), event(2, 20, 30, Delete, Was(false))]);
}

#[test]
fn an_unanswered_operation_happens_once_at_any_time_or_never() {
    let seen = |at: u64, value| event(2, at, at + 5, Get, Value(value));
    let set = [event(1, 0, 10, Set(1), Done), unanswered(3, 5, Set(2))];
    let with = |more: &[Event]| [&set[..], more].concat();
    accepted(&with(&[seen(20, Some(1))]));
    accepted(&with(&[seen(20, Some(1)), seen(30, Some(2))]));
    accepted(&with(&[seen(20, Some(2)), seen(30, Some(2))]));
    refused(&with(&[seen(20, Some(2)), seen(30, Some(1))]));
    refused(&with(&[seen(20, Some(2)), event(1, 30, 40, Set(3), Done), seen(50, Some(2))]));
    let twice =
        [unanswered(1, 0, Increment), event(2, 10, 20, Increment, Number(2)), event(2, 30, 40, Get, Value(Some(3)))];
    refused(&twice);
    accepted(&twice[..2]);
}

#[test]
fn a_retry_that_is_done_twice() {
    let add = |call_ns, at_ns, answer| Operation {
        client: 1,
        op: CounterOp::Add(1),
        call_ns,
        returned: Some(Return { at_ns, answer }),
    };
    let history = [add(0, 10, 1), add(20, 30, 3)];
    assert!(matches!(check(&Counter, &history, USUAL_LIMIT), Verdict::Violated(_)));
}

#[test]
fn many_unanswered_writes_are_no_trouble() {
    let mut history: Vec<Event> = (0..200).map(|value| unanswered(value, value, Set(value))).collect();
    history.extend((0..200).map(|at| event(999, 1_000 + 10 * at, 1_005 + 10 * at, Get, Value(Some(at * 7 % 200)))));
    accepted(&history);
    history.push(event(999, 5_000, 5_005, Get, Value(Some(0))));
    refused(&history);
    let mut counts: Vec<Event> = (0..100).map(|client| unanswered(client, client, Increment)).collect();
    counts.push(event(999, 1_000, 1_005, Get, Value(Some(60))));
    accepted(&counts);
    counts.push(event(999, 2_000, 2_005, Get, Value(Some(101))));
    refused(&counts);
}

#[test]
#[should_panic(expected = "returns after its call")]
fn an_answer_before_the_question() {
    let _ = check(&Register, &[event(1, 10, 9, Get, Value(None))], USUAL_LIMIT);
}
