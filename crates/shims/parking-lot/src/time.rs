//! Deadlines, and when a thread owes those who sleep a lock.

use std::cell::Cell;
use std::time::{Duration, Instant};

use corecast_base::Clock;

/// The time after which a thread that frees awaited locks hands one over; parking_lot does that every half millisecond on
/// average.
const HAND_OVER_AFTER: Duration = Duration::from_micros(500);

thread_local! {
    /// The time, in ticks, from which this thread hands over the next awaited lock that it frees.
    static HANDS_OVER_FROM: Cell<u64> = const { Cell::new(0) };
}

/// The end of a wait that begins now; `None` for one so long that it has no end.
pub(crate) fn deadline_after(limit: Duration) -> Option<Instant> {
    Instant::now().checked_add(limit)
}

/// True if this thread, which frees a lock that others sleep for, has handed none over for [`HAND_OVER_AFTER`]. It does so now.
pub(crate) fn is_hand_over_due() -> bool {
    let clock = Clock::get();
    let now = clock.ticks();
    let is_due = now >= HANDS_OVER_FROM.get();
    if is_due {
        HANDS_OVER_FROM.set(now + clock.ticks_in(HAND_OVER_AFTER));
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_over_is_due_again_after_a_while() {
        assert!(is_hand_over_due());
        let began = Instant::now();
        while !is_hand_over_due() {
            std::thread::yield_now();
        }
        // The two clocks are set against each other to a thousandth.
        assert!(began.elapsed() >= HAND_OVER_AFTER / 2);
    }

    #[test]
    fn the_longest_wait_has_no_end() {
        assert_eq!(deadline_after(Duration::MAX), None);
        assert!(deadline_after(Duration::ZERO).is_some());
    }
}
