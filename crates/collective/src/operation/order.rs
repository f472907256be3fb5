//! The order in which a reduction combines.

use crate::call::{Call, CallKind};

/// The order in which values are combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// As the plan says: the same plan gives the same bits. The operation must be associative and commutative, up to
    /// rounding.
    #[default]
    Plan,
    /// As values arrive: never waits for a late child while the value of another one is there. The operation must be
    /// associative and commutative; results of floating-point sums may differ from call to call.
    Arrival,
    /// By rank, in one fixed bracketing: every plan gives the same bits, and the operation only has to be associative. All
    /// values travel to the root, which combines them alone; members allocate room for the values that pass through them.
    Rank,
}

impl Order {
    /// The call of a reduction to `root` in this order. The orders of the plan and of arrivals use the same messages.
    pub(crate) fn reduce(self, root: usize) -> Call {
        Call::rooted(self.either(CallKind::Reduce, CallKind::ReduceByRank), root)
    }

    pub(crate) fn allreduce(self) -> Call {
        Call::of(self.either(CallKind::Allreduce, CallKind::AllreduceByRank))
    }

    pub(crate) fn reduce_records(self, root: usize) -> Call {
        Call::rooted(self.either(CallKind::ReduceRecords, CallKind::ReduceRecordsByRank), root)
    }

    pub(crate) fn allreduce_records(self) -> Call {
        Call::of(self.either(CallKind::AllreduceRecords, CallKind::AllreduceRecordsByRank))
    }

    fn either(self, in_place: CallKind, by_rank: CallKind) -> CallKind {
        match self {
            Self::Plan | Self::Arrival => in_place,
            Self::Rank => by_rank,
        }
    }
}
