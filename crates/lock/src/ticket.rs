//! [`Ticket`]: when to take it, how it works, and its code.

use std::time::Duration;

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// The time given to each thread ahead: a short section and the transfer of a line.
const HAND_OVER_NS: u64 = 100;
/// Nobody stays away for longer.
const LONGEST_NS: u64 = 50_000;

/// Tickets with proportional back-off: a newcomer draws a number, and waits until it is called.
///
/// Take it where each thread has a CPU and short sections are contended: it is fair, and one line is all it needs. Not
/// with more threads than CPUs: the one whose turn it is may not be running, and nobody can go before it.
///
/// A thread whose turn is far away looks seldom: those ahead of it need about a hand-over each.
///
/// **Progress:** blocking, first in first out. **Memory ordering:** that of [`RawLock`].
/// Source: J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991.
#[derive(Debug)]
#[repr(C, align(8))]
pub struct Ticket {
    /// The next number to draw. Written by every newcomer.
    next: AtomicU32,
    /// The number that is called. Written by the holder.
    owner: AtomicU32,
}

#[cfg(feature = "hierarchical")]
impl Ticket {
    /// For the holder: whether somebody waits.
    pub(crate) fn is_awaited(&self) -> bool {
        // ORDERING: Relaxed, later newcomers are missed anyway
        let next = self.next.load(Ordering::Relaxed);
        // ORDERING: Relaxed, only holders write it
        next.wrapping_sub(self.owner.load(Ordering::Relaxed)) > 1
    }
}

// SAFETY: each number is drawn once, and called by the holder of the one before; a try draws the number that is called, or
// nothing. (Numbers may wrap: no 2^32 threads wait.)
unsafe impl RawLock for Ticket {
    type Node = ();
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "ticket",
        about: "draws a number, with back-off in proportion to those ahead",
        order: AcquisitionOrder::Fifo,
        node: NodeKind::Nothing,
        parks: false,
        source: "Mellor-Crummey, Scott 1991",
    };

    fn new(_setup: &Setup) -> Self {
        Self { next: AtomicU32::new(0), owner: AtomicU32::new(0) }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        // ORDERING: Relaxed, the last holder's writes come with the number that is called
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut spinner = Spinner::new();
        loop {
            // ORDERING: Acquire, pairs with the Release in unlock [ticket-called]
            match ticket.wrapping_sub(self.owner.load(Ordering::Acquire)) {
                0 => return,
                1 => spinner.pause(),
                ahead => {
                    let ns = (u64::from(ahead) - 1) * HAND_OVER_NS;
                    spinner.pause_for(Duration::from_nanos(ns.min(LONGEST_NS)));
                }
            }
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock [ticket-called]
        let called = self.owner.load(Ordering::Acquire);
        // Nobody draws this number again, so the exchange needs no more than it.
        // ORDERING: Relaxed, as in lock
        let drawn = self.next.compare_exchange(called, called.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed);
        drawn.is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        // ORDERING: Relaxed, only holders write it
        let ticket = self.owner.load(Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in lock and try_lock [ticket-called]
        self.owner.store(ticket.wrapping_add(1), Ordering::Release);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Ticket {}

// SAFETY: there is no node.
unsafe impl NodeMoves for Ticket {}

#[cfg(not(loom))]
impl RawConst for Ticket {
    const INIT: Self = Self { next: AtomicU32::new(0), owner: AtomicU32::new(0) };
}
