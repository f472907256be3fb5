//! The wishes of the environment, and the object's statistics.

use crate::launch::{Compiler, Outcome, program};

fn told(variables: &[(&str, &str)]) -> Option<Outcome> {
    let program = program(Compiler::Gcc, "copyprivate")?;
    let outcome = program.with_object(&["2", "50"], variables);
    assert!(outcome.status.success(), "{outcome:?}");
    Some(outcome)
}

const STATISTICS: (&str, &str) = ("CORECAST_SHIM_STATS", "1");

#[test]
fn nothing_is_printed_unless_it_is_asked_for() {
    let Some(outcome) = told(&[]) else { return };
    assert_eq!((outcome.output.as_str(), outcome.errors.as_str()), ("copyprivate: sum 2450, errors 0\n", ""));
}

#[test]
fn served_barriers_are_counted() {
    let Some(outcome) = told(&[STATISTICS]) else { return };
    // Two for each of 50 rounds and each of two members, less those of the one round in which a task was created.
    assert!(outcome.errors.contains("corecast omp: barriers: served 198, diverted 2, passed 0"), "{outcome:?}");
    assert!(outcome.errors.contains("corecast omp: regions: served 1, diverted 0, passed 0"), "{outcome:?}");
}

#[test]
fn nothing_is_served_where_it_is_switched_off_or_the_region_may_be_cancelled() {
    for off in [
        ("CORECAST_SHIM_OFF", "1"),
        ("CORECAST_SHIM", "barrier,lock"),
        ("CORECAST_SHIM_ONLY", "another-program"),
        ("OMP_CANCELLATION", "true"),
    ] {
        let Some(outcome) = told(&[STATISTICS, off]) else { return };
        assert_eq!(outcome.output, "copyprivate: sum 2450, errors 0\n", "{off:?}");
        assert!(!outcome.errors.contains("served 1"), "{off:?}: {outcome:?}");
    }
}
