//! The word that a waiter sleeps on and a publisher wakes.
//!
//! The publisher pays one fence that is normally free (`sync/membarrier.rs`) and one load of a line that is not written
//! while no thread sleeps. The protocol, between a publisher P and a sleeper S:
//!
//! ```text
//! P: publish; light fence; if armed has any flag:
//!    real fence; if armed has HERE or ELSEWHERE: armed &= !(HERE | ELSEWHERE); for each flag that it had:
//!      HERE: advance this word's event count, wake all sleepers on it
//!      ELSEWHERE: advance the parker that the word forwards to, wake all sleepers on that
//!    else, for the 256th time in a row: clear ASKED and FENCED and begin the next epoch, unless the word has changed
//! S: seen = event count; armed |= HERE | ASKED
//!    it had FENCED: real fence; else: heavy fence; armed |= FENCED, unless its epoch is over
//!    look once more; nothing: sleep until the count differs from seen
//!    (a thread that waits on several words sleeps on a parker: seen = its count; armed |= ELSEWHERE at each; heavy fence; ..)
//! ```
//! The fences forbid that P misses `armed` *and* S misses the message. Only the publisher that clears HERE pays for the
//! wake-up, so a stream of messages to a thread that is still getting up costs one system call. The count is read before
//! arming: a publisher that clears HERE after that advances the count after that, so a sleep with HERE cleared returns at
//! once. (Reading it after arming loses a wake-up: a publisher of another message may clear and advance in between. The
//! model found it.) Another sleeper on the same word whose message has not arrived wakes too, and arms again before it
//! looks again.
//!
//! **ASKED and FENCED.** The heavy fence interrupts every CPU on which the process runs: 6 us on a virtual machine, more
//! than the rest of a sleep. Beside foreign threads, where sleeping is the rule, it made a barrier of 4 on 2 CPUs 2 to 10
//! times as slow as one of `std`. So the first sleeper asks publishers for a real fence (ASKED). Once its heavy fence has
//! shown that to all of them, it says so (FENCED), and later sleepers execute an ordinary fence. Publishers that find no
//! sleeper for a while end this, also if the sleeper that asked was killed before it could promise. The epoch keeps a
//! sleeper from promising for publishers that have gone back meanwhile.
//!
//! Model-checked in `tests/loom.rs`, where both sides fence, and in `tests/base/wake_model.rs`, where stores are kept back
//! and the heavy fence works as on the machine.

use std::fmt;
use std::time::Duration;

use super::parker::{Parker, wake_parker};
use super::process_parkers::Parkers;
use super::{SleepOutcome, SleepPlace, Wait};
use crate::CacheLine;
use crate::place::{Place, Shareable};
use crate::sync::{AtomicU32, EventCount, Fences, Ordering, Scope};

/// A thread sleeps on the word itself.
const HERE: u32 = 1;
/// A thread sleeps on the parker that the word forwards to.
const ELSEWHERE: u32 = 2;
/// A sleeper has asked the publishers for a real fence.
const ASKED: u32 = 4;
/// Each publisher is known to have seen that, so that sleepers need no heavy fence.
const FENCED: u32 = 8;
/// The number of times the publishers have gone back to the light fence, in the bits from this one on.
const EPOCH: u32 = 16;

const SLEEPERS: u32 = HERE | ELSEWHERE;
const FLAGS: u32 = EPOCH - 1;

/// After this many publications in a row that find no sleeper, the publishers go back to the light fence: their real fences
/// have then cost about as much as the heavy one of the sleeper.
const QUIET_PUBLICATIONS: u32 = 256;

/// The memory of a wake word. Zeroes are a word that no thread sleeps on.
#[derive(Debug, Default)]
#[repr(C)]
pub struct WakeCell {
    /// Tells whether a thread may sleep: [`HERE`], [`ELSEWHERE`], set by sleepers, cleared by the publisher that wakes
    /// them. Tells how publishers and sleepers fence: [`ASKED`], [`FENCED`], set by sleepers, cleared by the publisher that
    /// begins the next [`EPOCH`].
    armed: AtomicU32,
    /// Advanced by publishers, slept on by waiters.
    count: EventCount,
    /// The number of a parker and one, 0 for none. Written by a thread that waits on several words, read by publishers.
    forward: AtomicU32,
    /// Publications in a row that executed a real fence without a sleeper. Written by publishers; a lost count is harmless.
    quiet: AtomicU32,
}

