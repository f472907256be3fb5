//! The accesses of a thread that are under way: a CPU begins loads and read-modify-writes while earlier ones have not come.
//!
//! An access takes effect when its line is granted, and is complete when the line has come. The next one may begin shortly after
//! the first of these times, so misses of lines that do not depend on each other overlap. As it begins later, it takes effect
//! later: the order of a thread's accesses is kept. The CPU follows the path that it predicts, so a test of a value that has not
//! come does not delay it; two things do:
//! - an access at the address that a value names which has not come, or of which the thread says that it follows from values;
//! - the look that ends a polling loop, and the first look after it at an address that loops have polled: their CPU has predicted
//!   that the loop goes on.
//!
//! Stores ask for their lines as soon as they are made, and take effect when all earlier accesses are complete and earlier stores
//! done; a read-modify-write asks for its line while earlier stores wait for theirs. Work and looks at the clock begin when
//! all read-modify-writes are complete, and may overtake loads. Pauses and calls of the system wait until all accesses are
//! complete.
//!
//! Measured on two CPUs of an Intel Xeon (family 6, model 207), where a load of a line that the other had written took 83 ns
//! and an addition 90: an addition and a load of another line together 94, or 99 where the load comes after a test; two
//! additions 101; two loads 93, or 164 where the address of the second came with the first; a load and a store of the same line
//! 84. On another such machine, where a load took 87 and an addition 98: a store and an addition behind it 98, a load and a store
//! of another line 85, an addition and such a store 103, three stores 97 where one took 85; a load and then a wait of 231 by the
//! clock 231, but 333 behind an addition.
//!
//! Source: J. E. Smith, "A study of branch prediction strategies", ISCA 1981 (counters of two bits).

use crate::costs::Ticks;

/// The values that are remembered.
const VALUES: usize = 8;
/// The bytes behind the address in a value that are taken for fields of what it points to.
const FIELDS: usize = 256;
/// The looks that find at once before a CPU predicts it: as many as a counter of two bits takes from one end to its other half.
const LOOKS: u8 = 2;
/// The addresses that are remembered as those of polling loops.
const POLLED: usize = 4;
/// The most accesses under way.
pub(crate) const MOST: usize = 64;

/// The accesses of a thread that are under way.
#[derive(Debug)]
pub(crate) struct UnderWay {
    /// The time at which all that have begun are complete.
    complete: Ticks,
    /// The time at which all read-modify-writes among them are, with all before them.
    ordered: Ticks,
    /// The times at which each of the last ones was complete, with all before it.
    times: [Ticks; MOST],
    begun: usize,
    /// Values of accesses, and the times at which they come.
    values: [(usize, Ticks); VALUES],
    valued: usize,
    /// The loads that miss for which the CPU still predicts that a polling loop goes on.
    wary: u8,
    /// The address of the last load.
    loaded: usize,
    /// Addresses that polling loops have looked at last, the last ones of their rounds.
    polled: [usize; POLLED],
    polls: usize,
}

impl Default for UnderWay {
    fn default() -> Self {
        Self {
            complete: 0,
            ordered: 0,
            times: [0; MOST],
            begun: 0,
            values: [(0, 0); VALUES],
            valued: 0,
            wary: 0,
            loaded: 0,
            polled: [0; POLLED],
            polls: 0,
        }
    }
}

impl UnderWay {
    /// The time from which on none is under way, not before `clock`.
    pub(crate) fn settled(&self, clock: Ticks) -> Ticks {
        clock.max(self.complete)
    }

    /// The time from which on no read-modify-write is under way, not before `clock`: what touches no line may overtake loads.
    pub(crate) fn ordered(&self, clock: Ticks) -> Ticks {
        clock.max(self.ordered)
    }

    /// A read-modify-write has begun: nothing but accesses begins before all that have begun are complete.
    pub(crate) fn order(&mut self) {
        self.ordered = self.complete;
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
        if !self.polled.contains(&self.loaded) {
            self.polled[self.polls % POLLED] = self.loaded;
            self.polls = self.polls.wrapping_add(1);
        }
    }

    /// The thread loads from this address.
    pub(crate) fn load(&mut self, address: usize) {
        self.loaded = address;
    }

    /// The last load has missed. True if it is a look of a polling loop, and the CPU has predicted that it does not end the loop.
    pub(crate) fn look(&mut self) -> bool {
        let is_wary = self.wary == LOOKS || self.wary > 0 && self.polled.contains(&self.loaded);
        self.wary -= u8::from(is_wary);
        is_wary
    }

    /// This value comes at this time.
    pub(crate) fn value(&mut self, value: u64, comes: Ticks) {
        self.values[self.valued % VALUES] = (value as usize, comes);
        self.valued = self.valued.wrapping_add(1);
    }
}
