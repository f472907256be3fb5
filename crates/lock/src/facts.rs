//! What users are told of a lock before they choose it.

use std::fmt;

/// The properties of a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Facts {
    /// The name by which users choose it.
    pub name: &'static str,
    /// What it is, in one line.
    pub about: &'static str,
    /// Who comes next.
    pub order: Order,
    /// What an acquisition brings along.
    pub node: NodeKind,
    /// True if a thread that has waited for long sleeps. The others give up their CPU again and again.
    pub parks: bool,
    /// Who described it, and when.
    pub source: &'static str,
}

/// Who takes a lock next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Who comes first.
    Fifo,
    /// Who comes first in the domain of the last holder, for so many times in turn, or as many as had come together; then who
    /// comes first in another one.
    Bounded,
    /// Everybody who waits, in rounds.
    Rounds,
    /// Whoever finds it free, also before those who wait.
    Barging,
    /// Of readers and writers: who writes, also before readers that wait.
    WritersFirst,
    /// Readers and writers in turns.
    Phases,
}

/// What an acquisition brings along.
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

impl fmt::Display for Order {
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