// SAFETY: four atomic integers, laid out as C does.
unsafe impl Shareable for WakeCell {}

/// One sleeping place, for one thread or for all that wait for the same thing. A clone is the same place.
#[derive(Clone)]
pub struct WakeWord {
    /// The fences of publishers and sleepers; `None` if no thread ever sleeps here, so that none needs to be woken.
    fences: Option<Fences>,
    scope: Scope,
    cell: Place<CacheLine<WakeCell>>,
    /// The parkers that the word may forward to.
    parkers: Parkers,
    /// The parker of this process among them; `None` where each sleeper takes one of its own.
    own_parker: Option<u32>,
}

impl WakeWord {
    /// A word for threads of this process that wait as `policy` says. With a policy that never sleeps, notifying costs
    /// nothing.
    #[must_use]
    pub fn new(policy: Wait) -> Self {
        Self::of_threads(policy, Place::new(CacheLine::new(WakeCell::default())))
    }

    /// As [`new`](Self::new), in memory that the caller has.
    #[must_use]
    pub fn of_threads(policy: Wait, cell: Place<CacheLine<WakeCell>>) -> Self {
        Self {
            fences: policy.sleeps().then(|| Fences::of(Scope::Process)),
            scope: Scope::Process,
            cell,
            parkers: super::process_parkers::all(),
            own_parker: None,
        }
    }

    /// A word in memory that several processes share. All of them use these fences, `None` if none of them ever sleeps, and
    /// these parkers, of which `own_parker` is the one of this process.
    #[must_use]
    pub fn within(cell: Place<CacheLine<WakeCell>>, parkers: Parkers, own_parker: u32, fences: Option<Fences>) -> Self {
        Self { fences, scope: Scope::Machine, cell, parkers, own_parker: Some(own_parker) }
    }

    /// A parker that this word can forward to, for a thread that waits on several words: that of this process in the memory
    /// of the word, or one taken for the caller. `None` if the number of this process is the number of no parker there.
    #[must_use]
    pub fn parker(&self) -> Option<Parker> {
        match self.own_parker {
            Some(number) => Parker::within(self.parkers.clone(), number),
            None => Some(Parker::of_this_process()),
        }
    }

    /// True if the word can forward to `parker`, and `parker` is not one of another memory.
    #[must_use]
    pub fn reaches(&self, parker: &Parker) -> bool {
        parker.is_among(&self.parkers)
    }

    /// Wakes the threads that sleep here. Call it after publishing what they wait for.
    #[inline(always)]
    pub fn notify(&self) {
        if self.is_armed() {
            self.wake([&self.cell.forward]);
        }
    }

