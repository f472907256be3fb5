//! [`Ticket`]: when to take it, how it works, and its code.

use std::time::Duration;

use corecast_base::sync::{AtomicU32, Ordering, spin_for};
use corecast_base::wait::Spinner;

use crate::auto::Params;
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{NodeMoves, RawLock, RawTimed, Setup};

/// The least time given to each thread ahead: a short section and the transfer of a line.
const SHORTEST_TURN_NS: f64 = 100.0;
/// The same in transfers of a line, where those of the machine are known. Threads that come back before a hand-over is done delay
/// it, and then come back too early the next time, too. On 34 simulated machines with 4 to 256 threads four transfers gave 1.37
/// times the acquisitions of 100 ns in the mean, and 0.97 at worst.
const TURN_LINES: f64 = 4.0;
/// Nobody stays away for longer.
const LONGEST_NS: f64 = 50_000.0;

/// Tickets with proportional back-off: a newcomer draws a number, and waits until it is called.
///
/// Take it where each thread has a CPU and short sections are contended: it is fair, and one line is all it needs. Not
/// with more threads than CPUs: the one whose turn it is may not be running, and nobody can go before it.
///
/// A thread whose turn is far away looks seldom: those ahead of it need about a hand-over each. How long that takes follows from
/// the costs of the process ([`Params`]), if a machine was told: four transfers of a line, within a domain while one
/// has CPUs for all that wait, and among all beyond that. Else, and where more threads wait than there are CPUs, it is 100 ns.
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
                ahead => stay_away(&mut spinner, ahead),
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

/// Stays away for the turns of the threads ahead, at least two, but for the last one of them.
#[cold]
fn stay_away(spinner: &mut Spinner, ahead: u32) {
    let line_ns = Params::of_process().line_among_ns(ahead as usize + 1);
    let away = Duration::from_nanos((f64::from(ahead - 1) * turn_ns(line_ns)).min(LONGEST_NS) as u64);
    spinner.pause_for(away);
    // A spinner that is spent has given way instead. Where each thread has a CPU nobody took it, and a look at the lock costs its
    // holder as much as before.
    if spinner.is_spent() && line_ns.is_some() && !spinner.is_cpu_wanted() {
        spin_for(away);
    }
}

/// Nanoseconds for each thread ahead, by those of a line among all that wait.
fn turn_ns(line_ns: Option<f64>) -> f64 {
    line_ns.map_or(SHORTEST_TURN_NS, |ns| SHORTEST_TURN_NS.max(TURN_LINES * ns))
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn turns_take_four_transfers_but_no_less_than_without_a_machine() {
        assert_eq!([None, Some(15.0), Some(25.0), Some(115.0)].map(turn_ns), [100.0, 100.0, 100.0, 460.0]);
        assert_eq!(Params::ASSUMED.line_among_ns(3), None, "nobody told a machine");
    }
}
