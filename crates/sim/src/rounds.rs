//! Threads that do the same thing again and again on a simulated machine, for a time of which a part counts.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering, spin_hint, yield_now};
use corecast_lock::Params;
use corecast_sim_core::{Counts, Machine, Random, Report, Run, Thread, Ticks, Trace};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;

/// Threads begin within this time.
const MOST_BEGIN_NS: u64 = 1000;
/// A run is given up after this multiple of its time, and of the time that a first thread may take to set up: the last round of
/// each thread may take long.
const PATIENCE: u64 = 1000;
const MOST_SET_UP_NS: u64 = 10_000_000;
/// And after this one where a thread is killed: the others may wait for it for ever.
const PATIENCE_WITH_KILLS: u64 = 3;

/// The threads, and how long they go on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rounds {
    /// On the first CPUs of the machine.
    pub(crate) threads: usize,
    /// The virtual time before rounds count, from when the first thread has begun.
    pub(crate) warm_up_us: u64,
    /// The virtual time after it in which rounds count.
    pub(crate) duration_us: u64,
    /// The seed of the threads' begins and of what they draw.
    pub(crate) seed: u64,
    pub(crate) disturbance: Disturbance,
    /// The thread from whose begin on times count.
    pub(crate) first: usize,
    /// The most events of a trace of the time in which rounds count; `None` without one.
    pub(crate) traced: Option<usize>,
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
    pub(crate) disturbed: Disturbed,
    /// The trace, if one was asked for.
    pub(crate) trace: Option<Trace>,
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
            if me.shares_cpu() { yield_now() } else { spin_hint() }
        }
    }
}

/// The right to play: statics of the protocols belong to one run at a time, as simulated threads change them by accesses that are
/// no atomics of the host. Locks know no machine until a run tells them its own. The programs of this crate take it; a test that
/// makes a [`Run`](crate::machine::Run) of its own does, too, before it makes what the threads share.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    // A run that panicked leaves no more behind than one that ended.
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    Params::ASSUMED.set_for_process();
    alone
}

impl Rounds {
    /// Plays. Each thread makes a state by `begin`, and calls `round` on it until the end; that says whether a round did what it
    /// was for. Times count from when the first thread has made its state.
    ///
    /// # Errors
    /// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Stopped`] if a run has no outcome, [`SimError::Stack`] if
    /// there is no memory for a thread.
    ///
    /// # Safety
    /// - If a thread is killed, nothing accesses what it had on its stack once the run is over. What `begin` and `round` own is
    ///   never dropped then.
    pub(crate) unsafe fn play<S: 'static>(
        self,
        machine: &Machine,
        begin: impl Fn(&Thread, usize) -> S + 'static,
        round: impl Fn(&Thread, &mut S, &mut Random) -> bool + 'static,
    ) -> Result<Played, SimError> {
        // SAFETY: the caller keeps it.
        unsafe { self.play_to_end(machine, begin, round, |_, _| ()) }
    }

    /// Plays; when the time is over each thread calls `end` with its state.
    ///
    /// # Errors
    /// As of [`play`](Self::play).
    ///
    /// # Safety
    /// - As of [`play`](Self::play).
    pub(crate) unsafe fn play_to_end<S: 'static>(
        self,
        machine: &Machine,
        begin: impl Fn(&Thread, usize) -> S + 'static,
        round: impl Fn(&Thread, &mut S, &mut Random) -> bool + 'static,
        end: impl Fn(&Thread, S) + 'static,
    ) -> Result<Played, SimError> {
        let Self { threads, seed, disturbance, first, traced, .. } = self;
        let cpus = disturbance.cpus_of(machine, threads)?;
        let tallies = Rc::new(RefCell::new(vec![Tally::default(); threads]));
        let window = Rc::new(self.window(machine));
        let calls = Rc::new((begin, round, end));
        let mut run = Run::new(machine);
        for thread in 0..threads {
            let (calls, tallies, window) = (Rc::clone(&calls), Rc::clone(&tallies), Rc::clone(&window));
            let mut random = Random::new(seed, thread);
            let begin = machine.ticks(random.below(MOST_BEGIN_NS));
            let body = move |me: &Thread| {
                let mut state = calls.0(me, thread);
                if thread == first {
                    window.begin(me, traced);
                }
                window.rounds(me, &tallies, |me| calls.1(me, &mut state, &mut random));
                calls.2(me, state);
            };
            run.spawn(thread % cpus, begin, body).map_err(SimError::stack)?;
        }
        disturbance.apply(&mut run, machine, seed);
        // SAFETY: the caller keeps it.
        unsafe { disturbance.kill(&mut run, threads) };
        let Window { warm_up, duration, .. } = *window;
        let patience = if disturbance.kill_at.is_some() { PATIENCE_WITH_KILLS } else { PATIENCE };
        let report = run.finish((machine.ticks(MOST_SET_UP_NS) + warm_up + duration).saturating_mul(patience))?;
        let disturbed = Disturbed::of(machine, &report);
        let Report { counts, trace, .. } = report;
        Ok(Played { tallies: tallies.take(), ns: machine.ns(duration), counts, disturbed, trace })
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
    /// The first thread has begun.
    fn begin(&self, me: &Thread, traced: Option<usize>) {
        let now = me.now();
        self.first.set(Some(now));
        if let Some(most) = traced {
            me.trace(now + self.warm_up..now + self.warm_up + self.duration, most);
        }
    }

    /// Rounds of a thread until the end of the time that counts. Each is entered when it is over: a thread may be killed in the
    /// next one.
    fn rounds(&self, me: &Thread, tallies: &RefCell<Vec<Tally>>, mut round: impl FnMut(&Thread) -> bool) {
        // Before the first thread has begun it is early.
        let age = || me.now().saturating_sub(self.first.get().unwrap_or(Ticks::MAX));
        while age() < self.warm_up + self.duration {
            let is_success = u64::from(round(me));
            let counts = u64::from((self.warm_up..self.warm_up + self.duration).contains(&age()));
            let tally = &mut tallies.borrow_mut()[me.number()];
            tally.all += 1;
            tally.counted += counts;
            tally.all_succeeded += is_success;
            tally.succeeded += counts * is_success;
        }
    }
}
