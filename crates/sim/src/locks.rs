//! Threads that compete for a lock of corecast, on a simulated machine.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering, spin_for};
use corecast_lock::{Algorithm, RawLock, for_each_lock};
use corecast_sim_core::{Counts, Machine, Random, Thread, Trace};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::fairness::jain;
use crate::rounds::{Played, Rounds, SetUp, alone};
use crate::situation;
use crate::trace::{MOST_EVENTS, Object, ProgramTrace};

/// Where threads are steady, one of this many acquisitions is timed as in the benchmark, by this many looks at the clock: else
/// two threads might miss each other for ever, or meet each time.
const TIMED: u64 = 16;
const LOOKS: usize = 2;

/// Threads that compete for a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contest {
    /// The threads, on the first CPUs of the machine.
    pub threads: usize,
    /// The locks, of which each acquisition takes one at random; 0 is 1. The first thread takes each once before the others
    /// begin, so they lie at its node.
    pub locks: usize,
    /// The virtual time before acquisitions count, in microseconds: locks learn, and threads take their first nodes.
    pub warm_up_us: u64,
    /// The virtual time after it in which acquisitions count, in microseconds.
    pub duration_us: u64,
    /// The time that the holder computes for in addition to reading and writing a line, in nanoseconds.
    pub inside_ns: u64,
    /// The time for which a thread computes between two acquisitions, in nanoseconds; it differs by up to half between threads
    /// and rounds.
    pub outside_ns: u64,
    /// True if it does not differ, and threads look at the clock until it is over, as those of the benchmark of real locks do.
    pub is_steady: bool,
    /// The seed of these differences and of the threads' begins.
    pub seed: u64,
    /// The disturbances of the threads.
    pub disturbance: Disturbance,
}

/// The outcome of a contest.
#[derive(Clone, Debug, PartialEq)]
pub struct ContestOutcome {
    /// The acquisitions of each thread that counted.
    pub acquisitions: Vec<u64>,
    /// The time in which they counted, in nanoseconds.
    pub ns: f64,
    /// All acquisitions, with those of the warm-up.
    pub all: u64,
    /// The accesses of all acquisitions.
    pub counts: Counts,
    /// How the threads were disturbed.
    pub disturbed: Disturbed,
}

impl ContestOutcome {
    /// The acquisitions of all threads in a second, in millions.
    #[must_use]
    pub fn mops(&self) -> f64 {
        self.counted() as f64 / self.ns * 1000.0
    }

    fn counted(&self) -> u64 {
        self.acquisitions.iter().sum()
    }

    /// Lines that moved in an acquisition, by the distance that they came from.
    #[must_use]
    pub fn transfers(&self) -> Vec<f64> {
        self.counts.transfers_each(self.all)
    }

    /// Jain's index of fairness: 1 if all threads have as many acquisitions, and 1 / threads if one has all of them; `None` if
    /// there were none.
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        jain(&self.acquisitions)
    }
}

/// Lets threads compete for a lock.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Stopped`] if a run has no outcome, [`SimError::Lost`] if the
/// lock did not exclude, [`SimError::Kill`] for a kill at [`Algorithm::Byte`], [`SimError::Stack`] if there is no memory for a
/// thread.
pub fn contest(machine: &Machine, algorithm: Algorithm, contest: Contest) -> Result<ContestOutcome, SimError> {
    let (outcome, _) = play(machine, algorithm, contest, None)?;
    Ok(outcome)
}

/// The same, with a trace of the time in which acquisitions count. Its phases are [`ASKS`], [`HOLDS`] and [`FREES`], its objects
/// `lock` and `guarded`, the number that the lock guards.
///
/// # Errors
/// As of [`contest`]; [`SimError::Events`] if there are more than [`MOST_EVENTS`].
pub fn trace_contest(
    machine: &Machine,
    algorithm: Algorithm,
    contest: Contest,
) -> Result<(ContestOutcome, ProgramTrace), SimError> {
    let (outcome, traced) = play(machine, algorithm, contest, Some(MOST_EVENTS))?;
    let (trace, objects) = traced.expect("it was asked for");
    Ok((outcome, ProgramTrace::of(trace, &objects, (HOLDS, 1))?))
}

/// A thread has asked for the lock, and does not have it yet.
pub const ASKS: &str = "asks";
/// A thread holds the lock.
pub const HOLDS: &str = "holds";
/// A thread gives the lock back.
pub const FREES: &str = "frees";

/// A contest, and its trace with the objects whose lines it names.
type Traced = (ContestOutcome, Option<(Trace, Vec<Object>)>);

fn play(machine: &Machine, algorithm: Algorithm, contest: Contest, traced: Option<usize>) -> Result<Traced, SimError> {
    check_kill(algorithm, contest.disturbance)?;
    macro_rules! choose {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            match algorithm {
                $(Algorithm::$variant => contest_of::<$lock>(machine, contest, traced),)*
                _ => unreachable!("all locks are listed"),
            }
        };
    }
    for_each_lock!(choose)
}

