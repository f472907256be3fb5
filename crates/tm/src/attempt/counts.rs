//! What a participant counts.

/// What a participant has counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// Transactions that committed.
    pub commits: u64,
    /// Attempts that were aborted, by the conflict.
    pub raw: u64,
    /// Aborted as another one read what this one wrote.
    pub war: u64,
    /// Aborted as two wrote.
    pub waw: u64,
    /// Requests that were told to ask again.
    pub retries: u64,
    /// Locks that were asked for, a batch counting as one: the blocking round trips of the form of messages.
    pub requests: u64,
}

impl Counts {
    /// Attempts that were aborted.
    #[must_use]
    pub fn aborts(&self) -> u64 {
        self.raw + self.war + self.waw
    }
}
