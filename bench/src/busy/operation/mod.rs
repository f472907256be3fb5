//! The operations of `corecast bench busy`, and the candidates for each: a row of the table for every way to perform it.
//!
//! To add an operation: a file here with a list of [`Candidate`]s, and a line in `OPERATIONS`. To add a candidate: a line in
//! its operation's list; what performs the operation is a contender of another benchmark, or a file here.

mod candidate;
mod channels;
mod collectives;
mod commit;
mod mutex;
mod transfers;

pub(super) use candidate::{Candidate, STD};

use corecast_race::op::Op;

/// One operation.
pub(super) struct Operation {
    /// Its name, as it is asked for and reported.
    pub(super) name: &'static str,
    /// One round of it, in a few words.
    pub(super) about: &'static str,
    /// The operation that its setting is made for.
    pub(super) op: Op,
    /// How many members it has, if not any number.
    pub(super) only_for: Option<usize>,
    /// Whether its members may be processes.
    pub(super) has_processes: bool,
    /// Its rounds are this many times those of others, as each is short.
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

/// A message, which a sender need not wait for.
const STREAM: Operation =
    Operation { op: Op::Stream, has_processes: false, times_rounds: 20, is_core: false, ..COLLECTIVE };

/// The work of each member by itself, which the others hold up.
const SECTION: Operation = Operation { has_processes: false, times_rounds: 20, ..COLLECTIVE };

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
    Operation {
        name: "ping-pong",
        about: "a message of 56 bytes there and back",
        op: Op::OneWay,
        only_for: Some(2),
        has_processes: false,
        candidates: channels::round_trips,
        ..COLLECTIVE
    },
    Operation {
        name: "stream",
        about: "a message of 56 bytes to one receiver",
        only_for: Some(2),
        candidates: channels::streams,
        ..STREAM
    },
    Operation {
        name: "mcast-1",
        about: "a message of 56 bytes to one reader of a multicast",
        only_for: Some(2),
        candidates: channels::multicasts,
        ..STREAM
    },
    Operation {
        name: "mcast-3",
        about: "a message of 56 bytes to three readers of a multicast",
        only_for: Some(4),
        candidates: channels::multicasts,
        ..STREAM
    },
    Operation {
        name: "commit",
        about: "a two-phase commit",
        has_processes: false,
        is_core: false,
        candidates: commit::commits,
        ..COLLECTIVE
    },
    Operation {
        name: "mutex",
        about: "a critical section that adds to a word",
        candidates: mutex::short_sections,
        ..SECTION
    },
    Operation {
        name: "mutex-long",
        about: "a critical section of 5000 empty steps",
        times_rounds: 1,
        is_core: false,
        candidates: mutex::long_sections,
        ..SECTION
    },
    Operation {
        name: "transfer",
        about: "a transfer between two of 64 accounts, decided by the members",
        is_core: false,
        candidates: transfers::shared,
        ..SECTION
    },
    Operation {
        name: "transfer-messages",
        about: "a transfer between two of 64 accounts, decided by a server beside the members",
        times_rounds: 1,
        is_core: false,
        candidates: transfers::messages,
        ..SECTION
    },
];

/// The operation of this name.
pub(super) fn operation(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|operation| operation.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::Duration;

    use corecast::base::wait::Wait;

    use super::*;
    use crate::this_machine::this_machine;
    use corecast_race::contender::Setting;
    use corecast_race::harness::{Crew, Task};

    #[test]
    fn every_candidate_does_what_is_checked_before_and_after_its_rounds() {
        let machine = this_machine();
        for operation in OPERATIONS {
            let members = operation.only_for.unwrap_or(2);
            let seats = vec![None; members];
            let mut crew = Crew::seated(seats, true, Duration::from_secs(60)).expect("threads");
            for candidate in (operation.candidates)().iter().filter(|candidate| !candidate.is_external) {
                let wait = candidate.wait(Wait::default());
                let setting = Setting::new(&machine, operation.op, &machine.cpu_set(), members, wait).unbound();
                let who = format!("{}: {}", operation.name, candidate.name);
                let abort = Arc::default();
                let mut bodies = candidate.build(&setting, &abort).unwrap_or_else(|why| panic!("{who}: {why}"));
                for task in [
                    Task::Check { rounds: 8 },
                    Task::Rounds { count: 9, steps: 3, timed: 7 },
                    Task::Check { rounds: 8 },
                ] {
                    let block = crew.run(bodies, task, &abort).unwrap_or_else(|failure| panic!("{who}: {failure}"));
                    let timed = block.timings.iter().map(|timing| timing.marks.len());
                    let is_timed = matches!(task, Task::Rounds { .. });
                    assert_eq!(timed.collect::<Vec<_>>()[..2], [if is_timed { 7 } else { 0 }, 0], "{who}");
                    bodies = block.bodies;
                }
            }
        }
    }

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
