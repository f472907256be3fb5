//! Messages: linearizable reads of a node, each of which waits for a barrier in the log that was asked for after it began.

use corecast_base::sync::{AtomicU64, Ordering};

/// The reads of a node, as its threads share them: counts only.
#[derive(Debug, Default)]
pub struct Reads {
    /// The number of reads that have begun. Raised by readers.
    begun: AtomicU64,
    /// The number of those that a barrier has served. Raised by the thread that has the driver.
    served: AtomicU64,
}

impl Reads {
    /// A read begins; its number.
    #[must_use]
    pub fn begin(&self) -> u64 {
        // ORDERING: Release, pairs with the Acquire in begun: the barrier is asked for after the read began; what its thread
        // has seen before is decided by then [read-begun]
        self.begun.fetch_add(1, Ordering::Release) + 1
    }

    /// The number of reads that have begun.
    #[must_use]
    pub fn begun(&self) -> u64 {
        // ORDERING: Acquire, pairs with the Release in begin [read-begun]
        self.begun.load(Ordering::Acquire)
    }

    /// True if the read with this number may look at the state.
    #[must_use]
    pub fn is_served(&self, number: u64) -> bool {
        // ORDERING: Acquire, pairs with the Release in serve [read-served]
        self.served.load(Ordering::Acquire) >= number
    }

    /// True if a read waits.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        !self.is_served(self.begun())
    }

    /// The reads up to this number may look at the state.
    pub fn serve(&self, number: u64) {
        // ORDERING: Release, pairs with the Acquire in is_served: what the barrier ordered is applied [read-served]
        self.served.store(number, Ordering::Release);
    }
}
