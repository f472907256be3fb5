//! The count of commands that a replica has applied, as its readers see it.

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};

use crate::Index;

/// The count of applied commands, published behind the state. Written by the thread that has the driver, read by readers.
#[derive(Debug)]
pub struct AppliedCount(CacheLine<AtomicU64>);

impl AppliedCount {
    /// Of a replica that has applied this many.
    #[must_use]
    pub fn new(count: Index) -> Self {
        Self(CacheLine::new(AtomicU64::new(count)))
    }

    /// The count: the state that a reader finds then shows as many at least.
    #[inline]
    #[must_use]
    pub fn get(&self) -> Index {
        // ORDERING: Acquire, pairs with the Release in publish [applied]
        self.0.load(Ordering::Acquire)
    }

    /// Publishes the count.
    #[inline]
    pub fn publish(&self, count: Index) {
        // ORDERING: Release, pairs with the Acquire in get: the state is there, behind its lock [applied]
        self.0.store(count, Ordering::Release);
    }
}
