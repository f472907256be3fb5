//! The contenders, one file each, and the list of them all.
//!
//! To add one: a file here that implements [`Contender`] with the end trait of its operation, and a line in `REGISTRY`.
//! It is then checked before it is timed, and stands in every table of its operation.

pub mod acknowledged;
pub mod bodies;
mod condvar_slot;
mod dissemination;
mod elsewhere;
mod exchanged;
mod external;
mod hurdles;
mod mcs_dissemination;
mod planned;
pub mod processes;
mod pthread_barrier;
mod raw_line;
mod rendezvous_barrier;
mod row_name;
mod sequencer;
mod setting;
mod slot_barrier;
mod slots;
mod std_barrier;
mod two_flags;

use std::os::fd::OwnedFd;
use std::sync::Arc;

use corecast::base::Arena;
use serde::Serialize;

pub use processes::Seat;
pub use processes::member as collective_member;
pub use setting::Setting;

pub use external::Workshop;
pub use planned::{TWIN, as_planned};
pub use raw_line::RawLine;
pub use row_name::CHOSEN;

use crate::harness::{Abort, Body};
use crate::op::Op;

/// One way to perform an operation.
pub trait Contender {
    /// Its name, unique for its operation. Ours begin with `corecast` or `ump`.
    fn name(&self) -> String;

    /// A description in one line, with its way to wait.
    fn about(&self) -> String;

    /// True for what corecast offers, false for rivals and yardsticks.
    fn is_ours(&self) -> bool {
        false
    }

    /// True if its participants are not the harness's threads but those of a program of its own, which is built first.
    fn is_external(&self) -> bool {
        false
    }

    /// True if it takes part only where it is named, as it says nothing about corecast's own groups.
    fn is_only_by_name(&self) -> bool {
        false
    }

    /// The participants it is for, if not any number.
    fn only_for(&self) -> Option<usize> {
        None
    }

    /// A body for each participant, by rank. A body that polls gives up when `abort` is raised.
    ///
    /// # Errors
    /// Why it cannot take part in this setting.
    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit>;

    /// Makes what members share that are processes of this program: in `arena`, of which they lay out the same, and
    /// behind descriptors that each of them gets.
    ///
    /// # Errors
    /// Why its members cannot be processes of this program in this setting.
    fn found(&self, setting: &Setting<'_>, arena: &mut Arena) -> Result<Vec<OwnedFd>, Unfit> {
        let _ = (setting, arena);
        Err(Unfit(processes::THREADS_ONLY.to_owned()))
    }

    /// The body of the member that this process is.
    ///
    /// # Errors
    /// Why it cannot take part.
    fn attend(&self, seat: Seat, arena: &mut Arena, fds: Vec<OwnedFd>) -> Result<Box<dyn Body>, Unfit> {
        let _ = (seat, arena, fds);
        Err(Unfit(processes::THREADS_ONLY.to_owned()))
    }
}

/// Why a contender does not take part.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unfit(pub String);

type List = fn() -> Vec<Box<dyn Contender>>;

