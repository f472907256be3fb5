//! [`Auto`]: when to take it, how it works, and its code.

mod compete;
mod explanation;
mod held;
mod ledger;
mod mode;
mod params;
pub(crate) mod queue;

use std::time::{Duration, Instant};

use corecast_base::sync::{AtomicU32, Ordering, Scope, UnsafeCell, futex_wake};

use crate::facts::{AcquisitionOrder, Facts, NodeKind};
#[cfg(not(loom))]
use crate::patience::Patience;
#[cfg(not(loom))]
use crate::raw::RawConst;
use crate::raw::{LineAligned, NodeMoves, RawLock, RawTimed, Setup};
use compete::Comer;
pub use explanation::{Explanation, Why};
use ledger::{Ledger, TIMED};
pub use mode::Mode;
use mode::{KEPT, LOCKED, PARKED, QUEUED};
pub use params::Params;
use queue::{HandOver, Place, Queue};

const FREE: u32 = 0;
/// A queue hands the lock on this often before a holder looks at the ledger, which lies on the line that newcomers write to.
const MOST_IN_A_ROW: u32 = 32;
/// The mode is Spin, and nobody wants anything of the holder: it frees the lock by a store.
const NOTHING: u32 = 0;
/// The mode is another one.
const MOVED: u32 = 1;
/// The holder should look at its ledger when it frees the lock.
const LOOK: u32 = 2;
/// Somebody has spun for as long as a wake-up costs.
const OVERDUE: u32 = 3;
/// Somebody has, on a CPU that nobody else wants: perhaps the others overtake it again and again.
const STARVED: u32 = 4;
/// As [`STARVED`], of one that has not waited for long yet: sections may take as long.
const OVERTAKEN: u32 = 5;
/// As [`OVERTAKEN`], of one that has been in a crowd at another lock of late.
const CROWDED: u32 = 6;
/// The bits of these seven.
const WANTS: u32 = 7;
/// The bits above them: for how many nanoseconds a thread that finds the lock held stays away.
const BACK_OFF_SHIFT: u32 = 8;

