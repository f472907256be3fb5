//! The accesses of a thread that are under way: a CPU begins loads and read-modify-writes while earlier ones have not come.
//!
//! An access takes effect when its line is granted, and is complete when the line has come. The next one may begin shortly after
//! the first of these times, so misses of lines that do not depend on each other overlap. As it begins later, it takes effect
//! later: the order of a thread's accesses is kept. The CPU follows the path that it predicts, so a test of a value that has not
//! come does not delay it; two things do:
//! - an access at the address that a value names which has not come;
//! - the look that ends a polling loop, and the first look after it: their CPU has predicted that the loop goes on.
//!
//! Pauses, work, looks at the clock and calls of the system wait until all accesses are complete, and stores leave the buffer
//! behind all earlier accesses.
//!
//! Measured on two CPUs of an Intel Xeon (family 6, model 207), where a load of a line that the other had written took 83 ns
//! and an addition 90: an addition and a load of another line together 94, or 99 where the load comes after a test; two
//! additions 101; two loads 93, or 164 where the address of the second came with the first; a load and a store of the same line
//! 84.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (counters of two bits).

use crate::costs::Ticks;

/// The values that are remembered.
const VALUES: usize = 8;
/// The bytes behind the address in a value that are taken for fields of what it points to.
const FIELDS: usize = 256;
/// The looks that find at once before a CPU predicts it: as many as a counter of two bits takes from one end to its other half.
const LOOKS: u8 = 2;
/// The most accesses under way.
pub(crate) const MOST: usize = 64;

/// The accesses of a thread that are under way.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// The time at which all that have begun are complete.
    complete: Ticks,
    /// The times at which each of the last ones was complete, with all before it.
    times: [Ticks; MOST],
    begun: usize,
    /// Values of accesses, and the times at which they come.
    values: [(usize, Ticks); VALUES],
    valued: usize,
    /// The loads that miss for which the CPU still predicts that a polling loop goes on.
    wary: u8,
}

impl Default for UnderWay {
    fn default() -> Self {
        Self { complete: 0, times: [0; MOST], begun: 0, values: [(0, 0); VALUES], valued: 0, wary: 0 }
    }
}

impl UnderWay {
    /// The time from which on none is under way, not before `clock`.
    pub(crate) fn settled(&self, clock: Ticks) -> Ticks {
        clock.max(self.complete)
    }

    /// The time at which an access to this address can begin, if `ahead` may be under way at once.
    pub(crate) fn begin(&self, clock: Ticks, address: usize, ahead: usize) -> Ticks {
        if self.complete <= clock {
            return clock;
        }
        let full = self.times[self.begun.wrapping_sub(ahead.min(MOST)) % MOST];
        let named = |&&(value, _): &&(usize, Ticks)| (address & !7).wrapping_sub(value & !7) < FIELDS;
        let values = self.values.iter().filter(named).map(|&(_, comes)| comes);
        values.fold(clock.max(full), Ticks::max)
    }

    /// An access has begun that is complete at this time and when all earlier ones are.
    pub(crate) fn add(&mut self, complete: Ticks) {
        self.complete = self.complete.max(complete);
        self.times[self.begun % MOST] = self.complete;
        self.begun = self.begun.wrapping_add(1);
    }

    /// The thread pauses, in a polling loop.
    pub(crate) fn pause(&mut self) {
        self.wary = LOOKS;
    }

    /// A load has missed. True if the CPU has predicted that it does not end a polling loop.
    pub(crate) fn look(&mut self) -> bool {
        let is_wary = self.wary > 0;
        self.wary = self.wary.saturating_sub(1);
        is_wary
    }

    /// This value comes at this time.
    pub(crate) fn value(&mut self, value: u64, comes: Ticks) {
        self.values[self.valued % VALUES] = (value as usize, comes);
        self.valued = self.valued.wrapping_add(1);
    }
}
