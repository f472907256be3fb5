//! Atomic operations on simulated machines: what they add up to, and the published figures.

use corecast_sim::machine::published;
use corecast_sim::{AtomicLoad, AtomicOperation, AtomicOutcome, Disturbance, atomics};

const LOAD: AtomicLoad = AtomicLoad {
    threads: 1,
    words: 1,
    warm_up_us: 10,
    duration_us: 50,
    pause_ns: 100,
    is_steady: false,
    seed: 3,
    disturbance: Disturbance::NONE,
};

fn outcome(operation: AtomicOperation, threads: usize, words: usize) -> AtomicOutcome {
    let load = AtomicLoad { threads, words, ..LOAD };
    atomics(&published::opteron_4x12(), operation, load).unwrap_or_else(|error| panic!("{operation}: {error}"))
}

/// Each run compares what the words hold with what was counted.
#[test]
fn operations_are_atomic_and_those_that_can_fail_do() {
    for operation in AtomicOperation::ALL {
        assert_eq!(operation.name().parse(), Ok(operation));
        let (alone, many) = (outcome(operation, 1, 1), outcome(operation, 24, 1));
        let each = many.mops() / 24.0;
        assert!(alone.mops() > 3.0 * each, "{operation}: {} and each of many {each} Mops/s", alone.mops());
        let can_fail = [AtomicOperation::Cas, AtomicOperation::Tas].contains(&operation);
        assert_eq!(alone.success_share(), Some(1.0), "{operation}");
        assert_eq!(many.success_share() < Some(1.0), can_fail, "{operation}: {:?}", many.success_share());
        assert_eq!(
            many.tries_per_call > 1.0,
            operation == AtomicOperation::FaiByCas,
            "{operation}: {}",
            many.tries_per_call
        );
        // A line serves the oldest request first, so all wait in one circle, and a compare and swap succeeds once in a round:
        // for the same thread. Machines are less strict; how fair those are that can fail is not simulated.
        let is_fair = [AtomicOperation::Fai, AtomicOperation::Swap].contains(&operation);
        assert!(!is_fair || many.jain() > Some(0.9), "{operation}: {:?}", many.jain());
    }
    let error = "xor".parse::<AtomicOperation>().expect_err("there is none").to_string();
    assert!(error.starts_with("unknown operation 'xor': expected one of cas, "), "{error}");
}

#[test]
fn words_of_their_own_scale() {
    let (one, many) = (outcome(AtomicOperation::Fai, 12, 1), outcome(AtomicOperation::Fai, 12, 64));
    assert!(many.mops() > 3.0 * one.mops(), "{} and {} Mops/s", one.mops(), many.mops());
}

/// Figure 4 of David et al. 2013: close to 20 Mops/s for the CPUs of a die or package, whatever the operation; they fall beyond
/// it.
#[test]
fn one_word_is_as_fast_as_published() {
    for operation in [AtomicOperation::Fai, AtomicOperation::Swap, AtomicOperation::Cas] {
        for (machine, near) in [(published::opteron_4x12(), 6), (published::xeon_8x10(), 10)] {
            let rate = |threads| {
                let load = AtomicLoad { threads, pause_ns: 0, ..LOAD };
                atomics(&machine, operation, load).expect("it ends").mops()
            };
            let (within, beyond) = (rate(near), rate(machine.cpus()));
            assert!((0.8..=1.25).contains(&(within / 20.0)), "{operation}, {}: {within}", machine.name());
            assert!(beyond < within, "{operation}, {}: {within} and {beyond}", machine.name());
        }
    }
}
