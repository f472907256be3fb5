//! The facts about a lock that users choose it by.

use std::fmt;

/// The properties of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The name by which users choose it.
    pub name: &'static str,
    /// A description in one line.
    pub about: &'static str,
    /// The order in which threads get the lock.
    pub order: AcquisitionOrder,
    /// The storage that an acquisition brings along.
    pub node: NodeKind,
    /// True if a thread that has waited for long sleeps. The others give up their CPU again and again.
    pub parks: bool,
    /// The publication that described it, and its year.
    pub source: &'static str,
}

/// The order in which threads get a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum AcquisitionOrder {
    /// First in, first out.
    Fifo,
    /// First in, first out in the domain of the last holder, for a number of turns or for all that came together; then the
    /// first in another domain.
    Bounded,
    /// All waiters, in rounds.
    Rounds,
    /// Any thread that finds the lock free, also before waiters.
    Barging,
    /// Writers first, also before readers that wait.
    WritersFirst,
    /// Readers and writers in turns.
    Phases,
}

/// The storage that an acquisition brings along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NodeKind {
    /// Nothing.
    Nothing,
    /// A few bytes that nobody else looks at.
    Value,
    /// A line in the frame of the caller, which others write to.
    Stack,
    /// A line that goes round among the threads.
    Pooled,
}

impl fmt::Display for AcquisitionOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fifo => "fifo",
            Self::Bounded => "bounded",
            Self::Rounds => "rounds",
            Self::Barging => "barging",
            Self::WritersFirst => "writers first",
            Self::Phases => "phases",
        })
    }
}

impl fmt::Display for NodeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Value => "value",
            Self::Stack => "stack",
            Self::Pooled => "pooled",
        })
    }
}
