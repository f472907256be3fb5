//! All locks keep their promises wherever threads lose their CPUs, and the little that is promised where one is killed.

use corecast_sim::Algorithm;
use corecast_sim::conformance::{KilledOutcome, LastStores, Phase, Trial, check_killed, check_lock};

/// Of each lock.
const SEEDS: u64 = 100;

#[test]
fn locks_exclude_and_lose_no_wake_up_under_preemption() {
    for &algorithm in Algorithm::ALL {
        for seed in 0..SEEDS {
            check_lock(algorithm, seed).unwrap_or_else(|failure| panic!("{failure}"));
        }
    }
}

/// Three threads, each on its CPU, without stops.
const KILLS: Trial = Trial { seed: 5, threads: 3, cpus: 4, rounds: 3, one_in: 1, longest_stop_ns: 0 };

#[test]
fn a_kill_at_any_access_leaves_the_others_with_a_lock_that_excludes() {
    for &algorithm in Algorithm::ALL.iter().filter(|&&algorithm| algorithm != Algorithm::Byte) {
        for stores in [LastStores::Land, LastStores::Lost] {
            let outcomes: Vec<KilledOutcome> = (0..)
                .map(|access| {
                    check_killed(algorithm, KILLS, access, stores).unwrap_or_else(|failure| panic!("{failure}"))
                })
                .take_while(|outcome| outcome.killed.is_some())
                .collect();
            for phase in [Phase::Locks, Phase::Holds, Phase::Unlocks, Phase::Between] {
                assert!(outcomes.iter().any(|outcome| outcome.killed == Some(phase)), "{algorithm}: {phase:?}");
            }
            // A dead holder holds the lock for ever.
            let holds = |outcome: &&KilledOutcome| outcome.killed == Some(Phase::Holds);
            assert!(outcomes.iter().filter(holds).any(|outcome| !outcome.others_ended), "{algorithm}");
        }
    }
}

/// A waiter that may overtake only once it has spun in vain was left asleep by the simulated machine.
#[test]
fn seeds_that_have_failed_pass() {
    check_lock(Algorithm::Auto, 927).unwrap_or_else(|failure| panic!("{failure}"));
}
