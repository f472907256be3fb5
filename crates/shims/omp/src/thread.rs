//! The place of this thread in its team, and the teams that it forks.
//!
//! The thread local needs no start and no end: it is plain words, so that a region may run while a thread ends.

use std::cell::Cell;
use std::ptr;

use crate::team::{Seat, Team};

/// The deepest nesting of regions that a thread has teams for. Deeper regions are left to the runtime.
pub(crate) const MOST_DEPTH: usize = 8;

/// A few words for each thread.
#[derive(Debug)]
pub(crate) struct ThreadState {
    pub(crate) seat: Cell<Seat>,
    /// The regions that this thread has forked and not joined.
    pub(crate) depth: Cell<usize>,
    /// The teams that this thread forks at each depth; null until then.
    pub(crate) teams: [Cell<*const Team>; MOST_DEPTH],
    /// Seats that are hidden while a region runs that the shim does not see from inside.
    pub(crate) hidden: SeatStack,
}

impl ThreadState {
    /// Takes the thread's seat, and leaves it in no team until it is put back.
    pub(crate) fn stand_up(&self) -> Seat {
        self.seat.replace(Seat::NONE)
    }

    const fn new() -> Self {
        Self {
            seat: Cell::new(Seat::NONE),
            depth: Cell::new(0),
            teams: [const { Cell::new(ptr::null()) }; MOST_DEPTH],
            hidden: SeatStack::new(),
        }
    }
}

thread_local! {
    static THREAD: ThreadState = const { ThreadState::new() };
}

/// Calls `body` with the state of this thread.
#[inline(always)]
pub(crate) fn here<R>(body: impl FnOnce(&ThreadState) -> R) -> R {
    THREAD.with(body)
}

/// Seats that come back in the opposite order.
#[derive(Debug)]
pub(crate) struct SeatStack {
    held: Cell<usize>,
    seats: [Cell<Seat>; MOST_DEPTH],
}

impl SeatStack {
    const fn new() -> Self {
        Self { held: Cell::new(0), seats: [const { Cell::new(Seat::NONE) }; MOST_DEPTH] }
    }

    /// Keeps a seat. One that is deeper than the stack is forgotten: the thread is then in no team when it comes back.
    pub(crate) fn push(&self, seat: Seat) {
        let held = self.held.get();
        if let Some(place) = self.seats.get(held) {
            place.set(seat);
        }
        self.held.set(held + 1);
    }

    /// The seat that was kept last; `None` if there is none.
    pub(crate) fn pop(&self) -> Option<Seat> {
        let held = self.held.get().checked_sub(1)?;
        self.held.set(held);
        Some(self.seats.get(held).map_or(Seat::NONE, Cell::get))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seats_come_back_in_the_opposite_order_and_the_deepest_as_none() {
        let stack = SeatStack::new();
        assert!(stack.pop().is_none());
        for level in 1..=MOST_DEPTH as i32 + 2 {
            stack.push(Seat { level, ..Seat::NONE });
        }
        let levels: Vec<_> = std::iter::from_fn(|| stack.pop()).map(|seat| seat.level).collect();
        assert_eq!(levels, [0, 0, 8, 7, 6, 5, 4, 3, 2, 1]);
    }
}