/// The lock that moves between ways to wait.
///
/// Take it unless you know better: with a word of data it is one cache line, costs what a test-and-set costs while nobody else
/// wants it, and finds out how its threads should wait: all at its word ([`Mode::Spin`]), in a queue ([`Mode::Queue`]), or
/// asleep ([`Mode::Park`]).
/// Take another lock where order matters, or where millions of these do not fit.
///
/// Exclusion rests on one word: the thread whose exchange sets its lowest bit is the holder, or the one in the queue to which the
/// holder hands it. All else only says how to wait, and may be late or wrong.
///
/// 1. The exchange that sets LOCKED makes the holder, and in Queue the store by which the first of the queue hands the lock over.
///    While QUEUED is set the first of the queue is the holder: the thread that comes to an empty one has the lock. Its holder
///    takes QUEUED back before it leaves the queue to others than the next holder.
/// 2. While the lock is held and the mode is not Park only the holder writes the word, so it frees it by a plain store.
/// 3. The mode changes only when the holder frees the lock.
/// 4. In Park others set PARKED and NOBARGE, by exchanges of the whole word, and only while it is held.
/// 5. In the queue each node is told something once, by the thread before it: that it is the head, or that it has the lock. A
///    thread that leaves before leaves its node there, for the one before to pass over. The lock is handed only to a thread that
///    is bound to stay until it is told something.
/// 6. A change of mode wakes all who sleep on the word, whether PARKED is set or not.
///
/// Threads leave the queue when they take the lock by its word, and those with a limit always do. Where the process was told a
/// machine of more than two CPUs ([`Params::set_for_process`]), a thread that has a CPU to itself stays there instead while it
/// holds the lock, and hands it to the one behind by a store to the line that this one polls, as in `mcs`: the word stays as it
/// is, and neither thread looks at the lock's own line, to which newcomers write all the time. Each such hand-over saved six
/// moved lines of 16 on simulated machines, and 8 to 256 threads took one lock 2.5 times as often. One with nobody behind leaves
/// the queue empty, and the word as it is: so 18 threads take 12 locks with two exchanges each, as in `mcs`. What an unlock needs
/// is kept with the thread (`held.rs`): so it is this thread that has to unlock. Threads that may not run (their CPU is wanted by
/// others) are made heads as before; those behind a head that does not take a free lock take it themselves after a while. In Park
/// an unlock wakes one sleeper, which competes. Nothing is handed to a thread that is known to sleep; one that naps while it is
/// bound to stay does so for a millisecond at most.
///
/// `tests/locks/auto_states.rs` looks at every state of three threads, with arbitrary changes of mode: from each all can finish,
/// and no longer if a change of mode out of Park wakes only where PARKED is set, if a woken thread takes the lock without PARKED,
/// if one leaves the queue without a word or takes its node along, or if the lock is handed to one that may leave.
///
/// Holders look at what they have seen in windows of 400 us (`ledger/`). A thread that has spun in vain makes the mode Park at
/// once, or Queue, if it had its CPU to itself while the others passed the lock on: 16 threads on 16 CPUs took one lock 1.4 M
/// times a second asleep, 2.9 M times in a queue. A window in which somebody slept favours Park, one in which somebody gave up
/// its CPU Spin, as not all of them run. Where more than two CPUs are there for all that wait in Park, and they have it in quick
/// succession, a queue is tried: on simulated machines 12 to 48 threads that had gone to sleep, as each waited for longer than a
/// wake-up is assumed to take, took the lock up to ten times as often in a queue. There more
/// than two and a half that poll are enough for a try, too.
/// Else the number of waiters follows from how often and for how long they did, and the cost of a hand-over to one of them,
/// in Spin and in Queue, from [`Params`]. A mode that makes the time from one acquisition that waits to the next a fifth
/// shorter, three windows running, is the next one. So long sections, beside which no hand-over matters, do not move it. The
/// estimate is then compared with the observation: a mode that has not made the time shorter is left again, and not tried for
/// a second. Acquisitions that find the lock free are not counted, as that would cost each a store: where one mode lets more
/// of them by than the other, that comparison may be wrong about which has more acquisitions in all.
///
/// In Spin a thread that waits exchanges the word with each of its first looks, as a look that finds it free brings the line
/// twice; and a holder touches the lock's line only to take it and to free it, as the waiting threads take that away at once. So
/// one acquisition in eight looks whether others want something, and stands for eight in the ledger; those that gave up their
/// CPU, slept or stayed away all do. The thread remembers what is wanted, and that it holds locks in other modes; while there is
/// nothing of that, an unlock is a store.
///
/// In Spin the lock tries now and then whether a thread that finds it held should stay away for 20 us, four times at most
/// (`ledger/trial.rs`): that can only be seen in how many acquisitions there are in all, which are counted for the time of the
/// trial. It pays where threads have little to do but to take locks: 2 threads on 2 CPUs that did nothing else took 4 locks six
/// times as often, and waited a quarter of the time on average; one wait in some thousands lasts 20 us or more then. Where they
/// have other things to do it is not taken, and tried for a millisecond in a second.
///
/// Not implemented: queues by cache domain.
///
/// **Progress:** blocking; a waiter may be overtaken, in Queue only while that is empty or its head does not run. The thread that
/// has taken the lock is to free it. **Memory ordering:** that of [`RawLock`].
/// Source: J. Antic, G. Chatzopoulos, R. Guerraoui, V. Trigonakis, Locking Made Easy, 2016, for a lock that changes its
/// mode; J. Mellor-Crummey, M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991, for a queue
/// that hands over; U. Drepper, Futexes Are Tricky, 2004, for sleep.
///
/// ```
/// use corecast_lock::{Auto, Mode, Mutex};
///
/// let mutex: Mutex<u32, Auto> = Mutex::new(7);
/// *mutex.lock() += 1;
/// let stats = mutex.raw().stats();
/// assert_eq!((stats.mode, stats.waits, stats.switches), (Mode::Spin, 0, 0));
/// assert_eq!(mutex.raw().explain().to_string(), "mode spin; 0.0 threads waited at a time\nthe mode has not changed");
/// ```
///
/// A program on a machine that was measured tells its locks what was found, once and for all of them: `Params::of`, with the
/// feature `machine`.
#[derive(Debug)]
#[repr(C)]
pub struct Auto {
    /// LOCKED, PARKED, NOBARGE, QUEUED and the mode. Written by every thread that wants the lock, and by its holder.
    word: AtomicU32,
    /// [`NOTHING`], [`MOVED`], [`LOOK`], [`OVERDUE`], [`STARVED`], [`OVERTAKEN`] or [`CROWDED`], and for how long to
    /// [back off](BACK_OFF_SHIFT). Written by those who wait, and by the holder; only the holder writes [`NOTHING`], and only
    /// when it leaves the lock in Spin. Read by one acquisition in [`TIMED`], and by each that has waited for long.
    want: AtomicU32,
    queue: Queue,
    /// Read and written by the holder.
    ledger: UnsafeCell<Ledger>,
}

