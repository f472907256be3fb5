//! The calls of members: an operation and its root, as they stand in messages, words and errors.

use std::fmt;

/// An operation of a group, as an error names it. Started forms, and those with a limit, count as the plain ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CallKind {
    /// [`Member::barrier`](crate::Member::barrier).
    Barrier,
    /// [`Member::broadcast`](crate::Member::broadcast).
    Broadcast,
    /// [`Member::broadcast_slice`](crate::Member::broadcast_slice).
    BroadcastSlice,
    /// [`Member::reduce`](crate::Member::reduce), in the order of the
    /// plan or of arrivals.
    Reduce,
    /// A reduction in [`Order::Rank`](crate::Order::Rank).
    ReduceByRank,
    /// [`Member::reduce_slice`](crate::Member::reduce_slice).
    ReduceSlice,
    /// [`Member::reduce_records`](crate::Member::reduce_records), in the order of the plan or of arrivals.
    ReduceRecords,
    /// A reduction of records in [`Order::Rank`](crate::Order::Rank).
    ReduceRecordsByRank,
    /// [`Member::allreduce`](crate::Member::allreduce), in the order of the plan or of arrivals.
    Allreduce,
    /// An allreduction in [`Order::Rank`](crate::Order::Rank).
    AllreduceByRank,
    /// [`Member::allreduce_slice`](crate::Member::allreduce_slice).
    AllreduceSlice,
    /// [`Member::allreduce_records`](crate::Member::allreduce_records), in the order of the plan or of arrivals.
    AllreduceRecords,
    /// An allreduction of records in [`Order::Rank`](crate::Order::Rank).
    AllreduceRecordsByRank,
    /// [`Member::gather`](crate::Member::gather).
    Gather,
    /// [`Member::gather_slice`](crate::Member::gather_slice).
    GatherSlice,
    /// [`Member::scatter`](crate::Member::scatter).
    Scatter,
    /// [`Member::scatter_slice`](crate::Member::scatter_slice).
    ScatterSlice,
    /// [`Member::allgather`](crate::Member::allgather).
    Allgather,
    /// [`Member::allgather_slice`](crate::Member::allgather_slice).
    AllgatherSlice,
    /// [`Member::coordinator`](crate::Member::coordinator) at the root, [`participant`](crate::Member::participant) at the
    /// others.
    Commit,
    /// [`Member::atomic_stream`](crate::Member::atomic_stream).
    AtomicStream,
    /// [`Member::ack_root`](crate::Member::ack_root) at the root, [`ack_follower`](crate::Member::ack_follower) at the
    /// others.
    AcknowledgedBroadcast,
    /// [`Member::split`](crate::Member::split).
    Split,
    /// [`Member::race`](crate::Member::race).
    Race,
}

impl CallKind {
    /// By their codes, from 1.
    const ALL: [Self; 24] = [
        Self::Barrier,
        Self::Broadcast,
        Self::BroadcastSlice,
        Self::Reduce,
        Self::ReduceByRank,
        Self::ReduceSlice,
        Self::ReduceRecords,
        Self::ReduceRecordsByRank,
        Self::Allreduce,
        Self::AllreduceByRank,
        Self::AllreduceSlice,
        Self::AllreduceRecords,
        Self::AllreduceRecordsByRank,
        Self::Gather,
        Self::GatherSlice,
        Self::Scatter,
        Self::ScatterSlice,
        Self::Allgather,
        Self::AllgatherSlice,
        Self::Commit,
        Self::AtomicStream,
        Self::AcknowledgedBroadcast,
        Self::Split,
        Self::Race,
    ];

    const fn code(self) -> u64 {
        self as u64 + 1
    }
}

impl fmt::Display for CallKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::BroadcastSlice => "broadcast_slice",
            Self::Reduce => "reduce",
            Self::ReduceByRank => "reduce by rank",
            Self::ReduceSlice => "reduce_slice",
            Self::ReduceRecords => "reduce_records",
            Self::ReduceRecordsByRank => "reduce_records by rank",
            Self::Allreduce => "allreduce",
            Self::AllreduceByRank => "allreduce by rank",
            Self::AllreduceSlice => "allreduce_slice",
            Self::AllreduceRecords => "allreduce_records",
            Self::AllreduceRecordsByRank => "allreduce_records by rank",
            Self::Gather => "gather",
            Self::GatherSlice => "gather_slice",
            Self::Scatter => "scatter",
            Self::ScatterSlice => "scatter_slice",
            Self::Allgather => "allgather",
            Self::AllgatherSlice => "allgather_slice",
            Self::Commit => "two-phase commit",
            Self::AtomicStream => "atomic_stream",
            Self::AcknowledgedBroadcast => "acknowledged broadcast",
            Self::Split => "split",
            Self::Race => "race",
        })
    }
}

/// An operation and its root: what all members of a group have to call alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Call {
    /// The operation.
    pub operation: CallKind,
    /// The member to which or from which values travel; `None` for operations that have no such member.
    pub root: Option<usize>,
}

const CODE_BITS: u32 = 5;
/// Those of one more than the root, or of 0.
const ROOT_BITS: u32 = 13;
const _: () = assert!(CallKind::ALL.len() < 1 << CODE_BITS && crate::MAX_MEMBERS < 1 << ROOT_BITS);

impl Call {
    /// The bits of a call in a word.
    pub(crate) const BITS: u32 = CODE_BITS + ROOT_BITS;

    pub(crate) const fn of(operation: CallKind) -> Self {
        Self { operation, root: None }
    }

    pub(crate) const fn rooted(operation: CallKind, root: usize) -> Self {
        Self { operation, root: Some(root) }
    }

    /// As a word of [`BITS`](Self::BITS) bits, the operation in the lowest of them; never 0.
    #[inline(always)]
    pub(crate) const fn word(self) -> u64 {
        let root = match self.root {
            Some(root) => root as u64 + 1,
            None => 0,
        };
        self.operation.code() | root << CODE_BITS
    }

    /// The call in a word that any process may have written; `None` if no member of a group of `members` writes it.
    pub(crate) fn of_word(word: u64, members: usize) -> Option<Self> {
        let code = (word & ((1 << CODE_BITS) - 1)) as usize;
        let operation = *CallKind::ALL.get(code.checked_sub(1)?)?;
        let root = (word >> CODE_BITS) as usize;
        (root <= members).then(|| Self { operation, root: root.checked_sub(1) })
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.root {
            Some(root) => write!(f, "{} with root {root}", self.operation),
            None => self.operation.fmt(f),
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn words_come_back_and_others_are_refused() {
        for (place, operation) in CallKind::ALL.into_iter().enumerate() {
            assert_eq!(operation.code() as usize, place + 1, "{operation}");
            for call in [Call::of(operation), Call::rooted(operation, 0), Call::rooted(operation, 4095)] {
                assert!(call.word() < 1 << Call::BITS);
                assert_eq!(Call::of_word(call.word(), 4096), Some(call));
            }
            assert_eq!(Call::of_word(Call::rooted(operation, 3).word(), 3), None, "no such root");
        }
        let unknown = CallKind::ALL.len() as u64 + 1;
        assert_eq!([0, unknown, 31].map(|code| Call::of_word(code, 4096)), [None; 3]);
    }

    #[test]
    fn calls_are_told_with_their_roots() {
        assert_eq!(Call::rooted(CallKind::Broadcast, 3).to_string(), "broadcast with root 3");
        assert_eq!(Call::of(CallKind::AllreduceSlice).to_string(), "allreduce_slice");
    }
}
