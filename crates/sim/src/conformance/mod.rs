//! Locks put to the test: do they exclude, and does each thread that waits get them, wherever threads lose their CPUs?
//!
//! A [`Trial`] lets a few threads take a lock in turns on a few CPUs, with stops at random accesses: threads lose their CPUs
//! between any two accesses, for nothing up to milliseconds, and with more threads than CPUs also by the scheduler. The holder
//! enters its name in an owner word, which must be empty, and adds one to a number by a load and a store. The owner word is of
//! the test's own and costs no virtual time: threads run one at a time and in the order in which their accesses take effect. All
//! threads must come to their ends: sleeps last until a wake-up, though the locks would look again after a tenth of a second.
//!
//! **A failure repeats**: it names the seed from which all follows. That holds in a fresh process; in one that has played other
//! trials, locks with nodes in a pool may be given others, which changes times a little. A lock that fails may leave the
//! statics of its crate (the table in which threads sleep) in disorder: play on in a fresh process.
//!
//! **Found here:** bugs of few threads that depend on the schedule, as far as x86 allows them; **not found**: those of weaker
//! orders, for which there are the models under loom. [`check_killed`] has the kills. [`check_channel`] and [`CheckedCollective`]
//! try channels and operations of groups so.

mod channels;
mod collectives;
mod kills;
mod placement;
#[cfg(test)]
mod planted;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, MutexGuard};

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_lock::{Algorithm, RawLock, Setup, for_each_lock};
use corecast_sim_core::{Machine, Preemption, Random, Report, Run, Stopped, Thread, published};

use crate::rounds::alone;

pub use self::channels::{ChannelFailure, ChannelFault, End, check_channel, check_channel_killed};
pub use self::collectives::{CheckedCollective, CollectiveFailure, CollectiveFault};
pub use self::kills::{KilledOutcome, LastStores, Phase, check_killed};
pub use self::placement::Placement;

/// The CPUs of trials: on one die, one hop away, and two hops away.
const CPUS: [usize; 4] = [0, 1, 13, 44];
/// The virtual time after which a trial has failed. One of 8 threads on a CPU, which each waste a slice before the next holder
/// comes, takes up to 2 s.
const LIMIT_NS: u64 = 10_000_000_000;
/// Sleeps for this time end by a wake-up only: the locks' own is 100 ms, and that of a spinner without a waker 1 ms.
const LASTING_NS: u64 = 50_000_000;

/// The circumstances in which a lock is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trial {
    /// The seed of stops, begins, and times between accesses.
    pub seed: u64,
    /// The threads.
    pub threads: usize,
    /// The CPUs on which they are put by turns, at most 4.
    pub cpus: usize,
    /// The acquisitions of each thread.
    pub rounds: u64,
    /// One access in this number has a stop.
    pub one_in: u64,
    /// The longest stop, in nanoseconds.
    pub longest_stop_ns: u64,
    /// Whether threads keep their CPUs.
    pub placement: Placement,
}

impl Trial {
    /// The trial that a seed stands for: 2, 3, 5 or 8 threads on 1, 2 or 4 CPUs, and rare or frequent stops, short or long.
    #[must_use]
    pub fn of_seed(seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let mut one_of = |numbers: [u64; 4]| numbers[random.below(4) as usize];
        Self {
            seed,
            threads: one_of([2, 3, 5, 8]) as usize,
            cpus: one_of([1, 2, 4, 4]) as usize,
            rounds: 8,
            one_in: one_of([4, 16, 64, 256]),
            longest_stop_ns: one_of([1_000, 20_000, 500_000, 8_000_000]),
            placement: Placement::Pinned,
        }
    }

    /// Tries a lock.
    ///
    /// # Errors
    /// [`Failure`] if it did not exclude, or if a thread did not come to its end.
    pub fn check(self, algorithm: Algorithm) -> Result<(), Failure> {
        macro_rules! choose {
            ($($variant:ident = $number:literal: $lock:ty,)*) => {
                match algorithm {
                    $(Algorithm::$variant => check_of::<$lock>(algorithm.name(), self),)*
                    _ => unreachable!("all locks are listed"),
                }
            };
        }
        for_each_lock!(choose)
    }
}

/// Tries a lock in the circumstances for which this seed stands.
///
/// # Errors
/// [`Failure`], which names the seed, if it did not exclude, or if a thread did not come to its end.
pub fn check_lock(algorithm: Algorithm, seed: u64, placement: Placement) -> Result<(), Failure> {
    Trial { placement, ..Trial::of_seed(seed) }.check(algorithm)
}

/// A lock that has failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{lock} failed with seed {} ({} threads on {} CPUs{}): {fault}", .trial.seed, .trial.threads, .trial.cpus, .trial.placement)]
pub struct Failure {
    /// The lock.
    pub lock: &'static str,
    /// The circumstances, which repeat it.
    pub trial: Trial,
    /// The way in which it failed.
    pub fault: Box<Fault>,
}

/// The way in which a lock failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Two threads held the lock at a time.
    #[error("thread {comer} had the lock before its access {access}, while thread {holder} held it")]
    Overlap {
        /// The thread that came second.
        comer: usize,
        /// The number of its next access.
        access: u64,
        /// The thread that held the lock.
        holder: usize,
    },
    /// Additions under the lock were lost.
    #[error("the holders added {total}, and the sum is {counted}")]
    Lost {
        /// The sum.
        counted: u64,
        /// The additions.
        total: u64,
    },
    /// Threads did not come to their ends.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// No memory for the stack of a thread.
    #[error("there is no memory for the stack of a simulated thread: {0}")]
    Stack(String),
}

