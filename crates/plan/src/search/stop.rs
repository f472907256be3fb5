//! How a search learns that it should stop early.

/// True if the search should stop. Called from time to time, from many threads.
pub(crate) type Stop<'a> = &'a (dyn Fn() -> bool + Sync);
