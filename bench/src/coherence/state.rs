//! The states of a line before it is accessed, and how participants bring it there.
//!
//! States are named after MOESI. A protocol without the Owned state leaves a line that was written and then read
//! elsewhere in another state, which is measured under that name all the same: the preparation is the same.

use corecast::base::sync::AtomicU64;

use super::instruction;
use super::operation::Operation;

/// The state of a line, seen from the participant that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Modified,
    Exclusive,
    Shared,
    SharedElsewhere,
    OwnedHere,
    OwnedThere,
    OwnedElsewhere,
    Invalid,
    Prefetched,
    Demoted,
    WrittenBack,
    SharedPrefetched,
    SharedDemoted,
    SharedWrittenBack,
    OwnedHereByMany,
    OwnedThereByMany,
    Same,
}

/// The participant that takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The first participant.
    First,
    /// The second one.
    Second,
    /// All from the third on, at once.
    Sharers,
}

/// The action of a step of the preparation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// This operation.
    Perform(Operation),
    /// The operation that is measured afterwards.
    Same,
    /// Moves the line without changing it.
    Move(Move),
}

/// An instruction that moves a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Move {
    /// Out of all caches.
    Flush,
    /// To a CPU that means to write.
    PrefetchForWrite,
    /// Towards the caches that others share.
    Demote,
    /// To memory as well.
    WriteBack,
}

/// How a line gets into its state, beginning with one that is in no cache where lines can be flushed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// One after the other; all have seen the end of one before the next begins.
    pub(super) steps: &'static [(Role, Doing)],
    /// The participant that is measured then.
    pub(super) measured: Role,
}

const LOAD: Doing = Doing::Perform(Operation::Load);
const STORE: Doing = Doing::Perform(Operation::Store);

impl Move {
    /// Does it.
    #[inline(always)]
    pub(super) fn take(self, word: &AtomicU64) {
        match self {
            Self::Flush => instruction::flush(word),
            Self::PrefetchForWrite => instruction::prefetch_for_write(word),
            Self::Demote => instruction::demote(word),
            Self::WriteBack => instruction::write_back(word),
        }
    }

    /// The feature that it needs, if that is missing here.
    fn lacks(self) -> Option<&'static str> {
        let (is_here, words) = match self {
            Self::Flush => {
                (instruction::FLUSHES, "needs an instruction that flushes a line, which is known here for x86-64 only")
            }
            Self::PrefetchForWrite => (instruction::knows_prefetch_for_write(), "needs a core that knows PREFETCHW"),
            Self::Demote => (instruction::knows_demote(), "needs a core that knows CLDEMOTE"),
            Self::WriteBack => (instruction::knows_write_back(), "needs a core that knows CLWB"),
        };
        (!is_here).then_some(words)
    }
}

impl Role {
    /// Whether the participant of this rank has it.
    pub(super) fn is_of(self, rank: usize) -> bool {
        match self {
            Self::First => rank == 0,
            Self::Second => rank == 1,
            Self::Sharers => rank >= 2,
        }
    }
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Modified => "modified",
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
            Self::SharedElsewhere => "shared-elsewhere",
            Self::OwnedHere => "owned-here",
            Self::OwnedThere => "owned-there",
            Self::OwnedElsewhere => "owned-elsewhere",
            Self::Invalid => "invalid",
            Self::Prefetched => "prefetched",
            Self::Demoted => "demoted",
            Self::WrittenBack => "written-back",
            Self::SharedPrefetched => "shared-prefetched",
            Self::SharedDemoted => "shared-demoted",
            Self::SharedWrittenBack => "shared-written-back",
            Self::OwnedHereByMany => "owned-here-by-many",
            Self::OwnedThereByMany => "owned-there-by-many",
            Self::Same => "same",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::Modified => "written by the other",
            Self::Exclusive => "read by the other alone",
            Self::Shared => "read by the other, then here",
            Self::SharedElsewhere => "read by the other, then by further ones, not here",
            Self::OwnedHere => "written here, then read by the other (Owned where the protocol has that)",
            Self::OwnedThere => "written by the other, then read here (Owned there where the protocol has that)",
            Self::OwnedElsewhere => "written by the other, then read by further ones, not here",
            Self::Invalid => "flushed by the other: in memory only",
            Self::Prefetched => "written by the other, then prefetched here for writing (PREFETCHW)",
            Self::Demoted => "written by the other, which then demotes it (CLDEMOTE)",
            Self::WrittenBack => "written by the other, which then writes it back (CLWB)",
            Self::SharedPrefetched => "read by the other, then here, then prefetched here for writing (PREFETCHW)",
            Self::SharedDemoted => "read by the other, then here, then demoted by the other (CLDEMOTE)",
            Self::SharedWrittenBack => "read by the other, then here, then written back by the other (CLWB)",
            Self::OwnedHereByMany => "written here, then read by the other and further ones",
            Self::OwnedThereByMany => "written by the other, then read here and by further ones",
            Self::Same => "left by the other's same operation; a compare and swap fails here",
        }
    }

    pub(super) fn recipe(self) -> Recipe {
        use Role::{First, Second, Sharers};
        let (steps, measured): (&'static [(Role, Doing)], Role) = match self {
            Self::Modified => (&[(First, STORE)], Second),
            Self::Exclusive => (&[(First, LOAD)], Second),
            Self::Shared => (&[(First, LOAD), (Second, LOAD)], Second),
            Self::SharedElsewhere => (&[(First, LOAD), (Sharers, LOAD)], Second),
            Self::OwnedHere => (&[(Second, STORE), (First, LOAD)], Second),
            Self::OwnedThere => (&[(First, STORE), (Second, LOAD)], Second),
            Self::OwnedElsewhere => (&[(First, STORE), (Sharers, LOAD)], Second),
            Self::Invalid => (&[(Second, Doing::Move(Move::Flush))], First),
            Self::Prefetched => (&[(First, STORE), (Second, Doing::Move(Move::PrefetchForWrite))], Second),
            Self::Demoted => (&[(First, STORE), (First, Doing::Move(Move::Demote))], Second),
            Self::WrittenBack => (&[(First, STORE), (First, Doing::Move(Move::WriteBack))], Second),
            Self::SharedPrefetched => {
                (&[(First, LOAD), (Second, LOAD), (Second, Doing::Move(Move::PrefetchForWrite))], Second)
            }
            Self::SharedDemoted => (&[(First, LOAD), (Second, LOAD), (First, Doing::Move(Move::Demote))], Second),
            Self::SharedWrittenBack => {
                (&[(First, LOAD), (Second, LOAD), (First, Doing::Move(Move::WriteBack))], Second)
            }
            Self::OwnedHereByMany => (&[(Second, STORE), (First, LOAD), (Sharers, LOAD)], Second),
            Self::OwnedThereByMany => (&[(First, STORE), (Second, LOAD), (Sharers, LOAD)], Second),
            Self::Same => (&[(First, Doing::Same)], Second),
        };
        Recipe { steps, measured }
    }

    /// Whether it takes participants beyond two.
    pub(super) fn has_sharers(self) -> bool {
        self.recipe().steps.iter().any(|&(role, _)| role == Role::Sharers)
    }

    /// Why no line can be put into this state here, if that is so. One that begins with a load needs lines in no cache.
    pub(super) fn impossible(self) -> Option<&'static str> {
        let mut steps = self.recipe().steps.iter().enumerate();
        steps.find_map(|(number, &(_, doing))| match doing {
            Doing::Move(how) => how.lacks(),
            LOAD if number == 0 => Move::Flush.lacks(),
            Doing::Perform(_) | Doing::Same => None,
        })
    }
}
