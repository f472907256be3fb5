//! [`Array`]: when to take it, how it works, and its code.

use std::cell::Cell;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU32, Ordering, address_follows};
use corecast_base::wait::Spinner;

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// Anderson's array lock: tickets, and each waiting thread polls a line of its own.
///
/// Take it to compare; a queue (`mcs`) does the same with less memory. A hand-over writes one line that one thread
/// polls, however many wait. A slot holds the number that is called there, so more threads than slots are no harm: some
/// share a line.
///
/// **Progress:** blocking, first in first out. **Memory ordering:** that of [`RawLock`].
/// Source: T. Anderson, The Performance of Spin Lock Alternatives for Shared-Memory Multiprocessors, 1990.
#[derive(Debug)]
pub struct Array {
    /// The next number to draw. Written by every newcomer.
    next: CacheLine<AtomicU32>,
    /// The number of slots is a power of two, so that numbers wrap with them. Slot i holds the last number called there: one that
    /// is i modulo the number of slots. Written by the holder of the number before.
    slots: Box<[CacheLine<AtomicU32>]>,
}

impl Array {
    fn slot(&self, ticket: u32) -> &AtomicU32 {
        address_follows();
        &self.slots[ticket as usize & (self.slots.len() - 1)]
    }
}

// SAFETY: each number is drawn once, and called by the holder of the one before; a try draws the number that is called, or
// nothing. (Numbers may wrap: no 2^32 threads wait.)
unsafe impl RawLock for Array {
    /// The number that was drawn.
    type Node = Cell<u32>;
    type Alignment = ();

    const FACTS: Facts = Facts {
        name: "array",
        about: "draws a number, each polls a line of its own",
        order: AcquisitionOrder::Fifo,
        node: NodeKind::Value,
        parks: false,
        source: "Anderson 1990",
    };

    fn new(setup: &Setup) -> Self {
        let len = setup.threads.clamp(1, 1 << 16).next_power_of_two();
        // Number 0 is called, and no other one.
        let called = |slot: u32| if slot == 0 { 0 } else { slot.wrapping_sub(len as u32) };
        let slots = (0..len as u32).map(|slot| CacheLine::new(AtomicU32::new(called(slot)))).collect();
        Self { next: CacheLine::new(AtomicU32::new(0)), slots }
    }

    #[inline]
    unsafe fn lock(&self, node: &Cell<u32>) {
        // ORDERING: Relaxed, the last holder's writes come with the number that is called
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let slot = self.slot(ticket);
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in unlock [array-called]
        while slot.load(Ordering::Acquire) != ticket {
            spinner.pause();
        }
        node.set(ticket);
    }

    #[inline]
    unsafe fn try_lock(&self, node: &Cell<u32>) -> bool {
        // ORDERING: Relaxed, the exchange tells whether it is still the next
        let ticket = self.next.load(Ordering::Relaxed);
        // ORDERING: Acquire, pairs with the Release in unlock [array-called]
        if self.slot(ticket).load(Ordering::Acquire) != ticket {
            return false;
        }
        node.set(ticket);
        // ORDERING: Relaxed, as in lock
        let drawn = self.next.compare_exchange(ticket, ticket.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed);
        drawn.is_ok()
    }

    #[inline]
    unsafe fn unlock(&self, node: &Cell<u32>) {
        let next = node.get().wrapping_add(1);
        // ORDERING: Release, pairs with the Acquire in lock and try_lock [array-called]
        self.slot(next).store(next, Ordering::Release);
    }
}

// SAFETY: it tries again and again.
unsafe impl RawTimed for Array {}

// SAFETY: the node is a number that only its owner reads.
unsafe impl NodeMoves for Array {}