#[cfg(not(loom))]
const _: () = assert!(
    size_of::<Auto>() + size_of::<u64>() == corecast_base::LINE_BYTES,
    "a line has room for the lock and a word"
);

// SAFETY: only the holder reaches the ledger, which is made of numbers; the rest are atomics.
unsafe impl Sync for Auto {}

/// The statistics of a lock so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct AutoStats {
    /// How its threads wait now.
    pub mode: Mode,
    /// About how often a thread had to wait for it, from 0 again after `u32::MAX`: one short wait in eight counts for as many.
    /// Acquisitions are not counted: to do so costs a store each.
    pub waits: u32,
    /// How often the mode has changed: 65,535 stands for more as well.
    pub switches: u32,
    /// Whether a thread that finds the lock held stays away for a while, as that was seen to let more acquisitions by.
    pub backs_off: bool,
}

impl Auto {
    /// The statistics so far. Waits for the lock, which must not be held by this thread; the next one counts that too.
    #[must_use]
    pub fn stats(&self) -> AutoStats {
        self.locked(|mode, ledger| {
            let (waits, switches) = (ledger.waits, ledger.switches());
            AutoStats { mode, waits, switches, backs_off: ledger.manner.is_taken() }
        })
    }

    /// Explains the lock to people: how many wait, what each mode would cost, when and why it changed last. Waits for the
    /// lock, which must not be held by this thread; the next [`stats`](Self::stats) counts that too.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.locked(|mode, ledger| ledger.explain(mode, Params::of_process()))
    }

    /// Keeps it in `mode`, where nobody backs off, or lets it choose again. Waits for the lock, which must not be held by this
    /// thread.
    pub fn pin_mode(&self, mode: Option<Mode>) {
        self.locked(|_, ledger| {
            ledger.pin(mode);
            self.want_look();
        });
    }

    fn locked<R>(&self, use_it: impl FnOnce(Mode, &mut Ledger) -> R) -> R {
        // SAFETY: there is no node.
        unsafe { self.lock(&()) };
        // ORDERING: Relaxed, its holder reads what nobody else changes
        let mode = Mode::of(self.word.load(Ordering::Relaxed));
        // SAFETY: the lock is held.
        let result = self.ledger.with_mut(|ledger| use_it(mode, unsafe { &mut *ledger }));
        // SAFETY: locked above.
        unsafe { self.unlock(&()) };
        result
    }

    /// For the holder: this many acquisitions have waited, the last of them for `waited` ticks.
    fn enter_waits(&self, waits: u32, waited: u64, now: u64, has_yielded: bool, has_slept: bool) {
        let is_to_look = self.ledger.with_mut(|ledger| {
            // SAFETY: the caller holds the lock.
            let ledger = unsafe { &mut *ledger };
            ledger.enter_unrun(has_yielded, has_slept);
            let waited = waited.min(ledger.ticks_of_window(now));
            ledger.enter_waits(waits, waited)
        });
        if is_to_look {
            self.want_look();
        }
    }

    /// For the holder. A want of others may be lost: they say it again.
    fn want_look(&self) {
        if held::is_of(self) {
            held::want_look();
        } else {
            held::begin_wanted(self);
        }
        // ORDERING: Relaxed, it publishes nothing
        self.want.store(LOOK, Ordering::Relaxed);
    }

    /// For a thread that finds it held in Spin: for how long to stay away.
    fn back_off(&self) -> Duration {
        // ORDERING: Relaxed, it publishes nothing
        Duration::from_nanos((self.want.load(Ordering::Relaxed) >> BACK_OFF_SHIFT).into())
    }

    /// For a thread that has spun in vain.
    fn ask_to_park(&self) {
        // ORDERING: Relaxed, it publishes nothing
        self.want.store(OVERDUE, Ordering::Relaxed);
    }

    /// For one that has done so on a CPU that nobody else wants: [`STARVED`] or [`OVERTAKEN`].
    fn complain(&self, of: u32) {
        // Each store takes the line from all that poll.
        // ORDERING: Relaxed, it publishes nothing
        if self.want.load(Ordering::Relaxed) & WANTS == of {
            return;
        }
        // ORDERING: Relaxed, it publishes nothing
        self.want.store(of, Ordering::Relaxed);
    }

    /// For the holder that has found the word like this, and whose acquisition stands for this number of them: the next mode.
    fn decide(&self, word: u32, stands_for: u32) -> Mode {
        // ORDERING: Relaxed, it publishes nothing
        let want = self.want.load(Ordering::Relaxed);
        let asked = want & WANTS;
        let (next, is_trial, back_off_ns) = self.ledger.with_mut(|ledger| {
            // SAFETY: the caller holds the lock.
            let ledger = unsafe { &mut *ledger };
            if word & PARKED != 0 {
                ledger.enter_sleeper();
            }
            let next = match asked {
                STARVED | OVERTAKEN | CROWDED => ledger.relieve(Mode::of(word), asked == STARVED, asked == CROWDED),
                _ => ledger.decide(Mode::of(word), asked == LOOK, asked == OVERDUE, stands_for),
            };
            (next, ledger.manner.is_trial(), ledger.back_off_ns())
        });
        // In a trial releases are counted.
        let rest = if next == Mode::Spin && !is_trial { NOTHING } else { MOVED };
        let rest = rest | back_off_ns << BACK_OFF_SHIFT;
        if want != rest {
            // ORDERING: Relaxed, released with the lock; a want that is lost is said again
            self.want.store(rest, Ordering::Relaxed);
        }
        next
    }

    /// Frees the lock where there is something to decide, or somebody to wake or to hand it to.
    #[inline(never)]
    fn unlock_slow(&self) {
        if !held::is_of(self) {
            // ORDERING: Relaxed, nobody but the holder changes the mode
            let word = self.word.load(Ordering::Relaxed);
            if word == LOCKED && !held::end_wanted(self) {
                return self.free_in_spin();
            }
            if word & QUEUED == 0 {
                if word != LOCKED {
                    held::end_by_word();
                }
                return self.free(word, TIMED);
            }
            // It has been moved, and another lock may have been told of what was asked of this one.
            held::want_look();
        }
        self.free_as_first();
    }

    /// Hands the lock, which this thread holds as the first of the queue, to the next one, or leaves the queue empty: then the
    /// next to come has the lock.
    fn free_as_first(&self) {
        let held = held::end(self);
        let place = held.place();
        if held.is_due || held.waits >= MOST_IN_A_ROW {
            return self.free_judged(held.waits, held.waited, place);
        }
        let end = if held::is_to_look(held.waits) {
            self.queue.hand_over_unless_last(place, held.waits)
        } else {
            self.queue.hand_over(place, held.waits)
        };
        match end {
            // A short row that is entered stands for others that are not.
            HandOver::NobodyBehind(place) if held.waits > 0 => {
                self.free_judged(held.waits.max(TIMED), held.waited, place);
            }
            HandOver::NobodyBehind(place) | HandOver::NotTo(place) => {
                self.free_judged(held.waits, held.waited, place);
            }
            HandOver::Done | HandOver::Left => {}
        }
    }

    /// The same, once the ledger has this number of waits in a row.
    fn free_judged(&self, waits: u32, waited: u64, place: Place) {
        // SAFETY: this thread holds the lock.
        if self.ledger.with_mut(|ledger| unsafe { &mut *ledger }.enter_waits(waits, waited)) || waits == 0 {
            self.want_look();
        }
        // ORDERING: Relaxed, nobody but the holder changes the mode
        let word = self.word.load(Ordering::Relaxed);
        let next = self.decide(word, 1);
        let place = match next {
            Mode::Queue => match self.queue.hand_over(place, 0) {
                HandOver::NotTo(place) | HandOver::NobodyBehind(place) => place,
                HandOver::Done | HandOver::Left => return,
            },
            _ => place,
        };
        self.hold_by_word(word);
        self.queue.pass_on(place);
        self.free_to(word, next);
    }

    /// For the first of the queue, which holds the lock and has found the word like this: from now on that is held by the word
    /// alone. Only then may it leave the queue otherwise than to the next holder.
    fn hold_by_word(&self, word: u32) {
        // ORDERING: Relaxed, released by what it leaves the queue with
        self.word.store(word & !QUEUED, Ordering::Relaxed);
    }

    /// For a try that has found the lock with the queue: takes it if nobody is there, and holds it by the word.
    #[cold]
    fn try_as_first(&self) -> Option<u32> {
        let place = self.queue.try_enter()?;
        // ORDERING: Relaxed, the exchange of the tail has acquired it
        let word = self.word.load(Ordering::Relaxed);
        let taken = match word {
            _ if word & QUEUED != 0 => {
                self.hold_by_word(word);
                Some(Mode::Queue.bits())
            }
            _ if word & LOCKED != 0 => None,
            _ => self.take_by_word(word),
        };
        self.queue.pass_on(place);
        taken
    }

    fn take_by_word(&self, word: u32) -> Option<u32> {
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [auto-free]
        self.word.compare_exchange(word, word | LOCKED, Ordering::Acquire, Ordering::Relaxed).ok()
    }

    /// Frees the lock, of which the holder has found the word like this. Its acquisition stands for this number of them.
    fn free(&self, word: u32, stands_for: u32) {
        self.free_to(word, self.decide(word, stands_for));
    }

    /// Frees the lock, with the word like this, to the next mode.
    fn free_to(&self, word: u32, next: Mode) {
        let mode = Mode::of(word);
        if mode == Mode::Park && next == Mode::Park {
            // ORDERING: Release, pairs with the Acquire in lock, try_lock and take [auto-free]
            if self.word.fetch_and(KEPT, Ordering::Release) & PARKED != 0 {
                futex_wake(&self.word, 1, Scope::Process);
            }
            return;
        }
        if mode == Mode::Park {
            // A swap, so that it comes after all bits that others have set, for the model checker too.
            // ORDERING: Release, pairs with the Acquire in lock, try_lock and take [auto-free]
            self.word.swap(next.bits(), Ordering::Release);
        } else {
            // ORDERING: Release, pairs with the Acquire in lock, try_lock and take [auto-free]
            self.word.store(next.bits(), Ordering::Release);
        }
        if next != mode {
            futex_wake(&self.word, u32::MAX, Scope::Process);
        }
    }

    /// Takes the lock if nobody has it, waits for it, or has moved it into another mode.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn take_unwanted(&self) -> bool {
        self.take_in_spin().is_ok()
    }

    /// Takes the lock if nobody has it, waits for it, or has moved it into another mode; or tells its mode, as far as this thread
    /// knows.
    #[inline]
    fn take_in_spin(&self) -> Result<(), Mode> {
        if held::knows(self) {
            return Err(Mode::Queue);
        }
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [auto-free]
        let taken = self.word.compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed);
        taken.map(|_| ()).map_err(Mode::of)
    }

    /// For one in some acquisitions, which has just taken it in Spin: remembers whether it is to be looked at when it is freed.
    /// Not for each, as those who poll take the line away at once.
    #[cold]
    fn note_wants(&self) {
        // ORDERING: Relaxed, the last holder's writes came with the lock
        let want = self.want.load(Ordering::Relaxed);
        held::note_away(self, want >> BACK_OFF_SHIFT);
        if want & WANTS != NOTHING {
            held::begin_wanted(self);
        }
    }

    #[inline]
    fn free_in_spin(&self) {
        // ORDERING: Release, pairs with the Acquire in lock, try_lock and take [auto-free]
        self.word.store(FREE, Ordering::Release);
    }

    /// For one that holds it by its word: frees the lock if there is nothing to decide and nobody to wake; false if not.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn free_unwanted(&self) -> bool {
        // ORDERING: Relaxed, the last holder's writes came with the lock
        let is_unwanted = self.want.load(Ordering::Relaxed) & WANTS == NOTHING;
        if is_unwanted {
            self.free_in_spin();
        }
        is_unwanted
    }

    /// For one that [took it by its word](Self::acquire_by_word): frees it.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn free_by_word(&self) {
        if !self.free_unwanted() {
            self.free_by_word_slow();
        }
    }

    #[cfg(not(loom))]
    #[inline(never)]
    fn free_by_word_slow(&self) {
        // ORDERING: Relaxed, nobody but the holder changes the mode
        self.free(self.word.load(Ordering::Relaxed), 1);
    }

    /// Takes it, if patience suffices, so that its word alone says that it is held: a child of `fork` can free it, too.
    #[cfg(not(loom))]
    #[inline]
    pub(crate) fn acquire_by_word(&self, patience: Patience) -> bool {
        match patience {
            Patience::None => self.try_take().is_some(),
            Patience::Endless => self.take_unwanted() || self.lock_slow_by_word(None),
            Patience::Until(deadline) => {
                self.take_unwanted() || self.lock_slow_by_word(Some(deadline)) || self.try_take().is_some()
            }
        }
    }

    #[cfg(not(loom))]
    #[cold]
    fn lock_slow_by_word(&self, deadline: Option<Instant>) -> bool {
        Comer::by_word(self, deadline).compete()
    }

    /// Takes it if it is free, and returns the word that it had.
    #[inline]
    fn try_take(&self) -> Option<u32> {
        held::settle(self);
        // ORDERING: Acquire, as in lock; Relaxed where it fails, as nothing was taken [auto-free]
        match self.word.compare_exchange(FREE, LOCKED, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Some(FREE),
            Err(word) if word & QUEUED != 0 => self.try_as_first(),
            Err(word) if word & LOCKED != 0 => None,
            Err(word) => self.take_by_word(word),
        }
    }

    #[cold]
    fn lock_slow(&self, mode: Mode, deadline: Option<Instant>) -> bool {
        Comer::new(self, mode, deadline).compete()
    }
}

