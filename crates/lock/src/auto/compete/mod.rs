//! The wait of a thread that has found the lock held.

mod look;

use std::time::{Duration, Instant};

use corecast_base::Clock;
use corecast_base::sync::{Ordering, Scope, futex_wait, spin_for, spin_hint};
use corecast_base::wait::{ASSUMED_WAKE_COST, LONGEST_SLEEP, Spinner};

use super::held;
use super::ledger::{FEW_CPUS, RELUCTANCE, TIMED};
use super::mode::{LOCKED, Mode, NOBARGE, PARKED, QUEUED};
use super::params::Params;
use super::queue::Place;
use super::{Auto, CROWDED, FREE, OVERTAKEN, STARVED};
use crate::three_states::IS_MODEL;

/// The longest nap of a thread that has spun in vain while nobody is bound to wake it.
const LONGEST_UNCALLED_NAP: Duration = Duration::from_millis(1);
/// A thread that has slept for this time asks newcomers for a moment, and again after twice that, and so on. Each time costs all
/// others up to a wake-up: asked for after 4 ms, by 16 threads on 2 CPUs, half of the acquisitions were lost.
const PATIENCE: Duration = Duration::from_millis(100);
/// A thread that has spun in vain gives up its CPU this often, and for [`YIELDING`] at least, before it asks for sleep. While
/// others have work this passes the time until the holder runs again, and costs less than a sleep: without it 16 threads on
/// 2 CPUs took 16 locks 0.73 times as often.
const YIELDS: u32 = 8;
const YIELDING: Duration = Duration::from_micros(200);
/// One behind the head looks at the word this often while it gives up its CPU: where it finds that free, the head does not run.
const LOOK_YIELDS: u32 = 64;
/// The time of [`YIELDING`] for a thread that has complained of being overtaken meanwhile, as the others may queue by then.
const COMPLAINED: Duration = Duration::from_micros(400);
/// After this time a thread that has queued at another lock of late complains of being overtaken at this one: a crowd that polls
/// makes each hand-over so slow that none of them is served for long.
const EXPECTED: Duration = Duration::from_micros(1);
/// The same of a thread in the queue on a CPU that nobody else wants, where there are more than two: 256 threads that each have
/// the lock for 2 us wait for half a millisecond.
const QUEUED_ALONE: Duration = Duration::from_millis(2);
/// A thread that has stayed away this often polls: the lock may be held for long.
const BACK_OFFS: u32 = 4;
/// A thread at the lock.
pub(super) struct Comer<'a> {
    lock: &'a Auto,
    deadline: Option<Instant>,
    spinner: Spinner,
    place: Option<Place>,
    /// Whether it may stay in the queue until it is told something, and while it holds the lock.
    may_stay: bool,
    /// Whether it frees the lock by the word, too, whatever the thread remembers.
    is_by_word: bool,
    /// Whether it does, and the name of the node before its own then.
    stays: bool,
    before: u32,
    /// Whether it came to an empty queue that had the lock, which it has by that.
    has_come_first: bool,
    has_waited: bool,
    /// How often it has looked by an exchange, and whether the mode was Spin when it looked last.
    exchanges: u32,
    is_spin: bool,
    /// How often it has stayed away for a while.
    back_offs: u32,
    /// How often it has given up its CPU in the place of a sleep.
    yields: u32,
    /// Whether it has complained of being overtaken.
    has_complained: bool,
    /// When it complains of that next before it has waited for long, in ticks; 0 for not before it has given up its CPU.
    complains_at: u64,
    /// Whether it has slept on the word: it may have been woken in another thread's place, and others may sleep.
    has_slept: bool,
    /// When it began to wait, in ticks.
    start: u64,
    /// When it began to wait in the way in which it waits now, a queue or none.
    since: u64,
    /// Ticks after which it asks for a moment; 0 for not yet reckoned.
    patience: u64,
}

