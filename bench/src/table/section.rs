//! The end of a critical section: a full fence as in the experiment of the paper, or nothing.

use corecast::base::sync::{Ordering, fence};

/// How the critical sections of a run end, of every contender that has one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Section {
    /// Whether it ends by the fence of the original.
    pub(super) is_fenced: bool,
}

impl Section {
    #[inline(always)]
    pub(super) fn end(self) {
        if self.is_fenced {
            // ORDERING: SeqCst, pairs with itself in other threads; no outcome is forbidden by it that matters here, as it stands
            // for what the original's critical section costs [section-end]
            fence(Ordering::SeqCst);
        }
    }

    /// Ends it with a result.
    #[inline(always)]
    pub(super) fn ending<R>(self, result: R) -> R {
        self.end();
        result
    }
}
