//! [`Ttas`]: when to take it, how it works, and its code.

use std::time::Duration;

use corecast_base::sync::thread_id;
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};
use crate::tas::Tas;

/// The first limit: a transfer of the line between neighbours.
const SHORTEST_NS: u32 = 64;
/// Where the limit starts anew.
const LONGEST_NS: u32 = 8192;

/// Test and test-and-set with back-off: reads until the word is free, and waits longer after each failed attempt.
///
/// Take it where a few threads meet for moments. While one holds the lock the others read copies of the line, so the
/// holder is not disturbed. After a lost race a thread stays away for a random time, up to a limit that doubles with
/// each loss and starts anew once it has reached its maximum, so that nobody stays away for long.
///
/// **Progress:** blocking; a waiter may be overtaken for ever. **Memory ordering:** that of [`RawLock`].
/// Source: T. Anderson, The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors, 1990.
#[derive(Debug)]
#[repr(transparent)]
pub struct Ttas(Tas);

impl Ttas {
    #[cold]
    fn lock_slow(&self) {
        let mut spinner = Spinner::new();
        let mut limit_ns = SHORTEST_NS;
        // Not addresses, which are others in each run of a program: a simulation is to repeat. Threads of other processes have
        // other numbers, too.
        let mut random = thread_id().wrapping_mul(0x9E37_79B9) | 1;
        loop {
            while !self.0.looks_free() {
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

// SAFETY: it takes and frees the lock inside, and waits in another way.
unsafe impl RawLock for Ttas {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "ttas",
        about: "reads one word until it is free, with exponential back-off",
        order: AcquisitionOrder::Barging,
        node: NodeKind::Nothing,
        parks: false,
        source: "Anderson 1990",
    };

    fn new(setup: &Setup) -> Self {
        Self(Tas::new(setup))
    }

    #[inline]
    unsafe fn lock(&self, node: &()) {
        // SAFETY: the caller's promise.
        if !unsafe { self.try_lock(node) } {
            self.lock_slow();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, node: &()) -> bool {
        // SAFETY: the caller's promise.
        unsafe { self.0.try_lock(node) }
    }

    #[inline]
    unsafe fn unlock(&self, node: &()) {
        // SAFETY: the caller's promise.
        unsafe { self.0.unlock(node) };
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Ttas {}

// SAFETY: there is no node.
unsafe impl NodeMoves for Ttas {}

#[cfg(not(loom))]
impl RawConst for Ttas {
    const INIT: Self = Self(Tas::INIT);
}