impl<'a> Comer<'a> {
    /// One that has just found the lock in this mode, or remembers it so.
    pub(super) fn new(lock: &'a Auto, mode: Mode, deadline: Option<Instant>) -> Self {
        Self {
            lock,
            deadline,
            spinner: Spinner::new(),
            place: None,
            may_stay: deadline.is_none(),
            is_by_word: false,
            stays: false,
            before: 0,
            has_come_first: false,
            has_waited: false,
            exchanges: 0,
            is_spin: mode == Mode::Spin,
            back_offs: 0,
            yields: 0,
            has_complained: false,
            complains_at: 0,
            has_slept: false,
            start: 0,
            since: 0,
            patience: 0,
        }
    }

    /// The same, that leaves the queue when it takes the lock, and does not remember how it did.
    #[cfg(not(loom))]
    pub(super) fn by_word(lock: &'a Auto, deadline: Option<Instant>) -> Self {
        Self { may_stay: false, is_by_word: true, ..Self::new(lock, Mode::Spin, deadline) }
    }

    /// Takes the lock, or gives up at the deadline.
    pub(super) fn compete(mut self) -> bool {
        if held::is_queued_at(self.lock) {
            self.queue_at_once();
        }
        loop {
            if let Some(waits) = self.handed() {
                self.begin_as_first(waits);
                return true;
            }
            if self.has_come_first {
                self.begin_as_found();
                return true;
            }
            // One that is bound to stay need not know the word, on whose line newcomers write.
            if !self.may_leave() && !self.spinner.is_spent() {
                self.await_turn();
                continue;
            }
            let Some(word) = self.look() else {
                self.begin(FREE, false);
                return true;
            };
            if self.is_to_enter(word) {
                self.enter_queue();
                continue;
            }
            let stays = self.is_to_stay(word);
            if Mode::of(word) != Mode::Queue {
                held::forget(self.lock);
            }
            if self.may_take(word) && self.take(word, stays) {
                self.begin(word, stays);
                return true;
            }
            if !self.wait(word) {
                self.leave_queue();
                return false;
            }
        }
    }

    /// For one that has been in the queue of late: the word need not be asked.
    fn queue_at_once(&mut self) {
        if !self.may_stay {
            return held::forget(self.lock);
        }
        self.enter_queue();
    }

    /// How many have had the lock in a row, if it was handed to this one.
    fn handed(&self) -> Option<u32> {
        self.place.as_ref().filter(|_| self.stays).and_then(Place::handed)
    }

    /// It has taken the lock, whose word was this, perhaps to stay in the queue as its first.
    fn begin(&mut self, word: u32, stays: bool) {
        if stays {
            return self.begin_as_first(0);
        }
        self.leave_queue();
        let is_short = word == FREE && self.yields == 0 && !self.has_slept && self.back_offs == 0;
        let is_entered = !is_short || held::stands_for_others();
        if is_entered && self.has_waited {
            let now = Clock::get().ticks();
            let waits = if is_short { TIMED } else { 1 };
            let waited = now.saturating_sub(self.start);
            self.lock.enter_waits(waits, waited, now, self.has_yielded_to_others(), self.has_slept);
        }
        match word {
            _ if self.is_by_word => {}
            FREE if is_entered => self.lock.note_wants(),
            FREE => {}
            _ => held::begin_by_word(),
        }
    }

    /// It has come first, and has the lock.
    fn begin_as_found(&mut self) {
        if !self.stays {
            // ORDERING: Relaxed, only the holder writes it
            self.lock.hold_by_word(self.lock.word.load(Ordering::Relaxed));
        }
        self.begin(Mode::Queue.bits(), self.stays);
    }

    /// It has the lock, and stays in the queue as its first. This many have had it in a row before.
    fn begin_as_first(&mut self, waits: u32) {
        let Some(place) = &self.place else { return };
        if !self.has_waited {
            return held::begin(self.lock, place, waits, 0, false);
        }
        let clock = Clock::get();
        let now = clock.ticks();
        let waited = now.saturating_sub(self.start);
        if waits > 0 {
            held::expect_crowd(now + clock.ticks_in(RELUCTANCE));
        }
        let has_yielded = self.has_yielded_to_others();
        let is_due = has_yielded || self.has_slept;
        if is_due {
            self.lock.enter_waits(1, waited, now, has_yielded, self.has_slept);
        }
        held::begin(self.lock, place, waits + u32::from(!is_due), waited, is_due);
    }

    /// Whether it stays in the queue, as the first, when it takes the lock from a word like this.
    fn is_to_stay(&self, word: u32) -> bool {
        self.stays && self.is_head() && Mode::of(word) == Mode::Queue
    }