    /// As [`notify`](Self::notify), where several threads wait here and each may sleep on a parker of its own: `forwards`
    /// are the words that they gave to [`arm_for`](Self::arm_for).
    #[inline(always)]
    pub fn notify_all<'a>(&self, forwards: impl IntoIterator<Item = &'a AtomicU32>) {
        if self.is_armed() {
            self.wake(forwards);
        }
    }

    #[inline(always)]
    fn is_armed(&self) -> bool {
        let Some(fences) = self.fences else { return false };
        fences.light();
        // ORDERING: Relaxed, the fences order it against the publication before it and the sleeper's last look
        self.cell.armed.load(Ordering::Relaxed) & FLAGS != 0
    }

    #[cold]
    fn wake<'a>(&self, forwards: impl IntoIterator<Item = &'a AtomicU32>) {
        if let Some(fences) = self.fences {
            fences.equal();
        }
        // ORDERING: Relaxed, the fence orders it against the publication and the sleeper's last look
        let armed = self.cell.armed.load(Ordering::Relaxed);
        if armed & SLEEPERS == 0 {
            return self.count_quiet(armed);
        }
        // ORDERING: Relaxed, a count of publishers alone
        self.cell.quiet.store(0, Ordering::Relaxed);
        // ORDERING: Acquire, pairs with the Release in arm_for: the publisher that clears the flag knows the parker
        // [forward]
        let armed = self.cell.armed.fetch_and(!SLEEPERS, Ordering::Acquire);
        if armed & HERE != 0 {
            self.cell.count.advance(self.scope);
        }
        if armed & ELSEWHERE != 0 {
            for forward in forwards {
                // ORDERING: Relaxed, see the line that cleared the flags
                wake_parker(&self.parkers, forward.load(Ordering::Relaxed), self.scope);
            }
        }
    }

    /// No thread sleeps. After many such publications the publishers go back to the light fence; sleepers see that by the
    /// epoch.
    fn count_quiet(&self, armed: u32) {
        let WakeCell { quiet, armed: word, .. } = &**self.cell;
        // ORDERING: Relaxed, a count of publishers alone
        let count = quiet.load(Ordering::Relaxed).wrapping_add(1);
        let is_enough = count >= QUIET_PUBLICATIONS;
        // ORDERING: Relaxed, a count of publishers alone
        quiet.store(if is_enough { 0 } else { count }, Ordering::Relaxed);
        if is_enough {
            let next = (armed & !FLAGS).wrapping_add(EPOCH);
            // ORDERING: Relaxed, the word says everything: a sleeper that comes later asks again
            let _ = word.compare_exchange(armed, next, Ordering::Relaxed, Ordering::Relaxed);
        }
    }

    /// Announces a sleeper on this word, and orders that before its last look.
    fn arm(&self, fences: Fences) {
        let armed = &self.cell.armed;
        let asks = if fences.is_asymmetric() { ASKED } else { 0 };
        // ORDERING: Relaxed, a fence below orders it before the look, and the Acquire in now orders it after the count
        let before = armed.fetch_or(HERE | asks, Ordering::Relaxed);
        if before & FENCED != 0 {
            return fences.equal();
        }
        fences.heavy();
        if fences.is_asymmetric() {
            self.promise(before & !FLAGS);
        }
    }

    /// Says that each publisher has seen that it is asked for a real fence, unless the epoch is over.
    fn promise(&self, epoch: u32) {
        let word = &self.cell.armed;
        // ORDERING: Relaxed, the heavy fence before it reached all publishers [asymmetric]
        let mut armed = word.load(Ordering::Relaxed);
        while armed & !FLAGS == epoch && armed & FENCED == 0 {
            // ORDERING: Relaxed, the heavy fence before it reached all publishers
            match word.compare_exchange(armed, armed | FENCED, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => armed = now,
            }
        }
    }

    /// The word that tells publishers which parker to wake, where one thread waits.
    #[must_use]
    pub fn forward(&self) -> &AtomicU32 {
        &self.cell.forward
    }

    /// The number of times that a publisher has had the system wake those that slept on the word itself, modulo 2^32.
    #[must_use]
    pub fn wake_calls(&self) -> u32 {
        self.cell.count.now()
    }

    /// Asks publishers to wake the parker with this number, next time. The caller has read the parker's count before.
    /// Before it sleeps there, it calls [`heavy_fence`](Self::heavy_fence) and looks once more for all it waits for.
    pub fn arm_for(&self, forward: &AtomicU32, parker: u32) {
        // ORDERING: Relaxed, released by the next line
        forward.store(parker + 1, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in wake: the publisher that clears this flag wakes that parker
        // [forward]
        self.cell.armed.fetch_or(ELSEWHERE, Ordering::Release);
    }

    /// The sleeper's fence between arming and its last look; one for all words of the same fences.
    ///
    /// # Panics
    /// If the word was made for a policy that never sleeps: nobody would wake this thread.
    pub fn heavy_fence(&self) {
        self.fences.expect(NEVER_SLEEPS).heavy();
    }
}

const NEVER_SLEEPS: &str = "a wake word made for a policy that never sleeps must not be slept on";

impl SleepPlace for WakeWord {
    /// # Panics
    /// If the word was made for a policy that never sleeps: nobody would wake this thread.
    fn sleep_unless(&self, longest: Duration, has_come: &mut dyn FnMut() -> bool) -> Option<SleepOutcome> {
        let fences = self.fences.expect(NEVER_SLEEPS);
        let seen = self.cell.count.now();
        self.arm(fences);
        (!has_come()).then(|| SleepOutcome::of(self.cell.count.wait(seen, longest, self.scope)))
    }
}

impl fmt::Debug for WakeWord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WakeWord({:p})", &*self.cell)
    }
}
