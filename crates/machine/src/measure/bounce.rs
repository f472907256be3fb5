//! The hand-over of one bare line: the unit that other costs are compared with.
//!
//! One thread writes the next number into a line, the other waits for it and answers with the one after it. Half a
//! round trip is one hand-over: the reader's miss, and the writer's wait for the right to write.

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};

use super::gauge::Gauge;
use super::halt::{Halt, Halted};

/// The line that is handed back and forth. Both sides write it in turn: the leader writes the odd numbers.
#[derive(Debug, Default)]
pub(super) struct BounceLine(CacheLine<AtomicU64>);

impl BounceLine {
    /// The leader's part of `trips` round trips, batch number `batch` (from 0); the cost of one way in nanoseconds.
    pub(super) fn lead(&self, batch: u64, trips: u64, gauge: &Gauge, halt: &Halt) -> Result<f64, Halted> {
        let first = 2 * batch * trips;
        let start = gauge.ticks();
        for trip in 0..trips {
            self.write(first + 2 * trip + 1);
            self.wait_for(first + 2 * trip + 2, halt)?;
        }
        Ok(gauge.ns_since(start) / (2 * trips) as f64)
    }

    /// The other side's part.
    pub(super) fn follow(&self, batch: u64, trips: u64, halt: &Halt) -> Result<(), Halted> {
        let first = 2 * batch * trips;
        for trip in 0..trips {
            self.wait_for(first + 2 * trip + 1, halt)?;
            self.write(first + 2 * trip + 2);
        }
        Ok(())
    }

    #[inline(always)]
    fn write(&self, number: u64) {
        // ORDERING: Release, pairs with the Acquire in wait_for, as in a channel that would hand over data [bounce]
        self.0.store(number, Ordering::Release);
    }

    #[inline(always)]
    fn wait_for(&self, number: u64, halt: &Halt) -> Result<(), Halted> {
        // ORDERING: Acquire, pairs with the Release in write [bounce]
        halt.until(|| (self.0.load(Ordering::Acquire) == number).then_some(()))
    }
}
