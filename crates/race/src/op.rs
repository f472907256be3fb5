//! The operations that are raced.

use std::fmt;
use std::str::FromStr;

use crate::message::Message;
use serde::{Serialize, Serializer};

/// One operation; every group of a race's report races one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Op {
    /// Nobody goes on before all have arrived.
    Barrier,
    /// 56 bytes, or as many as asked for, from the root to all.
    Broadcast,
    /// The sum of one `u64` of each, or of as many as asked for one by one, at the root.
    Reduce,
    /// The same, at all.
    Allreduce,
    /// 8 bytes of each, or as many as asked for, at the root.
    Gather,
    /// 8 bytes to each, or as many as asked for, from the root.
    Scatter,
    /// A proposal of 8 bytes, or as many as asked for, of the root, which all vote on, until all know the decision.
    Commit,
    /// An event of 8 bytes, or as many as asked for, of each member, until all have delivered all of them in one order.
    AtomicStream,
    /// A burst of events of 8 bytes from rank 0 to all others, until it knows that all have processed them.
    Acknowledged,
    /// One message of 56 bytes from one CPU to another: half of a round trip.
    OneWay,
    /// Messages of 56 bytes one after the other from one CPU to another: what each of them takes.
    Stream,
    /// Words of 8 bytes one after the other from one CPU to another: what each of them takes.
    Words,
    /// Messages of 56 bytes one after the other through one of 64 channels, all of which the receiver looks at: what each
    /// of them takes.
    Select,
    /// One receiver waits for a message that is long in coming. It is not raced: what counts is the CPU time of the wait.
    Idle,
}

impl Op {
    /// All operations, those of groups first.
    pub const ALL: [Self; 14] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Gather,
        Self::Scatter,
        Self::Commit,
        Self::AtomicStream,
        Self::Acknowledged,
        Self::OneWay,
        Self::Stream,
        Self::Words,
        Self::Select,
        Self::Idle,
    ];

    /// The operations of a group of any size.
    pub const COLLECTIVES: [Self; 8] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Gather,
        Self::Scatter,
        Self::Commit,
        Self::AtomicStream,
    ];

    /// Those of them in which members tell each other what differs from member to member, or agree on it.
    pub const EXCHANGES: [Self; 4] = [Self::Gather, Self::Scatter, Self::Commit, Self::AtomicStream];

    /// Those that are raced where none is named.
    pub const USUAL: [Self; 4] = [Self::Barrier, Self::Broadcast, Self::Reduce, Self::Allreduce];

    /// The operation's name in reports and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::Commit => "commit",
            Self::AtomicStream => "atomic_stream",
            Self::Acknowledged => "acknowledged",
            Self::OneWay => "one_way",
            Self::Stream => "stream",
            Self::Words => "words",
            Self::Select => "select",
            Self::Idle => "idle",
        }
    }

    /// True if one member may be a whole operation ahead of another, so that operations back to back would overlap.
    #[must_use]
    pub fn is_rooted(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter)
    }

    /// True if only the root gets what comes of it.
    #[must_use]
    pub fn ends_at_root(self) -> bool {
        matches!(self, Self::Reduce | Self::Gather)
    }

    /// True if it can be timed by one message of one member in turn: from the root's begin to that member's echo, or, if it
    /// ends at the root, from the message by which the root tells that member to begin.
    #[must_use]
    pub fn can_echo(self) -> bool {
        matches!(self, Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter | Self::Commit)
    }

    /// True if a sender need not wait for its receiver.
    pub fn is_stream(self) -> bool {
        matches!(self, Self::Stream | Self::Words | Self::Select)
    }

    /// The length in bytes of what every participant brings, or gets, unless another is asked for.
    #[must_use]
    pub fn bytes(self) -> usize {
        match self {
            Self::Barrier => 0,
            Self::Reduce
            | Self::Allreduce
            | Self::Gather
            | Self::Scatter
            | Self::Commit
            | Self::AtomicStream
            | Self::Acknowledged
            | Self::Words => size_of::<u64>(),
            Self::Broadcast | Self::OneWay | Self::Stream | Self::Select | Self::Idle => size_of::<Message>(),
        }
    }

    /// True if this is the number of bytes that participants bring, or get, unless another length is asked for.
    pub fn is_usual(self, bytes: usize) -> bool {
        bytes == self.bytes()
    }

    /// How many operations one iteration of a contender's loop performs, one after the other.
    pub fn per_iteration(self) -> f64 {
        if self == Self::OneWay { 2.0 } else { 1.0 }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Op {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A text that names no [`Op`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown operation '{0}': expected barrier, broadcast, reduce, allreduce, gather, scatter, commit, atomic_stream, \
     acknowledged, one_way, stream, words, select or idle"
)]
pub struct UnknownOp(String);

impl FromStr for Op {
    type Err = UnknownOp;

    fn from_str(name: &str) -> Result<Self, UnknownOp> {
        Self::ALL.into_iter().find(|op| op.name() == name).ok_or_else(|| UnknownOp(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for op in Op::ALL {
            assert_eq!(op.name().parse(), Ok(op));
        }
        assert!("barriers".parse::<Op>().is_err());
    }
}
