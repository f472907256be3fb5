//! The same cases over and over: a race shows in one launch of many.
//!
//! `ci/shim-long.sh` launches thousands; here it is a dozen.

use corecast_testing::launched::{cannot_launch, numbers};

use crate::launch::{Run, installed};

/// Each takes a second at most, most of which is the launcher's.
const CASES: [&str; 6] = ["counters", "derived", "late", "bits", "parts", "gathered"];

/// One half to four ranks for each of two CPUs.
const RANKS: [usize; 5] = [1, 2, 3, 4, 8];

/// Each case with each number of ranks under each MPI, and then again with other random numbers.
#[test]
fn many_launches_end_and_give_the_same() {
    let mpis = installed("many launches");
    for launch in numbers(12) {
        let Some(mpi) = mpis.get(launch % mpis.len().max(1)) else { return cannot_launch("an MPI program") };
        let turn = launch / mpis.len();
        let case = CASES[turn % CASES.len()];
        // Parts are served between two ranks at least, with others that call between the parts.
        let ranks = RANKS[turn / CASES.len() % RANKS.len()].max(if case == "parts" { 3 } else { 1 });
        let told = Run::of(mpi, case, ranks).with_seed(launch).finish();
        let is_right = told.is_success && told.output.contains("ok");
        assert!(is_right, "launch {launch}, {mpi}, {ranks} ranks, {case}: {told:?}");
    }
}
