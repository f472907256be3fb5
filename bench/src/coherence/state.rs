//! The state that a line is in before it is touched, and how it gets there.
//!
//! States are named after MOESI. What a protocol without the Owned state makes of a line that was written and then read
//! elsewhere is measured under that name all the same: the preparation is the same.

use super::instruction::FLUSHES;
use super::operation::Operation;

/// The state of a line, seen from whoever is measured.
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
    Same,
}

/// Who takes a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// The first participant.
    First,
    /// The second one.
    Second,
    /// All from the third on, at once.
    Sharers,
}

/// What a step of the preparation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// This operation.
    Perform(Operation),
    /// The operation that is measured afterwards.
    Same,
    /// Puts the line out of all caches.
    Flush,
}

/// How a line gets into its state, beginning with one that is in no cache where lines can be flushed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recipe {
    /// One after the other; all have seen the end of one before the next begins.
    pub(super) steps: &'static [(Role, Doing)],
    /// Who is measured then.
    pub(super) measured: Role,
}

const LOAD: Doing = Doing::Perform(Operation::Load);
const STORE: Doing = Doing::Perform(Operation::Store);

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
            Self::Invalid => (&[(Second, Doing::Flush)], First),
            Self::Same => (&[(First, Doing::Same)], Second),
        };
        Recipe { steps, measured }
    }

    /// Whether it takes participants beyond two.
    pub(super) fn has_sharers(self) -> bool {
        self.recipe().steps.iter().any(|&(role, _)| role == Role::Sharers)
    }

    /// Why no line can be put into this state here, if that is so: one that begins with a load, or with a flush, needs lines
    /// in no cache.
    pub(super) fn impossible(self) -> Option<&'static str> {
        let is_clean = matches!(self.recipe().steps[0].1, LOAD | Doing::Flush);
        let words = "needs an instruction that flushes a line, which is known here for x86-64 only";
        (is_clean && !FLUSHES).then_some(words)
    }
}
