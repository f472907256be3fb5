//! Members that wait at a barrier run the tasks that another one creates.

use crate::launch::{Compiler, program};

/// Without the diversion of barriers at which tasks are pending, the members that wait would run none but those that are left
/// when the producer arrives: 1,935 of 2,000 tasks ran on one of two threads.
#[test]
fn members_that_wait_run_tasks() {
    let Some(program) = program(Compiler::Gcc, "producer") else { return };
    for threads in ["2", "4"] {
        let outcome = program.with_object(&[threads, "10000"], &[]);
        assert!(outcome.status.success(), "{outcome:?}");
        assert_eq!(outcome.output, "producer: sum 10000, errors 0\n");
        let others = outcome.errors.trim().strip_prefix("others ").and_then(|count| count.parse::<u64>().ok());
        assert!(others.is_some_and(|others| others > 0), "{threads} threads: {outcome:?}");
    }
}
