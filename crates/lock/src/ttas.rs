//! Test and test-and-set with back-off: reads until the word is free, and waits longer after each failed attempt.
//!
//! Take it where a few threads meet for moments. While one holds the lock the others read copies of the line, so the
//! holder is not disturbed. After a lost race a thread stays away for a random time, up to a limit that doubles with
//! each loss and starts anew once it has reached its maximum, so that nobody stays away for long.
//!
//! **Progress:** blocking; who waits may be overtaken for ever. **Memory ordering:** that of [`RawLock`].
//! Source: T. Anderson, The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors, 1990.

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

use crate::facts::{Facts, NodeKind, Order};
use crate::polling;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

const FREE: u32 = 0;
const HELD: u32 = 1;
/// The first limit: a transfer of the line between neighbours.
const SHORTEST_NS: u32 = 64;
/// Where the limit starts anew.
const LONGEST_NS: u32 = 8192;

/// See the [module](self).
#[derive(Debug)]
pub struct Ttas {
    /// [`FREE`] or [`HELD`]. Written by whoever finds it free, and by its holder.
    word: AtomicU32,
}

impl Ttas {
    #[cold]
    fn lock_slow(&self) {
        let mut spinner = Spinner::new();
        let mut limit_ns = SHORTEST_NS;
        let mut random = std::ptr::from_ref(self).addr() as u32 ^ std::ptr::from_ref(&spinner).addr() as u32 | 1;
        loop {
            // ORDERING: Relaxed, try_lock looks again
            while self.word.load(Ordering::Relaxed) != FREE {
                spinner.pause();
            }
            // SAFETY: there is no node.
            if unsafe { self.try_lock(&()) } {
                return;
            }
            random = next(random);
            spinner.pause_for(Duration::from_nanos((random % limit_ns).into()));
            limit_ns = if limit_ns < LONGEST_NS { 2 * limit_ns } else { SHORTEST_NS };
        }
    }
}

/// The next number of a sequence that keeps threads apart: G. Marsaglia, Xorshift RNGs, 2003. Never 0 after another.
fn next(mut x: u32) -> u32 {
    x ^= x << 13;
    x ^= x >> 17;
    x ^ (x << 5)
}

// SAFETY: exactly one exchange finds FREE between two stores of it, which only holders do; Acquire and Release.
unsafe impl RawLock for Ttas {
    type Node = ();

    const FACTS: Facts = Facts {
        name: "ttas",
        about: "reads one word until it is free, with exponential back-off",
        order: Order::Barging,
        node: NodeKind::Nothing,
        parks: false,
        source: "Anderson 1990",
    };

    fn new(_setup: &Setup) -> Self {
        Self { word: AtomicU32::new(FREE) }
    }

    #[inline]
    unsafe fn lock(&self, node: &()) {
        // SAFETY: the caller's promise.
        if !unsafe { self.try_lock(node) } {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [ttas-free]
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // ORDERING: Release, pairs with the Acquire in try_lock [ttas-free]
        self.word.store(FREE, Ordering::Release);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Ttas {
    unsafe fn lock_until(&self, node: &(), deadline: Instant) -> bool {
        // SAFETY: the caller's promise.
        unsafe { polling::lock_until(self, node, deadline) }
    }
}

// SAFETY: there is no node.
unsafe impl NodeMoves for Ttas {}
