//! The errors of adding an end to a channel.

/// The channel has as many ends of one kind as it was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the channel takes {max} {ends} at a time, and has all of them")]
pub struct TooManyEnds {
    /// The kind of ends: "senders" or "readers".
    pub ends: &'static str,
    /// The number that the channel was made for.
    pub max: usize,
}

/// The reason why a channel of bytes gets no further sender or reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddEndError {
    /// The channel has all ends of this kind.
    #[error(transparent)]
    TooMany(#[from] TooManyEnds),
    /// This process is a forked child of the one that opened the channel.
    #[error("the channel was opened before fork: a child has to attach anew")]
    Forked,
}
