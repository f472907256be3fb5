//! The number by which a thread finds its line in whatever has several.

use std::cell::Cell;

use corecast_base::sync::{AtomicU32, Ordering};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// The thread has none yet.
const NONE: u32 = u32::MAX;

corecast_base::per_thread! {
    static SEAT: Cell<u32> = const { Cell::new(NONE) };
}

/// The same for the thread's whole life; threads that begin one after the other have different ones.
#[inline]
pub(crate) fn of_this_thread() -> usize {
    let seat = SEAT.get();
    if seat == NONE { take() } else { seat as usize }
}

#[cold]
fn take() -> usize {
    // ORDERING: Relaxed, the number is all there is to know
    let seat = NEXT.fetch_add(1, Ordering::Relaxed) % NONE;
    SEAT.set(seat);
    seat as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_keeps_its_seat_and_another_one_has_another() {
        let mine = of_this_thread();
        assert_eq!(of_this_thread(), mine);
        assert_ne!(std::thread::spawn(of_this_thread).join().expect("it takes one"), mine);
    }
}
