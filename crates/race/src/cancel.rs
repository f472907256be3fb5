//! The flag by which a user stops a run (Ctrl-C).

use std::sync::Arc;

use corecast::base::sync::{AtomicBool, Ordering};

/// Stops a run between two of its blocks, that is within some milliseconds. All clones are one flag.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A flag that is not set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the run to stop. May be called from a signal handler.
    pub fn cancel(&self) {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.0.store(true, Ordering::Relaxed);
    }

    /// True once somebody asked.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.0.load(Ordering::Relaxed)
    }
}
