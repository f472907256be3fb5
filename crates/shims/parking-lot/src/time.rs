//! Deadlines, and when a thread owes those who sleep a lock.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{CacheLine, Clock};

/// The time after which an awaited lock that is freed is handed over; parking_lot does that every half millisecond on average.
const HAND_OVER_AFTER: Duration = Duration::from_micros(500);

const PLACES: usize = 64;

/// The times, in ticks, from which the next awaited lock is handed over, by the locks' addresses. Written by the threads that
/// free them.
static HANDS_OVER_FROM: [CacheLine<AtomicU64>; PLACES] = [const { CacheLine::new(AtomicU64::new(0)) }; PLACES];

/// The end of a wait that begins now; `None` for one so long that it has no end.
pub(crate) fn deadline_after(limit: Duration) -> Option<Instant> {
    Instant::now().checked_add(limit)
}

/// True if this lock, which a thread frees while others sleep for it, was not handed over for [`HAND_OVER_AFTER`]. It is now.
/// Locks may share a time: then one is handed over in the place of another.
pub(crate) fn is_hand_over_due<T>(lock: &T) -> bool {
    let from = &HANDS_OVER_FROM[place_of(std::ptr::from_ref(lock).addr())];
    let clock = Clock::get();
    let now = clock.ticks();
    // ORDERING: Relaxed, the time is all there is; two threads that are late at once both hand over
    let is_due = now >= from.load(Ordering::Relaxed);
    if is_due {
        // ORDERING: Relaxed, as at the load above
        from.store(now + clock.ticks_in(HAND_OVER_AFTER), Ordering::Relaxed);
    }
    is_due
}

fn place_of(lock: usize) -> usize {
    // Spreads neighbours: D. Knuth, The Art of Computer Programming, volume 3, multiplicative hashing.
    let hash = (lock as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    hash as usize % PLACES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_over_is_due_again_after_a_while() {
        let lock = 0_u8;
        assert!(is_hand_over_due(&lock));
        let began = Instant::now();
        while !is_hand_over_due(&lock) {
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
