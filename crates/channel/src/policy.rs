//! The reader policies of a multicast channel. A region error and a view of a channel name them too.

use std::time::Duration;

/// What a reader wants when it falls behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// The sender waits, however long. The reader looks at messages where they lie.
    #[default]
    Reliable,
    /// The sender waits for so long, then goes on without it, and the reader is told how many messages it missed.
    Deadline(Duration),
    /// The sender does not wait, and the reader is told how many messages it missed.
    Lossy,
}
