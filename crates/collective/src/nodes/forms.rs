//! The forms of operations between nodes, and those that a group takes for each size class.

use std::fmt;
use std::str::FromStr;

use corecast_plan::cluster::groups_can_halve;

use super::engine::ValueKind;
use super::exchange::CHUNK_BYTES;
use crate::op::PredefinedOp;

/// A kind of values and an operation on them that engines know, and that gives the same bits in any order.
pub(super) type Known = (ValueKind, PredefinedOp);

/// A way of values between nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FarForm {
    /// The engine's own operation, of one kind for all nodes: only for numbers, and operations that give the same bits in any
    /// order.
    Engine,
    /// Messages along a binomial tree.
    Tree,
    /// Messages by recursive doubling; of allreductions only.
    Doubling,
    /// Messages by recursive halving, for long values of four nodes or more; of allreductions only.
    Halving,
}

impl FarForm {
    pub(super) const ALL: [Self; 4] = [Self::Engine, Self::Tree, Self::Doubling, Self::Halving];

    /// True if halving sends fewer bytes than doubling: among four nodes or more. Values of the short classes are left to
    /// doubling, which takes half as many rounds.
    pub(super) fn can_halve(nodes: usize, class: usize) -> bool {
        groups_can_halve(nodes as u64, BYTES[class] as u64)
    }
}

impl fmt::Display for FarForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Engine => "engine",
            Self::Tree => "tree",
            Self::Doubling => "doubling",
            Self::Halving => "halving",
        })
    }
}

impl FromStr for FarForm {
    type Err = ();

    fn from_str(name: &str) -> Result<Self, ()> {
        Self::ALL.into_iter().find(|form| form.to_string() == name).ok_or(())
    }
}

/// The most bytes of each size class.
pub(super) const CLASSES: [usize; 4] = [64, 4 << 10, CHUNK_BYTES, usize::MAX];

/// The bytes that stand for each class.
pub(super) const BYTES: [usize; CLASSES.len()] = [8, 1 << 10, 32 << 10, 1 << 20];

/// The size class of this number of bytes.
pub(super) fn class(bytes: usize) -> usize {
    CLASSES.iter().position(|&most| bytes <= most).expect("the last class has no end")
}

/// The forms that a group takes, by size class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Forms {
    /// Of allreductions that the engine could do.
    pub(super) known: [FarForm; CLASSES.len()],
    /// Of all others.
    pub(super) allreduce: [FarForm; CLASSES.len()],
    pub(super) broadcast: [FarForm; CLASSES.len()],
}

impl Forms {
    /// Those of a group that has not raced. Recursive doubling takes the fewest rounds, and halving sends the fewest bytes. 1 MiB
    /// on two CPUs, one member on each host, plain Open MPI's time divided by that of doubling and of halving: 1.6 and 1.3 on
    /// three hosts, 0.9 and 1.1 on four.
    pub(super) fn of_nodes(nodes: usize) -> Self {
        let longest = class(usize::MAX);
        let mut allreduce = [FarForm::Doubling; CLASSES.len()];
        if FarForm::can_halve(nodes, longest) {
            allreduce[longest] = FarForm::Halving;
        }
        Self { known: allreduce, allreduce, broadcast: [FarForm::Tree; CLASSES.len()] }
    }
}
