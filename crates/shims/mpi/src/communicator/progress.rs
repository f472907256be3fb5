//! The library's pending messages while a member waits.
//!
//! MPI promises that a message goes on while its sender is in any MPI call. The library knows nothing of ours, so the member
//! gives it a turn: a long message may be on its way to the very rank that is missing.

use std::time::Duration;

use crate::library::{Handle, Library};

/// The time between two turns: some hundred polls, so that a turn, a fraction of a microsecond, costs a few percent of a wait.
const BETWEEN: Duration = Duration::from_micros(10);
/// The longest sleep between two turns.
const NAP: Duration = Duration::from_millis(1);

/// Gives the library its turns during the waits of one member.
pub(super) struct Progress {
    library: &'static Library,
    comm: Handle,
    /// The time of the last turn within the wait.
    last: Duration,
}

impl Progress {
    pub(super) fn new(library: &'static Library, comm: Handle) -> Self {
        Self { library, comm, last: Duration::ZERO }
    }

    /// To be called by the member with the time waited; returns the longest time it may sleep.
    pub(super) fn turn(&mut self, waited: Duration) -> Duration {
        if waited < self.last {
            self.last = Duration::ZERO;
        }
        if waited - self.last >= BETWEEN {
            self.last = waited;
            self.library.progress(self.comm);
        }
        NAP
    }
}
