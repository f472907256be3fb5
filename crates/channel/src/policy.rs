//! The reader policies of a multicast channel. A region error and a view of a channel name them too.

use std::time::Duration;

/// The treatment of a reader that falls behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Policy {
    /// The sender waits, however long it takes. The reader reads messages in place.
    #[default]
    Reliable,
    /// The sender waits for this long, then goes on without the reader, and the reader is told how many messages it missed.
    Deadline(Duration),
    /// The sender does not wait, and the reader is told how many messages it missed.
    Lossy,
}
