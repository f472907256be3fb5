//! The operations of `corecast bench busy`, and the candidates for each: a row of the table for every way to perform it.
//!
//! To add an operation: a file here with a list of [`Candidate`]s, and a line in `OPERATIONS`. To add a candidate: a line in
//! its operation's list; what performs the operation is a contender of another benchmark, or a file here.

mod candidate;
mod collectives;

pub(super) use candidate::{Candidate, STD};

use crate::op::Op;

/// One operation.
pub(super) struct Operation {
    /// Its name, as it is asked for and reported.
    pub(super) name: &'static str,
    /// What one round of it is, in a few words.
    pub(super) about: &'static str,
    /// What its setting is made for.
    pub(super) op: Op,
    /// How many members it has, if not any number.
    pub(super) only_for: Option<usize>,
    /// Whether its members may be processes.
    pub(super) has_processes: bool,
    /// It takes so many times the rounds that others take, as each is short.
    pub(super) times_rounds: u64,
    /// Whether it is among those that a quick run measures.
    pub(super) is_core: bool,
    /// All ways to perform it; the first is corecast's default.
    pub(super) candidates: fn() -> Vec<Candidate>,
}

/// A round that all members end together.
const COLLECTIVE: Operation = Operation {
    name: "",
    about: "",
    op: Op::Barrier,
    only_for: None,
    has_processes: true,
    times_rounds: 1,
    is_core: true,
    candidates: Vec::new,
};

/// Every operation.
pub(super) const OPERATIONS: &[Operation] = &[
    Operation { name: "barrier", about: "a barrier", candidates: collectives::barriers, ..COLLECTIVE },
    Operation {
        name: "broadcast",
        about: "a broadcast of 56 bytes",
        op: Op::Broadcast,
        candidates: collectives::broadcasts,
        ..COLLECTIVE
    },
    Operation {
        name: "allreduce",
        about: "the sum of a u64 of each member, at all members",
        op: Op::Allreduce,
        candidates: collectives::allreductions,
        ..COLLECTIVE
    },
];

/// The operation of this name.
pub(super) fn operation(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_operation_has_one_that_is_judged_one_of_std_and_names_of_their_own() {
        let names: HashSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
        assert_eq!(names.len(), OPERATIONS.len());
        for operation in OPERATIONS {
            let candidates = (operation.candidates)();
            let names: HashSet<_> = candidates.iter().map(|candidate| candidate.name).collect();
            assert_eq!(names.len(), candidates.len(), "{}", operation.name);
            assert_eq!(candidates.iter().filter(|candidate| candidate.is_judged()).count(), 1, "{}", operation.name);
            assert_eq!(candidates.iter().filter(|candidate| candidate.name == STD).count(), 1, "{}", operation.name);
            assert!(candidates[0].is_judged() && candidates.iter().any(|candidate| candidate.sleeps));
        }
    }
}
