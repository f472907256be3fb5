//! Threads that do the same thing again and again on a simulated machine, for a time of which a part counts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering, spin_hint};
use corecast_sim_core::{Counts, Machine, Run, Thread, Ticks};

use crate::error::SimError;
use crate::random::Random;

/// Threads begin within this time.
const MOST_BEGIN_NS: u64 = 1000;
/// A run is given up after this multiple of its time, and of the time that a first thread may take to set up: the last round of
/// each thread may take long.
const PATIENCE: u64 = 1000;
const MOST_SET_UP_NS: u64 = 10_000_000;

/// The threads, and how long they go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// On the first CPUs of the machine, one on each.
    pub(crate) threads: usize,
    /// The virtual time before rounds count, from when the first thread has begun.
    pub(crate) warm_up_us: u64,
    /// The virtual time after it in which rounds count.
    pub(crate) duration_us: u64,
    /// The seed of the threads' begins and of what they draw.
    pub(crate) seed: u64,
}

/// The rounds of a thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// All, with those of the warm-up.
    pub(crate) all: u64,
    /// Those that ended in the time that counts.
    pub(crate) counted: u64,
    /// Those of these that did what they were for.
    pub(crate) succeeded: u64,
    /// As those, with those of the warm-up.
    pub(crate) all_succeeded: u64,
}

/// The outcome of all threads.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Played {
    pub(crate) tallies: Vec<Tally>,
    /// The time in which rounds counted.
    pub(crate) ns: f64,
    pub(crate) counts: Counts,
}

impl Played {
    /// The sum over all threads.
    pub(crate) fn sum(&self, of: impl Fn(&Tally) -> u64) -> u64 {
        self.tallies.iter().map(of).sum()
    }
}

/// The others wait until the first thread has set up what all use, so that all of it lies at its node.
#[derive(Debug, Default)]
pub(crate) struct SetUp {
    /// 1 once it is there. Written by the first thread, polled by the others.
    is_ready: CacheLine<AtomicU64>,
}

impl SetUp {
    /// For each thread: the first one calls `set_up`, which waits for its stores.
    pub(crate) fn by_first(&self, me: &Thread, cpu: usize, set_up: impl FnOnce()) {
        if cpu == 0 {
            set_up();
            me.wait_for_stores();
            // ORDERING: Release, pairs with the Acquire of the others below [set-up]
            self.is_ready.store(1, Ordering::Release);
        }
        // ORDERING: Acquire, pairs with the Release of the first thread above [set-up]
        while self.is_ready.load(Ordering::Acquire) == 0 {
            spin_hint();
        }
    }
}

/// The right to play: statics of the protocols belong to one run at a time, as simulated threads change them by accesses that are
/// no atomics of the host. The programs of this crate take it; a test that makes a [`Run`](crate::machine::Run) of its own
/// does, too, before it makes what the threads share.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A run that panicked leaves no more behind than one that ended.
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Rounds {
    /// Plays. Each thread makes a state by `begin`, and calls `round` on it until the end; that says whether a round did what it
    /// was for. Times count from when the first thread has made its state.
    ///
    /// # Errors
    /// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Stopped`] if a run has no outcome, [`SimError::Stack`] if
    /// there is no memory for a thread.
    pub(crate) fn play<S: 'static>(
        self,
        machine: &Machine,
        begin: impl Fn(&Thread, usize) -> S + 'static,
        round: impl Fn(&Thread, &mut S, &mut Random) -> bool + 'static,
    ) -> Result<Played, SimError> {
        let Self { threads, seed, .. } = self;
        if threads == 0 || threads > machine.cpus() {
            return Err(SimError::Threads { threads, cpus: machine.cpus() });
        }
        let tallies = Rc::new(RefCell::new(vec![Tally::default(); threads]));
        let window = Rc::new(self.window(machine));
        let calls = Rc::new((begin, round));
        let mut run = Run::new(machine);
        for cpu in 0..threads {
            let (calls, tallies, window) = (Rc::clone(&calls), Rc::clone(&tallies), Rc::clone(&window));
            let mut random = Random::new(seed.wrapping_add(cpu as u64));
            let begin = machine.ticks(random.below(MOST_BEGIN_NS));
            let body = move |me: &Thread| {
                let mut state = calls.0(me, cpu);
                if cpu == 0 {
                    window.first.set(Some(me.now()));
                }
                let tally = window.rounds(me, |me| calls.1(me, &mut state, &mut random));
                tallies.borrow_mut()[cpu] = tally;
            };
            run.spawn(cpu, begin, body).map_err(SimError::stack)?;
        }
        let Window { warm_up, duration, .. } = *window;
        let report = run.finish((machine.ticks(MOST_SET_UP_NS) + warm_up + duration).saturating_mul(PATIENCE))?;
        Ok(Played { tallies: tallies.take(), ns: machine.ns(duration), counts: report.counts })
    }

    fn window(&self, machine: &Machine) -> Window {
        let [warm_up, duration] = [self.warm_up_us, self.duration_us].map(|us| machine.ticks(us * 1000));
        Window { first: Cell::new(None), warm_up, duration }
    }
}

/// When rounds count.
struct Window {
    /// When the first thread had begun; `None` before.
    first: Cell<Option<Ticks>>,
    warm_up: Ticks,
    duration: Ticks,
}

impl Window {
    /// Rounds of a thread until the end of the time that counts.
    fn rounds(&self, me: &Thread, mut round: impl FnMut(&Thread) -> bool) -> Tally {
        let mut tally = Tally::default();
        // Before the first thread has begun it is early.
        let age = || me.now().saturating_sub(self.first.get().unwrap_or(Ticks::MAX));
        while age() < self.warm_up + self.duration {
            let is_success = u64::from(round(me));
            let counts = u64::from((self.warm_up..self.warm_up + self.duration).contains(&age()));
            tally.all += 1;
            tally.counted += counts;
            tally.all_succeeded += is_success;
            tally.succeeded += counts * is_success;
        }
        tally
    }
}
