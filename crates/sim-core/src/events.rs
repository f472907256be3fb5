//! The events to come, in the order of virtual time; of one time, in the order in which they were announced.
//!
//! A heap of four children each, with a place of its own for the event that was announced last, was tried and dropped: 48 CPUs
//! that add to one word had 7 % fewer accesses a second, and locks between 3 % fewer and 5 % more, which is within the noise.
//!
//! So were wheels of 64 places, one for each six bits of the time: 48 and 256 CPUs that work on lines of their own had 20 to 50 %
//! more accesses a second, but queues of `mcs` up to 10 % and additions to one word 8 to 13 % fewer, as few events wait there. To
//! compare time and number as one number of 128 bits won less than 10 % everywhere.

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