/// Every contender of every operation; a line may stand for a family.
const REGISTRY: &[(Op, List)] = &[
    (Op::Barrier, planned::barriers),
    (Op::Barrier, || one(two_flags::TwoFlags)),
    (Op::Barrier, || one(dissemination::Dissemination)),
    (Op::Barrier, || one(mcs_dissemination::McsDissemination { is_padded: true })),
    (Op::Barrier, || one(mcs_dissemination::McsDissemination { is_padded: false })),
    (Op::Barrier, || one(rendezvous_barrier::RendezvousBarrier)),
    (Op::Barrier, || one(hurdles::Hurdles)),
    (Op::Barrier, || one(std_barrier::StdBarrier)),
    (Op::Barrier, || one(pthread_barrier::PthreadBarrier)),
    (Op::Barrier, || external::of(Op::Barrier)),
    (Op::Broadcast, planned::trees),
    (Op::Broadcast, || one(slot_barrier::SlotBarrier(Op::Broadcast))),
    (Op::Broadcast, || one(condvar_slot::CondvarSlot(Op::Broadcast))),
    (Op::Broadcast, || external::of(Op::Broadcast)),
    (Op::Reduce, planned::trees),
    (Op::Reduce, || one(slot_barrier::SlotBarrier(Op::Reduce))),
    (Op::Reduce, || one(condvar_slot::CondvarSlot(Op::Reduce))),
    (Op::Reduce, || external::of(Op::Reduce)),
    (Op::Allreduce, planned::trees),
    (Op::Allreduce, || one(slot_barrier::SlotBarrier(Op::Allreduce))),
    (Op::Allreduce, || one(condvar_slot::CondvarSlot(Op::Allreduce))),
    (Op::Allreduce, || external::of(Op::Allreduce)),
    (Op::Gather, planned::chosen),
    (Op::Gather, || one(slot_barrier::SlotBarrier(Op::Gather))),
    (Op::Gather, || external::of(Op::Gather)),
    (Op::Scatter, planned::chosen),
    (Op::Scatter, || one(slot_barrier::SlotBarrier(Op::Scatter))),
    (Op::Scatter, || external::of(Op::Scatter)),
    (Op::Commit, planned::chosen),
    (Op::Commit, || one(slot_barrier::SlotBarrier(Op::Commit))),
    (Op::Commit, || external::of(Op::Commit)),
    (Op::AtomicStream, planned::chosen),
    (Op::AtomicStream, || one(slot_barrier::SlotBarrier(Op::AtomicStream))),
    (Op::AtomicStream, || one(sequencer::Sequencer)),
    (Op::AtomicStream, || external::of(Op::AtomicStream)),
    (Op::Acknowledged, || acknowledged::contenders(&[2], 1)),
];

fn one(contender: impl Contender + 'static) -> Vec<Box<dyn Contender>> {
    vec![Box::new(contender)]
}

/// The contenders of an operation. The first one is the reference that the others' ratios refer to.
#[must_use]
pub fn contenders(op: Op) -> Vec<Box<dyn Contender>> {
    REGISTRY.iter().filter(|(of, _)| *of == op).flat_map(|(_, list)| list()).collect()
}

/// A contender as listed for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The operation it performs.
    pub op: Op,
    /// Its name.
    pub contender: String,
    /// A description in one line.
    pub about: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// The number of participants it is for; `None` if any.
    pub only_for: Option<usize>,
}

impl Listed {
    /// A contender of this operation.
    #[must_use]
    pub fn of(op: Op, contender: &dyn Contender) -> Self {
        let (name, about) = (contender.name(), contender.about());
        Self { op, contender: name, about, ours: contender.is_ours(), only_for: contender.only_for() }
    }
}

