//! [`Tas`]: when to take it, how it works, and its code.

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

const FREE: u32 = 0;
const HELD: u32 = 1;

/// Test-and-set: a thread that swaps the word from free to held has the lock.
///
/// Take it for locks that two threads seldom want at once; nothing is smaller or simpler. Not under contention: each
/// waiting thread takes the line away from the others, and from the holder, with every look.
///
/// **Progress:** blocking; a waiter may be overtaken for ever. **Memory ordering:** that of [`RawLock`].
/// Source: the textbook's first lock, e.g. T. Anderson, The Performance of Spin Lock Alternatives, 1990.
#[derive(Debug)]
#[repr(transparent)]
pub struct Tas {
    /// [`FREE`] or [`HELD`]. Written by every thread that wants the lock, and by its holder.
    word: AtomicU32,
}

impl Tas {
    /// Whether it was free a moment ago.
    #[inline]
    pub(crate) fn looks_free(&self) -> bool {
        // ORDERING: Relaxed, a thread that takes it looks again
        self.word.load(Ordering::Relaxed) == FREE
    }
}

// SAFETY: exactly one swap or exchange finds FREE between two stores of it, which only holders do; Acquire and Release.
unsafe impl RawLock for Tas {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "tas",
        about: "swaps one word until it was free",
        order: AcquisitionOrder::Barging,
        node: NodeKind::Nothing,
        parks: false,
        source: "Anderson 1990",
    };

    fn new(_setup: &Setup) -> Self {
        Self { word: AtomicU32::new(FREE) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in unlock [tas-free]
        while self.word.swap(HELD, Ordering::Acquire) != FREE {
            spinner.pause();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // Not a swap: a try that fails must not take the line from its holder's neighbours for nothing.
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [tas-free]
        self.word.compare_exchange(FREE, HELD, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // ORDERING: Release, pairs with the Acquire in lock and try_lock [tas-free]
        self.word.store(FREE, Ordering::Release);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Tas {}

// SAFETY: there is no node.
unsafe impl NodeMoves for Tas {}

#[cfg(not(loom))]
impl RawConst for Tas {
    const INIT: Self = Self { word: AtomicU32::new(FREE) };
}
