//! The collectives that can be planned.

use std::fmt;
use std::str::FromStr;

use crate::problem::Problem;
use crate::simulate;
use crate::tree::Tree;

/// A collective operation.
///
/// ```
/// use corecast_plan::Operation;
/// assert_eq!("two-phase-commit".parse(), Ok(Operation::TwoPhaseCommit));
/// assert!("scatter".parse::<Operation>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// The root's message reaches every member.
    Broadcast,
    /// The root gets every member's value, combined on the way.
    Reduce,
    /// No member leaves before all have arrived: a reduction and a broadcast.
    Barrier,
    /// Every member gets every member's value, combined: a reduction and a broadcast.
    Allreduce,
    /// Proposal, votes and decision: a broadcast, a reduction and a broadcast.
    TwoPhaseCommit,
}

/// The direction of one phase: that of a [`Schedule`](crate::Schedule).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the root to all: a broadcast.
    Down,
    /// From all to the root: a reduction.
    Up,
}

/// A text that does not name an [`Operation`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{name}' is not an operation; expected broadcast, reduce, barrier, allreduce or two-phase-commit")]
pub struct UnknownOperation {
    /// The text.
    pub name: String,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 5] = [Self::Broadcast, Self::Reduce, Self::Barrier, Self::Allreduce, Self::TwoPhaseCommit];

    /// The name that users type.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Barrier => "barrier",
            Self::Allreduce => "allreduce",
            Self::TwoPhaseCommit => "two-phase-commit",
        }
    }

    /// Its cost over one tree by the machine model, in the problem's unit.
    ///
    /// # Panics
    ///
    /// If the tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn cost(self, problem: &Problem, tree: &Tree) -> f64 {
        self.cost_of_two(problem, tree, tree)
    }

    /// Its cost if reductions go up one tree and broadcasts down another; an operation that has only one of the
    /// two looks at that tree only.
    ///
    /// # Panics
    ///
    /// If a tree has not as many members as the problem, or an operation that needs both gets two roots.
    #[must_use]
    #[track_caller]
    pub fn cost_of_two(self, problem: &Problem, up: &Tree, down: &Tree) -> f64 {
        match self {
            Self::Broadcast => simulate::broadcast(problem, down),
            Self::Reduce => simulate::reduction(problem, up),
            Self::Barrier => simulate::barrier(problem, up, down),
            Self::Allreduce => simulate::allreduce(problem, up, down),
            Self::TwoPhaseCommit => simulate::two_phase_commit(problem, up, down),
        }
    }

    /// True if it has both a reduction and a broadcast, and so may use two trees.
    #[must_use]
    pub fn has_both_phases(self) -> bool {
        !matches!(self, Self::Broadcast | Self::Reduce)
    }

    /// Its passes over the tree, in order.
    pub(crate) fn phases(self) -> &'static [Direction] {
        match self {
            Self::Broadcast => &[Direction::Down],
            Self::Reduce => &[Direction::Up],
            Self::Barrier | Self::Allreduce => &[Direction::Up, Direction::Down],
            Self::TwoPhaseCommit => &[Direction::Down, Direction::Up, Direction::Down],
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Operation {
    type Err = UnknownOperation;

    fn from_str(name: &str) -> Result<Self, UnknownOperation> {
        let known = Self::ALL.into_iter().find(|operation| operation.name() == name);
        known.ok_or_else(|| UnknownOperation { name: name.to_owned() })
    }
}