/// All contenders of all operations of groups.
#[must_use]
pub fn list() -> Vec<Listed> {
    let of = |op: Op| contenders(op).into_iter().map(move |contender| Listed::of(op, &*contender));
    Op::ALL.into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::time::Duration;

    use corecast::base::wait::Wait;

    use super::*;
    use crate::harness::{Crew, Task};
    use crate::this_machine::this_machine;

    #[test]
    fn names_are_unique_and_the_reference_is_ours() {
        for op in Op::COLLECTIVES.into_iter().chain([Op::Acknowledged]) {
            let contenders = contenders(op);
            let names: HashSet<String> = contenders.iter().map(|contender| contender.name()).collect();
            assert_eq!(names.len(), contenders.len(), "{op}");
            assert!(contenders[0].is_ours(), "{op}");
            assert!(contenders.iter().any(|contender| !contender.is_ours()), "{op} has a rival");
        }
        assert!(list().iter().any(|listed| listed.contender == "two-flags" && listed.only_for == Some(2)));
    }

    /// Every contender that is here passes its check, also after it has been timed and checked before.
    fn conformance(op: Op, participants: usize, wait: Wait) {
        conformance_carrying(op, op.bytes(), participants, wait);
    }

    #[allow(clippy::print_stdout, reason = "the test says which rivals it did not find")]
    fn conformance_carrying(op: Op, bytes: usize, participants: usize, wait: Wait) {
        let machine = this_machine();
        let setting = Setting::new(&machine, op, &machine.cpu_set(), participants, wait).rooted_at(participants - 1);
        let setting = setting.carrying(bytes);
        let limit = Duration::from_secs(60);
        let mut crew = Crew::start(&setting.seats, setting.oversubscribed, limit).expect("allowed CPUs");
        for contender in contenders(op) {
            // Processes that poll would keep each other, and the other tests, from their CPUs.
            let is_crowd = participants > 3 || (setting.oversubscribed && contender.about().ends_with(": polls"));
            // A runtime takes a second to start, and carries all lengths by one program: short and long ones tell.
            let is_told = bytes == op.bytes() || bytes == 5000;
            let is_too_many = contender.is_external() && (is_crowd || !is_told) || contender.is_only_by_name();
            if is_too_many || contender.only_for().is_some_and(|only| only != participants) {
                continue;
            }
            let (name, abort) = (contender.name(), Arc::default());
            let mut bodies = match contender.build(&setting, &abort) {
                Ok(bodies) => bodies,
                Err(unfit) if unfit.0.starts_with(TWIN[0]) => continue,
                Err(unfit)
                    if ["install ", "only polls", "built without", "carries "]
                        .iter()
                        .any(|lack| unfit.0.contains(lack)) =>
                {
                    println!("not here: {op}: {name} of {participants}: {unfit}");
                    continue;
                }
                Err(unfit) => panic!("{op}: {name} of {participants}: {unfit}"),
            };
            let tasks = [Task::Check { rounds: 20 }, Task::Batch { iterations: 9 }, Task::Check { rounds: 20 }];
            for task in tasks.into_iter().chain([Task::Separated { operations: 3 }]) {
                let block = crew.run(bodies, task, &abort);
                bodies = block.unwrap_or_else(|error| panic!("{op}: {name} of {participants}: {error}")).bodies;
            }
        }
    }

    #[test]
    fn every_barrier_is_one() {
        for (participants, wait) in [(2, Wait::Adaptive), (3, Wait::Adaptive), (5, Wait::Yield)] {
            conformance(Op::Barrier, participants, wait);
        }
    }

    #[test]
    fn every_rooted_operation_reaches_everybody() {
        for op in [Op::Broadcast, Op::Reduce] {
            for participants in [2, 3, 5] {
                conformance(op, participants, Wait::Adaptive);
            }
        }
    }

    #[test]
    fn every_allreduction_gives_all_the_sum() {
        for participants in [2, 5] {
            conformance(Op::Allreduce, participants, Wait::Adaptive);
        }
    }

    #[test]
    fn every_exchange_gives_all_what_is_theirs() {
        for op in Op::EXCHANGES {
            for (bytes, participants) in [(8, 2), (0, 2), (56, 2), (496, 3), (5000, 2)] {
                conformance_carrying(op, bytes, participants, Wait::Adaptive);
            }
        }
    }

    #[test]
    fn every_length_arrives_word_by_word() {
        for op in [Op::Broadcast, Op::Reduce, Op::Allreduce] {
            for (bytes, participants) in [(0, 3), (16, 2), (5000, 3), (300_000, 2)] {
                conformance_carrying(op, bytes, participants, Wait::Adaptive);
            }
        }
    }

    #[test]
    fn every_acknowledged_broadcast_is_one() {
        for participants in [2, 3, 6] {
            conformance(Op::Acknowledged, participants, Wait::Adaptive);
        }
    }
}
