//! [`RwPhase`]: when to take it, how it works, and its code.

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::Spinner;

#[cfg(not(loom))]
use super::raw::RawRwConst;
use super::raw::{RawRwLock, RawRwTimed, RawRwUpgradable};
use crate::facts::{AcquisitionOrder, Facts, NodeKind};
use crate::raw::Setup;

/// A writer is present.
const PRESENT: u64 = 1;
/// The current phase.
const PHASE: u64 = 2;
const STATE: u64 = PRESENT | PHASE;
/// One reader, above these bits. There are never more than fit: that would be 2^62, also one after the other.
const READER: u64 = 4;

/// Phase-fair tickets: readers and writers take turns, and writers come in the order in which they came.
///
/// Take it where both readers and writers must not wait for long: a reader waits for one writer at most, however many there
/// are, and a writer for one phase of readers per writer before it. Not where reads are short and many threads read at once: each
/// takes the line of the lock away from the others, twice. Not with more threads than CPUs: the one whose turn it is may
/// not be running, and nobody can go before it.
///
/// **How it works.** A reader counts itself in a word whose lowest bits say whether a writer is present and which phase it is,
/// and waits, if one is present, until these bits change: when the writer leaves it turns the phase, so that all who came
/// during its turn go in, even if the next writer is there at once. A writer draws a ticket, waits for its turn, says that it is
/// present, and waits until as many readers have left as came before. The phase is a bit of its own and not of the ticket,
/// as a try may draw a ticket and give it back: with two tickets for one turn, readers would take the next writer for the last.
///
/// A thread that reads must not read again: a writer that came in between waits for the first, and the second for it.
///
/// **Progress:** blocking, by phases. It never sleeps: a waiter that has spun for long gives up its CPU, again and again. A
/// limit makes a thread try again and again, out of all turns. **Memory ordering:** that of [`RawRwLock`].
/// Source: B. Brandenburg, J. Anderson, Spin-Based Reader-Writer Synchronization for Multiprocessor Real-Time Systems, 2010: the
/// phase-fair ticket lock.
///
/// ```
/// use corecast_lock::{RwLock, RwPhase};
///
/// let ages: RwLock<Vec<u32>, RwPhase> = RwLock::from(vec![33]);
/// ages.with_write(|ages| ages.push(34));
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| assert_eq!(ages.read()[1], 34));
///     }
/// });
/// ```
#[derive(Debug)]
#[repr(C, align(32))]
pub struct RwPhase {
    /// The readers that have come, times [`READER`], [`PHASE`] and [`PRESENT`]. Written by readers, and the lowest bits by the
    /// writer whose turn it is.
    came: AtomicU64,
    /// The readers that have left, times [`READER`]. Written by readers.
    left: AtomicU64,
    /// The next ticket to draw. Written by writers.
    next: AtomicU32,
    /// The ticket whose turn it is. Written by the writer that has it.
    turn: AtomicU32,
}

impl RwPhase {
    /// Draws a ticket and waits until its turn comes.
    #[inline]
    fn wait_for_turn(&self) {
        // ORDERING: Relaxed, the last writer's writes come with the turn
        let ticket = self.next.fetch_add(1, Ordering::Relaxed);
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in end_turn [rw-phase-turn]
        while self.turn.load(Ordering::Acquire) != ticket {
            spinner.pause();
        }
    }

