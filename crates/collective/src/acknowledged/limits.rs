//! The largest window and the largest event of an acknowledged broadcast.

/// The widest window.
pub const MAX_WINDOW: usize = 4096;
/// The largest event.
pub const MAX_EVENT_BYTES: usize = 4096;