    /// Whether it enters the queue before it has tried to take the lock, free or not: then it can hand it on to the one behind.
    fn is_to_enter(&self, word: u32) -> bool {
        Mode::of(word) == Mode::Queue && self.place.is_none() && self.can_stay()
    }

    fn has_yielded_to_others(&self) -> bool {
        self.yields > 0 && !self.has_cpu_alone()
    }

    /// Whether it may leave the queue without the lock: one that is bound to stay has to be told first.
    fn may_leave(&self) -> bool {
        !self.stays || self.place.is_none() || self.is_head()
    }

    /// Whether it is this one's turn to try, as far as there are turns.
    fn may_take(&self, word: u32) -> bool {
        if word & LOCKED != 0 {
            return false;
        }
        match (Mode::of(word), &self.place) {
            (Mode::Spin, _) => true,
            (Mode::Queue, None) => self.lock.queue.is_empty(),
            // Where the lock is free and the head has not taken it for so long, the head does not run.
            (Mode::Queue, Some(place)) => place.is_head() || self.spinner.is_spent(),
            (Mode::Park, _) => word & NOBARGE == 0 || self.has_slept || self.spinner.is_spent(),
        }
    }

    fn take(&self, word: u32, stays: bool) -> bool {
        let others_may_sleep = self.has_slept && Mode::of(word) == Mode::Park;
        // Those who came have left a moment: once for each time that somebody asked.
        let held = word & !NOBARGE | LOCKED | if others_may_sleep { PARKED } else { 0 };
        let held = held | if stays { QUEUED } else { 0 };
        // ORDERING: Acquire, pairs with the Release in unlock; Relaxed where it fails, as nothing was taken [auto-free]
        self.lock.word.compare_exchange(word, held, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Waits for a moment, or sleeps; false to give up.
    fn wait(&mut self, word: u32) -> bool {
        if !self.has_waited {
            self.begin_to_wait();
        }
        let mode = if self.may_leave() { Mode::of(word) } else { Mode::Queue };
        if mode != Mode::Queue && self.place.is_some() {
            self.leave_queue();
            held::forget(self.lock);
        }
        match mode {
            Mode::Spin => self.poll(word),
            Mode::Queue => self.queue(word),
            Mode::Park => self.park(word),
        }
    }

    fn begin_to_wait(&mut self) {
        self.has_waited = true;
        self.start = Clock::get().ticks();
        self.since = self.start;
        if held::expects_crowd(self.start) {
            self.complains_at = self.start + Clock::get().ticks_in(EXPECTED);
        }
    }

    /// For one that [may](Self::may_leave), or has the lock.
    fn leave_queue(&mut self) {
        let may_leave = self.may_leave();
        if let Some(place) = self.place.take() {
            if !may_leave {
                self.lock.queue.unbind(&place, self.before);
            }
            self.stays = false;
            self.lock.queue.quit(place);
        }
    }

    /// Polls the word, and naps where that is no longer worth it.
    fn poll(&mut self, word: u32) -> bool {
        let Some(left) = self.left() else { return false };
        self.complain_early();
        if word & LOCKED != 0 && self.spinner.is_spent() && self.has_yielded() {
            if self.complains() {
                return true;
            }
            self.lock.ask_to_park();
            self.has_slept = true;
            futex_wait(&self.lock.word, word, left.min(LONGEST_UNCALLED_NAP), Scope::Process);
            return true;
        }
        let back_off = if word & LOCKED == 0 || self.back_offs == BACK_OFFS {
            Duration::ZERO
        } else if self.is_to_exchange() {
            held::away(self.lock)
        } else {
            self.lock.back_off()
        };
        if back_off.is_zero() {
            self.spinner.pause();
        } else {
            self.back_offs += 1;
            spin_for(left.min(back_off));
        }
        true
    }

    /// Complains of being overtaken, once, unless its yields have let another thread run: then not all of them run.
    fn complains(&mut self) -> bool {
        if self.has_complained || self.spinner.is_cpu_wanted() {
            return false;
        }
        self.has_complained = true;
        self.lock.complain(STARVED);
        true
    }

    /// Complains where a yield has shown that nobody else wants this CPU, or where the thread expects a crowd, and again after
    /// twice the time: the holder that hears the first of those who have come together may have seen nothing yet.
    fn complain_early(&mut self) {
        let is_early = self.yields == 0 && self.complains_at == 0;
        if is_early || self.place.is_some() || !self.has_cpu_alone() {
            return;
        }
        let now = Clock::get().ticks();
        if now >= self.complains_at {
            self.complains_at = now + now.saturating_sub(self.since);
            self.lock.complain(if held::expects_crowd(now) { CROWDED } else { OVERTAKEN });
        }
    }

    /// Whether nobody else wanted its CPU when it gave that up, on a machine where that is no chance: with two CPUs all others
    /// but the holder may be asleep.
    fn has_cpu_alone(&self) -> bool {
        !self.spinner.is_cpu_wanted() && Params::of_process().cpus() > FEW_CPUS
    }

    /// Gives up the CPU, unless it has done so often enough.
    fn has_yielded(&mut self) -> bool {
        let clock = Clock::get();
        let waited = clock.ticks().saturating_sub(self.since);
        let enough = if self.has_complained { COMPLAINED } else { YIELDING };
        // A queue of many threads takes its time, and those in it are passed by nobody.
        let enough = if self.place.is_some() && waited >= clock.ticks_in(enough) && self.has_cpu_alone() {
            QUEUED_ALONE
        } else {
            enough
        };
        let is_enough = self.yields >= YIELDS && waited >= clock.ticks_in(enough);
        if !is_enough {
            self.yields += 1;
            self.spinner.pause();
        }
        is_enough
    }

    /// Polls the word as the head, and the own node as another one.
    fn queue(&mut self, word: u32) -> bool {
        if self.place.is_none() {
            self.enter_queue();
            return true;
        }
        if self.is_head() {
            return self.poll(word);
        }
        self.await_turn()
    }

    /// Polls its own node, and naps where that is no longer worth it; false to give up.
    fn await_turn(&mut self) -> bool {
        // Those before it would have to wake each other in turn, all asleep, if it slept as soon as it has spun for a wake-up.
        while !self.spinner.is_spent() || !IS_MODEL && !self.has_yielded() {
            if self.left().is_none() {
                return false;
            }
            if !self.spinner.is_spent() {
                self.spinner.pause();
            }
            if self.handed().is_some() || self.yields % LOOK_YIELDS == LOOK_YIELDS - 1 {
                return true;
            }
            if self.is_head() {
                // The time before was spent on others.
                self.spinner = Spinner::new();
                return true;
            }
        }
        let Some(left) = self.left() else { return false };
        self.lock.ask_to_park();
        let Some(place) = &self.place else { return true };
        // The lock is not handed to one that sleeps, which would keep all others waiting meanwhile.
        self.lock.queue.unbind(place, self.before);
        place.nap(left.min(LONGEST_UNCALLED_NAP));
        if self.stays {
            self.lock.queue.bind(place, self.before);
        }
        true
    }

    fn enter_queue(&mut self) {
        self.stays = self.can_stay();
        let (place, before) = self.lock.queue.enter_as(self.stays);
        (self.place, self.before) = (Some(place), before);
        // ORDERING: Relaxed, the exchange of the tail has acquired it
        self.has_come_first = before == 0 && self.lock.word.load(Ordering::Relaxed) & QUEUED != 0;
        if self.has_waited {
            // That it was overtaken, or slept, before says nothing of the queue.
            (self.spinner, self.yields, self.has_complained) = (Spinner::new(), 0, false);
            self.since = Clock::get().ticks();
        } else if !self.is_head() {
            self.begin_to_wait();
        }
    }

    /// Whether it may stay in the queue until it is told something, and while it holds the lock.
    fn can_stay(&self) -> bool {
        self.may_stay && held::is_free() && (IS_MODEL || self.has_cpu_alone())
    }

    fn is_head(&self) -> bool {
        self.place.as_ref().is_some_and(Place::is_head)
    }

    /// Polls the word for as long as that is worth it, and sleeps.
    fn park(&mut self, word: u32) -> bool {
        let left = self.left();
        if left.is_none() && !self.has_slept {
            return false;
        }
        if self.is_to_spin() {
            spin_hint();
            return true;
        }
        // In a model threads sleep at once where somebody wakes them, and never where nobody does.
        let may_sleep = left.is_none() || IS_MODEL || self.spinner.is_spent();
        if word & LOCKED == 0 || !may_sleep {
            self.spinner.pause();
            return true;
        }
        // A thread that gives up may have been woken in the place of another: so that bit stays for them.
        let marked = match left {
            Some(_) if self.is_impatient() => word | PARKED | NOBARGE,
            _ => word | PARKED,
        };
        // ORDERING: Relaxed, the bits publish nothing
        let exchange = || self.lock.word.compare_exchange(word, marked, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if word != marked && !exchange() {
            return true;
        }
        let Some(left) = left else { return false };
        self.has_slept = true;
        futex_wait(&self.lock.word, marked, left, Scope::Process);
        true
    }

    /// Whether it spins first though its CPU is wanted: where there are more than two the holder may run on another one, and a
    /// section is shorter than a switch.
    fn is_to_spin(&self) -> bool {
        let clock = Clock::get();
        let may_run = self.spinner.is_spent() && self.place.is_none() && Params::of_process().cpus() > FEW_CPUS;
        may_run && clock.ticks().saturating_sub(self.since) < clock.ticks_in(ASSUMED_WAKE_COST)
    }

    /// Whether it has slept for so long that it asks newcomers for a moment, once more.
    fn is_impatient(&mut self) -> bool {
        let clock = Clock::get();
        if self.patience == 0 {
            self.patience = clock.ticks_in(PATIENCE).max(1);
        }
        let is_impatient = clock.ticks().saturating_sub(self.start) >= self.patience;
        if is_impatient {
            self.patience *= 2;
        }
        is_impatient
    }

    /// For how long it may sleep at once; `None` if its time is over.
    fn left(&self) -> Option<Duration> {
        let Some(deadline) = self.deadline else { return Some(LONGEST_SLEEP) };
        let left = deadline.saturating_duration_since(Instant::now());
        (!left.is_zero()).then_some(left)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::super::MOVED;
    use super::super::ledger::Manner;
    use super::*;
    use crate::raw::{RawLock, Setup};

    /// One that somebody holds, and at which newcomers are to do this.
    fn held_with(manner: Manner) -> Auto {
        let lock = Auto::new(&Setup::default());
        lock.locked(|_, ledger| {
            ledger.manner = manner;
            ledger.begin_window(Clock::get().ticks());
            // ORDERING: Relaxed, only this thread has the lock
            lock.want.store(MOVED, Ordering::Relaxed);
            held::begin_wanted(&lock);
        });
        // SAFETY: there is no node.
        assert!(unsafe { lock.try_lock(&()) });
        lock
    }

    #[test]
    fn a_newcomer_stays_away_some_times_and_polls_then() {
        let lock = held_with(Manner::BacksOff);
        assert_eq!(lock.back_off(), Duration::from_micros(20));
        // As the thread has read when it had the lock.
        held::note_away(&lock, 20_000);
        let mut comer = Comer::new(&lock, Mode::Spin, None);
        let start = Instant::now();
        let stayed: Vec<u32> = (0..6).map(|_| (comer.poll(LOCKED), comer.back_offs).1).collect();
        assert_eq!(stayed, [1, 2, 3, 4, 4, 4]);
        assert!(start.elapsed() >= Duration::from_micros(80));
        assert!(lock.free_unwanted(), "nothing is wanted of the holder for that");
    }

    #[test]
    fn a_newcomer_polls_at_once_where_nobody_backs_off_or_its_time_is_over() {
        for manner in [Manner::Polls, Manner::ChecksPolling] {
            let lock = held_with(manner);
            let mut comer = Comer::new(&lock, Mode::Spin, None);
            assert!(comer.poll(LOCKED));
            assert_eq!(comer.back_offs, 0, "{manner:?}");
            assert_eq!(lock.free_unwanted(), manner == Manner::Polls, "in a trial each release is counted");
        }
        let lock = held_with(Manner::BacksOff);
        assert!(!Comer::new(&lock, Mode::Spin, Some(Instant::now())).poll(LOCKED));
    }
}