    /// Draws a ticket if its turn is now.
    fn try_turn(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in end_turn [rw-phase-turn]
        let ticket = self.turn.load(Ordering::Acquire);
        // Nobody draws this ticket again, so the exchange needs no more than it.
        // ORDERING: Relaxed, as in wait_for_turn
        self.next.compare_exchange(ticket, ticket.wrapping_add(1), Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// For the thread whose turn it is: ends it.
    fn end_turn(&self) {
        // ORDERING: Relaxed, only the thread whose turn it is writes it
        let ticket = self.turn.load(Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in wait_for_turn and try_turn: the next writer comes after the last one's
        // bits, and what it wrote [rw-phase-turn]
        self.turn.store(ticket.wrapping_add(1), Ordering::Release);
    }

    /// For the writer whose turn it is: says that it is present, and waits until all readers that came before have left.
    #[inline]
    fn enter(&self) {
        // ORDERING: Relaxed, readers that come see a bit that publishes nothing; those who have left are in the other word
        let came = self.came.fetch_or(PRESENT, Ordering::Relaxed) & !STATE;
        let mut spinner = Spinner::new();
        while !self.have_left(came) {
            spinner.pause();
        }
    }

    /// For the writer that is present: takes that back and turns the phase, so that the readers that wait go in.
    #[inline]
    fn leave(&self) {
        // ORDERING: Release, pairs with the Acquire in read and try_read [rw-phase-written]
        self.came.fetch_xor(STATE, Ordering::Release);
    }

    /// Whether this number of readers has left.
    fn have_left(&self, readers: u64) -> bool {
        // ORDERING: Acquire, pairs with the Release in unlock_read [rw-phase-left]
        self.left.load(Ordering::Acquire) == readers
    }

    /// For the writer whose turn it is, and before whom no reader is left: says that it is present if none came meanwhile.
    fn enter_at_once(&self) -> bool {
        // ORDERING: Relaxed, the exchange looks again
        let came = self.came.load(Ordering::Relaxed);
        // ORDERING: Relaxed, readers that come see a bit that publishes nothing; those who have left are in the other word
        self.have_left(came & !STATE)
            && self.came.compare_exchange(came, came | PRESENT, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

// SAFETY: each turn is one writer's, which goes in once all readers that came before it said to be present have left, and those
// that come after wait until it has left. No number wraps but tickets, and no 2^32 writers wait.
unsafe impl RawRwLock for RwPhase {
    type Reader = ();

    const FACTS: Facts = Facts {
        name: "rw_phase",
        about: "readers and writers take turns, writers draw tickets",
        order: AcquisitionOrder::Phases,
        node: NodeKind::Nothing,
        parks: false,
        source: "Brandenburg, Anderson 2010",
    };

    fn new(_setup: &Setup) -> Self {
        let (came, left) = (AtomicU64::new(0), AtomicU64::new(0));
        Self { came, left, next: AtomicU32::new(0), turn: AtomicU32::new(0) }
    }

    #[inline]
    fn read(&self) {
        // ORDERING: Acquire, pairs with the Release in unlock_write and downgrade [rw-phase-written]
        let state = self.came.fetch_add(READER, Ordering::Acquire) & STATE;
        if state & PRESENT == 0 {
            return;
        }
        let mut spinner = Spinner::new();
        // ORDERING: Acquire, pairs with the Release in unlock_write and downgrade [rw-phase-written]
        while self.came.load(Ordering::Acquire) & STATE == state {
            spinner.pause();
        }
    }

    #[inline]
    fn try_read(&self) -> Option<()> {
        // ORDERING: Relaxed, the exchange looks again
        let mut came = self.came.load(Ordering::Relaxed);
        while came & PRESENT == 0 {
            // ORDERING: Acquire, pairs with the Release in unlock_write and downgrade; Relaxed where it fails, as nothing was
            // taken [rw-phase-written]
            match self.came.compare_exchange(came, came + READER, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Some(()),
                Err(found) => came = found,
            }
        }
        None
    }

    #[inline]
    unsafe fn unlock_read(&self, (): ()) {
        // ORDERING: Release, pairs with the Acquire in have_left [rw-phase-left]
        self.left.fetch_add(READER, Ordering::Release);
    }

    #[inline]
    fn write(&self) {
        self.wait_for_turn();
        self.enter();
    }

    fn try_write(&self) -> bool {
        let has_turn = self.try_turn();
        let is_in = has_turn && self.enter_at_once();
        if has_turn && !is_in {
            self.end_turn();
        }
        is_in
    }

    #[inline]
    unsafe fn unlock_write(&self) {
        self.leave();
        self.end_turn();
    }

    unsafe fn downgrade(&self) {
        // One step turns the phase, takes back the presence and counts a reader.
        // ORDERING: Relaxed, nobody else writes the lowest bits
        let state = self.came.load(Ordering::Relaxed) & STATE;
        // ORDERING: Release, pairs with the Acquire in read and try_read [rw-phase-written]
        self.came.fetch_add(READER + (state ^ STATE) - state, Ordering::Release);
        self.end_turn();
    }
}

// SAFETY: an upgradable reader has a writer's turn, which keeps writers and others of its kind away until it ends. It is not
// present, which would keep readers away, before it writes.
unsafe impl RawRwUpgradable for RwPhase {
    #[inline]
    fn read_upgradable(&self) {
        self.wait_for_turn();
    }

    #[inline]
    fn try_read_upgradable(&self) -> bool {
        self.try_turn()
    }

    #[inline]
    unsafe fn unlock_upgradable(&self) {
        self.end_turn();
    }

    #[inline]
    unsafe fn upgrade(&self) {
        self.enter();
    }

    unsafe fn try_upgrade(&self) -> bool {
        self.enter_at_once()
    }

    unsafe fn downgrade_upgradable(&self) {
        // ORDERING: Relaxed, the next writer sees it with its turn
        self.came.fetch_add(READER, Ordering::Relaxed);
        self.end_turn();
    }

    unsafe fn downgrade_to_upgradable(&self) {
        self.leave();
    }
}

// SAFETY: it tries again and again.
unsafe impl RawRwTimed for RwPhase {}

#[cfg(not(loom))]
impl RawRwConst for RwPhase {
    const INIT: Self =
        Self { came: AtomicU64::new(0), left: AtomicU64::new(0), next: AtomicU32::new(0), turn: AtomicU32::new(0) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn readers_that_came_during_a_turn_go_in_before_the_next_writer() {
        let lock = RwPhase::new(&Setup::of_threads(3));
        lock.write();
        std::thread::scope(|scope| {
            let (reads, has_read) = std::sync::mpsc::channel();
            scope.spawn({
                let lock = &lock;
                move || {
                    lock.read();
                    reads.send(()).expect("it is awaited");
                    // SAFETY: read above.
                    unsafe { lock.unlock_read(()) };
                }
            });
            let mut spinner = Spinner::new();
            while lock.came.load(Ordering::Relaxed) & !STATE == 0 {
                spinner.pause();
            }
            // Two tries in vain, in between: neither turns the phase.
            assert!(!lock.try_write() && lock.try_read().is_none());
            // SAFETY: written above.
            unsafe { lock.unlock_write() };
            lock.write();
            assert_eq!(has_read.try_recv(), Ok(()), "the second writer went before a reader of the first's turn");
            // SAFETY: written above.
            unsafe { lock.unlock_write() };
        });
        assert!(lock.try_write());
    }

    #[test]
    fn a_try_that_fails_gives_its_ticket_back() {
        let lock = RwPhase::new(&Setup::of_threads(2));
        lock.read();
        assert!(!lock.try_write());
        assert_eq!(lock.came.load(Ordering::Relaxed), READER, "readers see nothing of it");
        // SAFETY: read above.
        unsafe { lock.unlock_read(()) };
        assert!(lock.try_write() && !lock.try_write());
    }
}