/// Threads at [`Algorithm::Byte`] are not killed: its sleepers lie in a table that all locks of a process share, which would lead
/// to the stack of the dead one in all later runs.
pub(crate) fn check_kill(algorithm: Algorithm, disturbance: Disturbance) -> Result<(), SimError> {
    match disturbance.kill_at.is_some() && algorithm == Algorithm::Byte {
        true => Err(SimError::Kill { reason: "the sleepers of byte lie in a table that outlives the run" }),
        false => Ok(()),
    }
}

/// A lock, on lines of its own, and a number that it guards on a line of its own.
#[repr(C)]
struct Guarded<L> {
    lock: CacheLine<L>,
    /// Written by the holder.
    number: CacheLine<AtomicU64>,
}

fn contest_of<L: RawLock + 'static>(
    machine: &Machine,
    contest: Contest,
    traced: Option<usize>,
) -> Result<Traced, SimError> {
    let Contest { threads, locks, warm_up_us, duration_us, inside_ns, outside_ns, is_steady, seed, disturbance } =
        contest;
    let _alone = alone();
    let setup = situation::setup(machine, threads);
    let one = |_| Guarded { lock: CacheLine::new(L::new(&setup)), number: CacheLine::new(AtomicU64::new(0)) };
    let guarded: Arc<[Guarded<L>]> = (0..locks.max(1)).map(one).collect();
    let (set_up, all_locks, ours) = (SetUp::default(), Arc::clone(&guarded), Arc::clone(&guarded));
    let begin = move |me: &Thread, cpu: usize| {
        set_up.by_first(me, cpu, || all_locks.iter().for_each(|guarded| acquire(me, guarded, 0, false)));
        0
    };
    let round = move |me: &Thread, number: &mut u64, random: &mut Random| {
        if is_steady && *number % TIMED == 0 {
            (0..LOOKS).for_each(|_| me.spin_ns(0));
        }
        *number += 1;
        acquire(me, &ours[random.below(ours.len() as u64) as usize], inside_ns, traced.is_some());
        match is_steady {
            true => spin_for(Duration::from_nanos(outside_ns)),
            false => me.work_ns(outside_ns + random.below(outside_ns / 2 + 1)),
        }
        true
    };
    let rounds = Rounds { threads, warm_up_us, duration_us, seed, disturbance, first: 0, traced };
    // SAFETY: the locks lead to nodes on the stack of a thread that was killed; its share of them is never dropped, and no thread
    // takes one after the run.
    let played = unsafe { rounds.play(machine, begin, round) }?;
    outcome(&guarded, played)
}

fn outcome<L>(guarded: &[Guarded<L>], played: Played) -> Result<Traced, SimError> {
    // ORDERING: Relaxed, the run is over
    let counted = guarded.iter().map(|guarded| guarded.number.load(Ordering::Relaxed)).sum();
    // With those of the set-up.
    let all = played.sum(|tally| tally.all) + guarded.len() as u64;
    // The last addition of a thread that was killed may not be among them.
    if counted < all || counted > all + played.disturbed.killed {
        return Err(SimError::Lost { counted, total: all });
    }
    let acquisitions = played.tallies.iter().map(|tally| tally.counted).collect();
    let Played { ns, counts, disturbed, trace, .. } = played;
    let objects = guarded.iter().flat_map(Guarded::objects).collect();
    let trace = trace.map(|trace| (trace, objects));
    Ok((ContestOutcome { acquisitions, ns, all, counts, disturbed }, trace))
}

impl<L> Guarded<L> {
    fn objects(&self) -> [Object; 2] {
        let addresses = |begin: usize, bytes: usize| begin..begin + bytes;
        let lock = addresses(std::ptr::from_ref(&self.lock).addr(), size_of_val(&self.lock));
        let number = addresses(std::ptr::from_ref(&self.number).addr(), size_of_val(&self.number));
        [("lock", lock), ("guarded", number)]
    }
}

/// One acquisition. Its phases are told to the trace if there is one: else an acquisition by one thread took up to 8 % more
/// instructions of the host.
fn acquire<L: RawLock>(me: &Thread, guarded: &Guarded<L>, inside_ns: u64, is_traced: bool) {
    let clock = || if is_traced { me.clock() } else { 0 };
    let ends = |phase, begin| {
        if is_traced {
            me.trace_phase(phase, begin);
        }
    };
    let node = L::Node::default();
    let begin = clock();
    // SAFETY: the node is of this acquisition alone, and is dropped after the unlock.
    unsafe { guarded.lock.lock(&node) };
    ends(ASKS, begin);
    let begin = clock();
    // ORDERING: Relaxed, the lock orders it
    let number = guarded.number.load(Ordering::Relaxed);
    me.work_ns(inside_ns);
    // ORDERING: Relaxed, the lock orders it
    guarded.number.store(number + 1, Ordering::Relaxed);
    ends(HOLDS, begin);
    let begin = clock();
    // SAFETY: held by the acquisition with this node.
    unsafe { guarded.lock.unlock(&node) };
    ends(FREES, begin);
}
