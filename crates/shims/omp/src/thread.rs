//! The place of this thread in its team, and the teams that it forks.
//!
//! The words need no start and no end: they are zero in a new thread, and a region may run while a thread ends. They lie in the
//! block that each thread has from its start (the model "initial exec" of U. Drepper, ELF Handling For Thread-Local Storage,
//! 2013), which stable Rust has no word for: a variable of `thread_local!` costs a call of `__tls_get_addr` each time. An object
//! that is preloaded is there when the blocks are laid out.

use std::cell::Cell;
use std::ffi::c_void;
use std::ptr;

use crate::stub::{BLOCK_BYTES, thread_block};
use crate::team::{Seat, Team};

/// The deepest nesting of regions that a thread has teams for. Deeper regions are left to the runtime.
pub(crate) const MOST_DEPTH: usize = 8;
/// The most seats that a thread keeps for later: one for each of these regions, one for the region in which the thread is not the
/// master, and one for the deepest region while another one runs in it.
const MOST_HIDDEN: usize = MOST_DEPTH + 2;

/// A few words for each thread, zero at its start.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct ThreadState {
    /// The runtime's function that makes a task, where a task of this thread goes on to it at once: one was announced in this
    /// interval, or the thread has no seat. Null where the next task has to be looked at first. `stub` reads it by its place.
    task_way: Cell<*const c_void>,
    seat: Cell<Seat>,
    /// The regions that this thread has forked and not joined.
    pub(crate) depth: Cell<usize>,
    /// A bit for each depth at which a team of this thread is forked that is served.
    served: Cell<usize>,
    /// The teams that this thread forks at each depth; null until then.
    pub(crate) teams: [Cell<*const Team>; MOST_DEPTH],
    /// Seats that are hidden while a region runs that the shim does not see from inside.
    pub(crate) hidden: SeatStack,
}

const _: () = assert!(size_of::<ThreadState>() == BLOCK_BYTES && align_of::<ThreadState>() <= 16);

impl ThreadState {
    /// The seat of this thread.
    #[inline]
    pub(crate) fn seat(&self) -> Seat {
        self.seat.get()
    }

    /// Takes another seat, or the same one in another interval, in which no task was announced. Returns the one before.
    #[inline]
    pub(crate) fn sit(&self, seat: Seat) -> Seat {
        self.task_way.set(ptr::null());
        self.seat.replace(seat)
    }

    /// Counts a `single` construct that this thread has come to, and returns its seat after that. The interval goes on.
    #[inline]
    pub(crate) fn come_to_single(&self, seat: Seat) -> Seat {
        let seat = Seat { single: seat.single + 1, ..seat };
        self.seat.set(seat);
        seat
    }

    /// Takes the thread's seat, and leaves it in no team until it is put back.
    pub(crate) fn stand_up(&self) -> Seat {
        self.sit(Seat::NONE)
    }

    /// Calls `body` while this thread is in no team, as in a region that is not served.
    pub(crate) fn without_seat<R>(&self, body: impl FnOnce() -> R) -> R {
        if self.seat().team.is_null() {
            return body();
        }
        let seat = self.stand_up();
        let result = body();
        self.sit(seat);
        result
    }

    /// Counts a region that this thread is about to fork, and remembers whether the team of this depth serves it.
    pub(crate) fn fork(&self, is_served: bool) {
        let depth = self.depth.replace(self.depth.get() + 1);
        if depth < MOST_DEPTH {
            self.served.set(self.served.get() & !(1 << depth) | usize::from(is_served) << depth);
        }
    }

    /// Counts the region no more that this thread has forked last; its team, if that served it.
    pub(crate) fn join(&self) -> Option<&'static Team> {
        let depth = self.depth.get().checked_sub(1)?;
        self.depth.set(depth);
        let team = self.teams.get(depth).filter(|_| self.served.get() >> depth & 1 != 0)?.get();
        // SAFETY: null, or a team, which is never freed.
        unsafe { team.as_ref() }
    }

    /// Sends the tasks that this thread makes straight to this function of the runtime, until it takes another seat. Its team, if
    /// it has one, was told of a task in this interval.
    pub(crate) fn send_tasks_to(&self, real: *const c_void) {
        self.task_way.set(real);
    }
}

/// Calls `body` with the state of this thread.
#[inline(always)]
pub(crate) fn here<R>(body: impl FnOnce(&ThreadState) -> R) -> R {
    let state = thread_block().cast::<ThreadState>();
    // SAFETY: the block has room for it, and belongs to this thread; zero is a valid value of each field.
    body(unsafe { &*state })
}

/// Seats that come back in the opposite order.
#[derive(Debug)]
pub(crate) struct SeatStack {
    held: Cell<usize>,
    seats: [Cell<Seat>; MOST_HIDDEN],
}

impl SeatStack {
    /// True if two more seats fit: the one that the thread has now, and the one of the region that begins, while another region
    /// runs in it. If one thread lost its seat there, the other members would wait for it.
    pub(crate) fn has_room(&self) -> bool {
        self.held.get() + 2 <= MOST_HIDDEN
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
    use crate::pool;

    #[test]
    fn a_thread_knows_which_teams_it_has_forked() {
        here(|thread| {
            let team = |thread| pool::team_for(thread, 2).map(ptr::from_ref);
            let outer = team(thread);
            thread.fork(true);
            thread.fork(false);
            let deepest = team(thread);
            thread.fork(true);
            assert_eq!(thread.join().map(ptr::from_ref), deepest);
            assert!(thread.join().is_none(), "that region was not served");
            assert_eq!(thread.join().map(ptr::from_ref), outer);
            assert!(outer.is_some() && deepest.is_some() && outer != deepest);
            (0..=MOST_DEPTH).for_each(|_| thread.fork(true));
            assert!(thread.join().is_none(), "deeper than any team");
            assert!(thread.join().is_none(), "no team was taken there");
            for _ in 1..MOST_DEPTH {
                thread.join();
            }
            assert_eq!(thread.depth.get(), 0);
        });
    }

    #[test]
    fn each_thread_begins_with_zeroes_and_keeps_what_it_sets() {
        let mark = || ptr::without_provenance::<c_void>(16);
        let begin = || here(|thread| (thread.task_way.get(), thread.seat().team, thread.depth.get()));
        let set = move |depth| {
            here(|thread| {
                thread.sit(Seat { level: 3, ..Seat::NONE });
                thread.send_tasks_to(mark());
                thread.depth.set(depth);
            });
        };
        let other = move || {
            assert_eq!(begin(), (ptr::null(), ptr::null(), 0));
            set(1);
            assert_eq!(here(|thread| (thread.task_way.get(), thread.depth.get())), (mark(), 1));
            assert_eq!(here(|thread| thread.stand_up()).level, 3);
            assert!(begin().0.is_null(), "another seat has announced no task");
        };
        for _ in 0..2 {
            std::thread::spawn(other).join().expect("no panic");
        }
    }

    #[test]
    fn seats_come_back_in_the_opposite_order_and_the_deepest_as_none() {
        let stack = SeatStack { held: Cell::new(0), seats: [const { Cell::new(Seat::NONE) }; MOST_HIDDEN] };
        assert!(stack.pop().is_none());
        for level in 1..=MOST_HIDDEN as i32 + 2 {
            assert_eq!(stack.has_room(), level < MOST_HIDDEN as i32);
            stack.push(Seat { level, ..Seat::NONE });
        }
        let levels: Vec<_> = std::iter::from_fn(|| stack.pop()).map(|seat| seat.level).collect();
        assert_eq!(levels, [0, 0, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
    }
}