/// A lock, the number that it guards, and what the test itself knows.
struct Tried<L> {
    lock: L,
    /// Written by the holder.
    number: CacheLine<AtomicU64>,
    /// Read by a thread between two acquisitions, which so has an access there.
    between: CacheLine<AtomicU64>,
}

/// The test's knowledge of a trial, which takes no access of a thread.
#[derive(Default)]
struct Watch {
    owner: Cell<Option<usize>>,
    additions: Cell<u64>,
    overlap: RefCell<Option<Fault>>,
    /// By thread.
    phases: RefCell<Vec<Phase>>,
}

impl Watch {
    fn new(threads: usize) -> Self {
        Self { phases: RefCell::new(vec![Phase::Between; threads]), ..Self::default() }
    }

    fn enter(&self, me: &Thread) {
        // The access that it comes from is over: nothing here may let another thread run.
        let comer = me.number();
        if let Some(holder) = self.owner.replace(Some(comer)) {
            self.overlap.borrow_mut().get_or_insert(Fault::Overlap { comer, access: me.begun(), holder });
        }
        self.is_in(me, Phase::Holds);
    }

    fn leave(&self, me: &Thread) {
        self.owner.set(None);
        self.is_in(me, Phase::Unlocks);
    }

    fn is_in(&self, me: &Thread, phase: Phase) {
        self.phases.borrow_mut()[me.number()] = phase;
    }
}

/// The threads of a trial, put on their CPUs, and what they share.
struct Prepared<L> {
    run: Run,
    tried: Arc<Tried<L>>,
    watch: Rc<Watch>,
    /// The right to play, for as long as the run is there.
    alone: MutexGuard<'static, ()>,
}

fn prepare<L: RawLock + 'static>(machine: &Machine, trial: Trial) -> Result<Prepared<L>, Fault> {
    let Trial { threads, cpus, .. } = trial;
    assert!((1..=CPUS.len()).contains(&cpus), "a trial has 1 to {} CPUs, and not {cpus}", CPUS.len());
    let lock = L::new(&Setup::of_threads(threads));
    let alone = alone();
    let line = || CacheLine::new(AtomicU64::new(0));
    let tried = Arc::new(Tried { lock, number: line(), between: line() });
    let watch = Rc::new(Watch::new(threads));
    let mut run = Run::new(machine);
    run.lasting_sleeps(machine.ticks(LASTING_NS));
    for thread in 0..threads {
        let (own, watch) = (Arc::clone(&tried), Rc::clone(&watch));
        let mut random = Random::new(!trial.seed, thread);
        let begin = machine.ticks(random.below(1000));
        let body = move |me: &Thread| compete(me, &own, &watch, trial.rounds, &mut random);
        run.spawn(CPUS[thread % cpus], begin, body).map_err(|error| Fault::Stack(error.to_string()))?;
    }
    trial.placement.apply(&mut run);
    Ok(Prepared { run, tried, watch, alone })
}

/// The acquisitions of a thread.
fn compete<L: RawLock>(me: &Thread, tried: &Tried<L>, watch: &Watch, rounds: u64, random: &mut Random) {
    for _ in 0..rounds {
        let node = L::Node::default();
        watch.is_in(me, Phase::Locks);
        // SAFETY: the node is of this acquisition alone, and is dropped after the unlock.
        unsafe { tried.lock.lock(&node) };
        watch.enter(me);
        // ORDERING: Relaxed, the lock orders it
        let number = tried.number.load(Ordering::Relaxed);
        me.work_ns(often_short(random));
        // ORDERING: Relaxed, the lock orders it
        tried.number.store(number + 1, Ordering::Relaxed);
        watch.additions.set(watch.additions.get() + 1);
        me.work_ns(random.below(100));
        watch.leave(me);
        // SAFETY: held by the acquisition with this node.
        unsafe { tried.lock.unlock(&node) };
        watch.is_in(me, Phase::Between);
        // ORDERING: Relaxed, nothing is read by it
        let _ = tried.between.load(Ordering::Relaxed);
        me.work_ns(often_short(random));
    }
}

/// Nanoseconds: mostly below 200, and sometimes long enough for a thread that waits to fall asleep.
fn often_short(random: &mut Random) -> u64 {
    let most = if random.below(8) == 0 { 100_000 } else { 200 };
    random.below(most)
}

fn check_of<L: RawLock + 'static>(lock: &'static str, trial: Trial) -> Result<(), Failure> {
    play::<L>(trial).map_err(|fault| Failure { lock, trial, fault: Box::new(fault) })
}

fn play<L: RawLock + 'static>(trial: Trial) -> Result<(), Fault> {
    let machine = published::opteron_4x12();
    let Prepared { mut run, tried, watch, alone: _alone } = prepare::<L>(&machine, trial)?;
    let longest = machine.ticks(trial.longest_stop_ns);
    run.preempt(Preemption::Randomly { seed: trial.seed, one_in: trial.one_in, longest });
    let ended: Result<Report, Stopped> = run.finish(machine.ticks(LIMIT_NS));
    if let Some(overlap) = watch.overlap.take() {
        return Err(overlap);
    }
    ended?;
    // ORDERING: Relaxed, the run is over
    let (counted, total) = (tried.number.load(Ordering::Relaxed), watch.additions.get());
    if counted == total { Ok(()) } else { Err(Fault::Lost { counted, total }) }
}
