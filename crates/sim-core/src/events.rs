//! The events to come, in the order of virtual time; of one time, in the order in which they were announced.
//!
//! A heap of four children each, with a place of its own for the event that was announced last, was tried and dropped: 48 CPUs
//! that add to one word had 7 % fewer accesses a second, and locks between 3 % fewer and 5 % more, which is within the noise.
//!
//! So were wheels of 64 places, one for each six bits of the time: by the best of 2 and of 4 runs, 48 and 256 CPUs that work on
//! lines of their own had 19 to 51 % more accesses a second, but 48 that add to one word 8 and 13 % fewer, and 48 at a queue of
//! `mcs` 2 and 10 % fewer, as few events wait there. Time and number as one number of 128 bits, in two forms: from 2 % fewer to
//! 16 % more by the best of 5 and of 8 runs, where runs of one program differed by as much.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::costs::Ticks;

/// Something to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    /// A thread goes on, unless it has gone on since this was announced: then its turn has another number.
    Turn { thread: usize, turn: u32 },
    /// A store buffer asks for the line of its next store.
    Drain { cpu: usize },
    /// A line has served a request, and others wait.
    Free { line: usize },
    /// The thread on a CPU leaves it to those that wait for it, unless the slice that ends has another number since.
    Slice { cpu: usize, number: u32 },
}

/// The events to come.
#[derive(Debug)]
pub(crate) struct Events {
    heap: BinaryHeap<Reverse<(Ticks, u64, Event)>>,
    announced: u64,
    /// The end of the run: it comes like an event, also for a thread that is left alone.
    pub(crate) limit: Ticks,
}

impl Default for Events {
    fn default() -> Self {
        Self { heap: BinaryHeap::new(), announced: 0, limit: Ticks::MAX }
    }
}

impl Events {
    pub(crate) fn announce(&mut self, time: Ticks, event: Event) {
        self.heap.push(Reverse((time, self.announced, event)));
        self.announced += 1;
    }

    /// True if no event comes before this time, or at it.
    pub(crate) fn are_later_than(&self, time: Ticks) -> bool {
        time <= self.limit && self.heap.peek().is_none_or(|Reverse((first, ..))| *first > time)
    }

    pub(crate) fn next(&mut self) -> Option<(Ticks, Event)> {
        self.heap.pop().map(|Reverse((time, _, event))| (time, event))
    }
}
