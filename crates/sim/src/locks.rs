//! Threads that compete for a lock of corecast, on a simulated machine.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};
use corecast_lock::{Algorithm, RawLock, Setup, for_each_lock};
use corecast_sim_core::{Counts, Machine, Run, Thread, Ticks};

use crate::error::SimError;

/// Threads that compete for a lock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contest {
    /// The threads, on the first CPUs of the machine, one on each.
    pub threads: usize,
    /// The virtual time before acquisitions count, in microseconds: locks learn, and threads take their first nodes.
    pub warm_up_us: u64,
    /// The virtual time after it in which acquisitions count, in microseconds.
    pub duration_us: u64,
    /// The time that the holder computes for in addition to reading and writing a line, in nanoseconds.
    pub inside_ns: u64,
    /// The time for which a thread computes between two acquisitions, in nanoseconds; it differs by up to half between threads
    /// and rounds.
    pub outside_ns: u64,
    /// The seed of these differences and of the threads' begins.
    pub seed: u64,
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
        self.counts.transfers.iter().map(|&number| number as f64 / self.all as f64).collect()
    }

    /// Jain's index of fairness: 1 if all threads have as many acquisitions, and 1 / threads if one has all of them; `None` if
    /// there were none.
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        let squares: f64 = self.acquisitions.iter().map(|&number| (number as f64).powi(2)).sum();
        (squares > 0.0).then(|| (self.counted() as f64).powi(2) / squares / self.acquisitions.len() as f64)
    }
}

/// Threads begin within this time.
const MOST_BEGIN_NS: u64 = 1000;
/// A run is given up after this multiple of its time: the last acquisition of each thread may take long.
const PATIENCE: u64 = 1000;

/// Lets threads compete for a lock.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Stopped`] if a run has no outcome, [`SimError::Lost`] if the
/// lock did not exclude, [`SimError::Stack`] if there is no memory for a thread.
pub fn contest(machine: &Machine, algorithm: Algorithm, contest: Contest) -> Result<ContestOutcome, SimError> {
    macro_rules! choose {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            match algorithm {
                $(Algorithm::$variant => contest_of::<$lock>(machine, contest),)*
                _ => unreachable!("all locks are listed"),
            }
        };
    }
    for_each_lock!(choose)
}

/// A lock, and a number that it guards on a line of its own.
struct Guarded<L> {
    lock: L,
    /// Written by the holder.
    number: CacheLine<AtomicU64>,
}

fn contest_of<L: RawLock + 'static>(machine: &Machine, contest: Contest) -> Result<ContestOutcome, SimError> {
    let Contest { threads, seed, .. } = contest;
    if threads == 0 || threads > machine.cpus() {
        return Err(SimError::Threads { threads, cpus: machine.cpus() });
    }
    let number = CacheLine::new(AtomicU64::new(0));
    let guarded = Arc::new(Guarded { lock: L::new(&Setup::of_threads(threads)), number });
    let acquisitions = Rc::new(RefCell::new(vec![Acquisitions::default(); threads]));
    let begin = machine.ticks(contest.warm_up_us * 1000);
    let window = begin..begin + machine.ticks(contest.duration_us * 1000);
    let mut run = Run::new(machine);
    for cpu in 0..threads {
        let (guarded, acquisitions, window) = (Arc::clone(&guarded), Rc::clone(&acquisitions), window.clone());
        let mut random = Random(seed.wrapping_add(cpu as u64));
        let begin = machine.ticks(random.below(MOST_BEGIN_NS));
        let body = move |me: &Thread| {
            let own = compete(me, &guarded, contest, &window, &mut random);
            acquisitions.borrow_mut()[cpu] = own;
        };
        run.spawn(cpu, begin, body).map_err(SimError::stack)?;
    }
    let report = run.finish(window.end.saturating_mul(PATIENCE))?;
    let acquisitions = acquisitions.take();
    // ORDERING: Relaxed, the run is over
    let counted = guarded.number.load(Ordering::Relaxed);
    let all: u64 = acquisitions.iter().map(|own| own.all).sum();
    if counted != all {
        return Err(SimError::Lost { counted, total: all });
    }
    let acquisitions = acquisitions.iter().map(|own| own.counted).collect();
    Ok(ContestOutcome { acquisitions, ns: machine.ns(window.end - window.start), all, counts: report.counts })
}

/// The acquisitions of a thread.
#[derive(Clone, Copy, Default)]
struct Acquisitions {
    all: u64,
    /// Those that ended in the time that counts.
    counted: u64,
}

/// The acquisitions of a thread until the end of the time that counts.
fn compete<L: RawLock>(
    me: &Thread,
    guarded: &Guarded<L>,
    contest: Contest,
    window: &Range<Ticks>,
    random: &mut Random,
) -> Acquisitions {
    let mut own = Acquisitions::default();
    while me.now() < window.end {
        let node = L::Node::default();
        // SAFETY: the node is of this acquisition alone, and is dropped after the unlock.
        unsafe { guarded.lock.lock(&node) };
        // ORDERING: Relaxed, the lock orders it
        let number = guarded.number.load(Ordering::Relaxed);
        me.work_ns(contest.inside_ns);
        // ORDERING: Relaxed, the lock orders it
        guarded.number.store(number + 1, Ordering::Relaxed);
        // SAFETY: held by the acquisition with this node.
        unsafe { guarded.lock.unlock(&node) };
        own.all += 1;
        own.counted += u64::from(window.contains(&me.now()));
        me.work_ns(contest.outside_ns + random.below(contest.outside_ns / 2 + 1));
    }
    own
}

/// Numbers without a pattern that matters here: a generator of the family xorshift.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        let mut x = self.0.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        (x >> 11) % limit.max(1)
    }
}
