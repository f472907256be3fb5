//! The same programs over and over: a race shows in one launch of many.
//!
//! `ci/shim-long.sh` launches ten thousand; here it is a hundred.

use std::collections::HashMap;

use corecast_testing::launched::{cannot_launch, numbers};

use crate::launch::{Compiler, program};

/// Each with the number of rounds that makes it short.
const PROGRAMS: [(&str, &str); 5] =
    [("teams", "2"), ("copyprivate", "100"), ("varied", "4"), ("deferred", "3"), ("cancelled", "5")];

#[test]
fn many_launches_end_and_give_the_same() {
    let built: Vec<_> =
        PROGRAMS.iter().filter_map(|&(name, rounds)| Some((name, program(Compiler::Gcc, name)?, rounds))).collect();
    if built.len() < PROGRAMS.len() {
        return cannot_launch("a program");
    }
    let mut alone: HashMap<(&str, String), String> = HashMap::new();
    for launch in numbers(100) {
        let (name, program, rounds) = &built[launch % PROGRAMS.len()];
        // One half to four members for each of two CPUs.
        let threads = (1 + launch / PROGRAMS.len() % 8).to_string();
        let policy = [("OMP_WAIT_POLICY", ["passive", "active"][launch % 2])];
        let policy = if launch % 3 == 0 { &policy[..] } else { &[] };
        let outcome = program.with_object(&[&threads, rounds], policy);
        let alone =
            alone.entry((name, threads.clone())).or_insert_with(|| program.alone(&[&threads, rounds], &[]).output);
        let is_right = outcome.status.success() && outcome.output == *alone && alone.contains("errors 0");
        assert!(is_right, "launch {launch}, {name} with {threads} threads, {policy:?}: {outcome:?}");
    }
}