// SAFETY: exactly one exchange sets LOCKED between two stores without it, which only holders do; Acquire and Release.
unsafe impl RawLock for Auto {
    type Node = ();
    type Alignment = LineAligned;

    const FACTS: Facts = Facts {
        name: "auto",
        about: "moves between polling, a queue and sleep",
        order: AcquisitionOrder::Barging,
        node: NodeKind::Nothing,
        parks: true,
        source: "Antic, Chatzopoulos, Guerraoui, Trigonakis 2016; Drepper 2004",
    };

    fn new(_setup: &Setup) -> Self {
        let ledger = UnsafeCell::new(Ledger::EMPTY);
        Self { word: AtomicU32::new(FREE), want: AtomicU32::new(NOTHING), queue: Queue::new(), ledger }
    }

    #[inline]
    unsafe fn lock(&self, (): &()) {
        if let Err(mode) = self.take_in_spin() {
            self.lock_slow(mode, None);
        } else if held::stands_for_others() {
            self.note_wants();
        }
    }

    #[inline]
    unsafe fn try_lock(&self, (): &()) -> bool {
        match self.try_take() {
            Some(FREE) if held::stands_for_others() => self.note_wants(),
            Some(FREE) => {}
            Some(_) => held::begin_by_word(),
            None => return false,
        }
        true
    }

    #[inline]
    unsafe fn unlock(&self, (): &()) {
        if held::is_nothing_wanted() {
            self.free_in_spin();
        } else {
            self.unlock_slow();
        }
    }
}

// SAFETY: it takes the lock as lock does, or leaves the queue, and the word marked where others may sleep.
unsafe impl RawTimed for Auto {
    unsafe fn lock_until(&self, node: &(), deadline: Instant) -> bool {
        let Err(mode) = self.take_in_spin() else { return true };
        // SAFETY: the caller's promise.
        self.lock_slow(mode, Some(deadline)) || unsafe { self.try_lock(node) }
    }
}

// SAFETY: there is no node.
unsafe impl NodeMoves for Auto {}

#[cfg(not(loom))]
impl RawConst for Auto {
    const INIT: Self = Self {
        word: AtomicU32::new(FREE),
        want: AtomicU32::new(NOTHING),
        queue: Queue::EMPTY,
        ledger: UnsafeCell::new(Ledger::EMPTY),
    };
}
