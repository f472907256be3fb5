//! Traces of locks on simulated machines.

use std::collections::BTreeSet;

use corecast_sim::machine::{Machine, published};
use corecast_sim::{
    Algorithm, Contest, ContestOutcome, Disturbance, HOLDS, Place, ProgramTrace, Reach, SimError, contest, reach,
    trace_contest,
};

const CONTEST: Contest = Contest {
    threads: 7,
    locks: 1,
    warm_up_us: 20,
    duration_us: 5,
    inside_ns: 20,
    outside_ns: 100,
    is_steady: false,
    seed: 7,
    disturbance: Disturbance::NONE,
};

fn machine() -> Machine {
    published::opteron_4x12()
}

fn traced(algorithm: Algorithm, asked: Contest) -> (ContestOutcome, ProgramTrace) {
    trace_contest(&machine(), algorithm, asked).unwrap_or_else(|error| panic!("{algorithm}: {error}"))
}

/// A trace shows that the lock excludes, by the times at which threads have it.
#[test]
fn no_two_threads_hold_a_lock_at_a_time() {
    for &algorithm in Algorithm::ALL {
        let (outcome, traced) = traced(algorithm, CONTEST);
        let mut holds: Vec<_> = traced.trace.phases.iter().filter(|phase| phase.name == HOLDS).collect();
        holds.sort_by_key(|phase| phase.begin);
        for pair in holds.windows(2) {
            assert!(pair[0].end <= pair[1].begin, "{algorithm}: {pair:?}");
        }
        let rounds: u64 = outcome.acquisitions.iter().sum();
        // Rounds count by their ends, acquisitions by their begins.
        assert!(traced.operations.abs_diff(rounds) <= CONTEST.threads as u64, "{algorithm}: {rounds}");
        assert!(traced.operations > 0 && traced.moves().count() > 0, "{algorithm}");
    }
}

#[test]
fn a_trace_changes_no_figure() {
    for algorithm in [Algorithm::Mcs, Algorithm::Tas] {
        assert_eq!(contest(&machine(), algorithm, CONTEST).ok(), Some(traced(algorithm, CONTEST).0), "{algorithm}");
    }
}

#[test]
fn lines_are_of_the_lock_of_what_it_guards_and_of_stacks() {
    let (_, ticket) = traced(Algorithm::Ticket, CONTEST);
    let is_named = |name: &str| {
        ticket.places.iter().any(|place| matches!(place, Place::Object { name: known, .. } if *known == name))
    };
    assert!(is_named("lock") && is_named("guarded"), "{:?}", ticket.places);
    let reaches: Vec<Reach> = ticket.moves().map(|request| reach(&machine(), request)).collect();
    assert!(
        reaches.contains(&Reach::Near) && reaches.contains(&Reach::Package),
        "six CPUs of a die and one of the next"
    );
    assert!(!reaches.contains(&Reach::Beyond) && !reaches.contains(&Reach::Own), "{reaches:?}");
}

#[test]
fn threads_that_share_cpus_sleep_and_wait_for_them() {
    let disturbance = Disturbance { threads_per_cpu: 4, ..Disturbance::NONE };
    let asked =
        Contest { threads: 8, warm_up_us: 10_000, duration_us: 4000, inside_ns: 10_000, disturbance, ..CONTEST };
    let (_, traced) = traced(Algorithm::Word, asked);
    let reasons: BTreeSet<String> = traced.trace.waits.iter().map(|wait| wait.waiting.reason.to_string()).collect();
    assert!(["sleeps at", "waits for its CPU at"].iter().all(|&reason| reasons.contains(reason)), "{reasons:?}");
}

#[test]
fn too_many_events_are_an_error() {
    let error = trace_contest(&machine(), Algorithm::Tas, Contest { duration_us: 2000, ..CONTEST });
    assert!(matches!(error, Err(SimError::Events { most: 20_000 })), "{:?}", error.map(|_| ()));
}
