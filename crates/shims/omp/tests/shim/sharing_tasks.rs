//! Members that wait at a barrier run the tasks that another one creates.

use crate::launch::{Compiler, Outcome, program};

const TASKS: u64 = 10_000;
/// Launches of each kind, at most. A single one may find the other CPUs busy.
const LAUNCHES: u32 = 10;

/// The tasks that members without the producer ran.
fn others(outcome: &Outcome) -> u64 {
    assert!(outcome.status.success(), "{outcome:?}");
    assert_eq!(outcome.output, format!("producer: sum {TASKS}, errors 0\n"));
    let count = outcome.errors.trim().strip_prefix("others ").and_then(|count| count.parse().ok());
    count.unwrap_or_else(|| panic!("no count: {outcome:?}"))
}

/// Without the diversion of barriers at which tasks are pending, the members that wait would run none but those that are left
/// when the producer arrives: 1,935 of 2,000 tasks ran on one of two threads. They are to run half as many as with the runtime's
/// own barriers.
#[test]
fn members_that_wait_run_tasks() {
    let Some(program) = program(Compiler::Gcc, "producer") else { return };
    for threads in ["2", "4"] {
        let (mut alone, mut served) = (0, 0);
        let is_shared = (0..LAUNCHES).any(|_| {
            alone += others(&program.alone(&[threads, &TASKS.to_string()], &[]));
            served += others(&program.with_object(&[threads, &TASKS.to_string()], &[]));
            2 * served >= alone
        });
        assert!(is_shared && served > 0, "{threads} threads: {served} with the object, {alone} without");
    }
}
