//! The hash table of SSYNC with a lock on each bucket, on a simulated machine.
//!
//! The table of this project keeps its keys in memory that a simulation does not see, and in another layout than the one whose
//! figures are published. So this is the experiment as it was described: buckets of keys of which half are there, kept in
//! nodes of 14 with two lines of keys and two of values; of 128 operations 103 get, and the others put and remove in turns; one
//! that fails is tried again with another key until it succeeds, and every try counts. Values that are copied are never written
//! to, so they are in every cache and part of the own work. Keys are kept beside the simulation, which sees the lines that are
//! read and written: a bucket that two threads work on at a time is found.
//!
//! Source: T. David, R. Guerraoui, V. Trigonakis, "Everything you always wanted to know about synchronization but were afraid to
//! ask", SOSP 2013, section 6.3, and the program's own description.

mod bucket;
mod messages;

use std::rc::Rc;
use std::sync::Arc;

use corecast_base::CacheLine;
use corecast_lock::{Algorithm, RawLock, Setup, for_each_lock};
use corecast_sim_core::{Counts, Machine, Random, Thread};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::fairness::jain;
use crate::locks::check_kill;
use crate::rounds::{Played, Rounds, SetUp, alone};
use crate::situation;

use self::bucket::{Draw, Keys, Nodes, Try, half_of};

pub use self::messages::{TableServer, table_by_messages};

/// A full fence of a core whose stores are done.
const FENCE_NS: u64 = 10;

/// Threads that work on a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableLoad {
    /// The threads, on the first CPUs of the machine. The first one sets the table up, so all of it lies at its
    /// node.
    pub threads: usize,
    /// The buckets.
    pub buckets: usize,
    /// The keys that are in a bucket on average, of twice as many; 0 is 1.
    pub mean: usize,
    /// The virtual time before operations count, in microseconds, from when the table is set up.
    pub warm_up_us: u64,
    /// The virtual time after it in which operations count, in microseconds.
    pub duration_us: u64,
    /// The time for which a thread computes in each operation besides its accesses, in nanoseconds: half of it with the bucket
    /// locked. See [`own_work_ns`].
    pub own_ns: u64,
    /// The seed of what threads draw.
    pub seed: u64,
    /// The disturbances of the threads.
    pub disturbance: Disturbance,
}

/// The outcome of a [`TableLoad`].
#[derive(Clone, Debug, PartialEq)]
pub struct TableOutcome {
    /// The operations of each thread that counted, whether or not they found their key.
    pub operations: Vec<u64>,
    /// The time in which they counted, in nanoseconds.
    pub ns: f64,
    /// All operations, with those of the warm-up.
    pub all: u64,
    /// The accesses of all operations.
    pub counts: Counts,
    /// How the threads were disturbed.
    pub disturbed: Disturbed,
}

impl TableOutcome {
    /// The operations of all threads in a second, in millions.
    #[must_use]
    pub fn mops(&self) -> f64 {
        self.operations.iter().sum::<u64>() as f64 / self.ns * 1000.0
    }

    /// Lines that moved in an operation, by the distance that they came from.
    #[must_use]
    pub fn transfers(&self) -> Vec<f64> {
        self.counts.transfers_each(self.all)
    }

    /// Jain's index of fairness: 1 if all threads have as many operations, 1 / threads if one has all of them; `None` if
    /// there were none.
    #[must_use]
    pub fn jain(&self) -> Option<f64> {
        jain(&self.operations)
    }
}

/// Lets threads work on a table whose buckets have this lock.
///
/// # Errors
/// [`SimError::Threads`] if the machine has fewer CPUs, [`SimError::Stopped`] if a run has no outcome, as where two threads
/// worked on a bucket at a time, [`SimError::Kill`] for a kill at [`Algorithm::Byte`], [`SimError::Stack`] if there is no memory
/// for a thread.
///
/// # Panics
/// If there are no buckets.
pub fn table(machine: &Machine, algorithm: Algorithm, load: TableLoad) -> Result<TableOutcome, SimError> {
    assert!(load.buckets > 0, "a table has at least one bucket");
    check_kill(algorithm, load.disturbance)?;
    macro_rules! choose {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            match algorithm {
                $(Algorithm::$variant => table_of::<$lock>(machine, load),)*
                _ => unreachable!("all locks are listed"),
            }
        };
    }
    for_each_lock!(choose)
}

/// The own work of an operation with which one thread does as many millions of operations in a second as `mops` says, in
/// nanoseconds; 0 if the accesses alone take longer.
///
/// # Errors
/// As of [`table`].
pub fn own_work_ns(machine: &Machine, algorithm: Algorithm, load: TableLoad, mops: f64) -> Result<u64, SimError> {
    let accesses =
        table(machine, algorithm, TableLoad { threads: 1, own_ns: 0, disturbance: Disturbance::NONE, ..load })?;
    Ok((1000.0 / mops - 1000.0 / accesses.mops()).round().max(0.0) as u64)
}

fn table_of<L: RawLock + 'static>(machine: &Machine, load: TableLoad) -> Result<TableOutcome, SimError> {
    let TableLoad { threads, buckets, own_ns, seed, .. } = load;
    let _alone = alone();
    let setup = situation::setup(machine, threads);
    let keys = load.keys();
    // None of the threads has this number.
    let mut random = Random::new(seed, threads);
    let shared: Arc<[Bucket<L>]> = (0..buckets).map(|_| Bucket::new(&setup, keys)).collect();
    let set_up = SetUp::default();
    let there: Rc<[Keys]> = (0..buckets).map(|_| half_of(keys, &mut random)).collect();
    let ours = Arc::clone(&shared);
    let begin = move |me: &Thread, thread: usize| {
        set_up.by_first(me, thread, || shared.iter().for_each(|bucket| bucket.touch(me, threads)));
        Draw::new(thread)
    };
    let round = move |me: &Thread, draw: &mut Draw, random: &mut Random| {
        let bucket = random.below(buckets as u64) as usize;
        me.work_ns(own_ns - own_ns / 2);
        let is_hit = ours[bucket].work_on(me, &there[bucket], draw.next(keys, random), own_ns / 2);
        if is_hit {
            draw.succeeded(random);
        }
        is_hit
    };
    // SAFETY: the locks lead to nodes on the stack of a thread that was killed; its share of the buckets is never dropped, and no
    // thread takes a lock after the run.
    let played = unsafe { load.rounds().play(machine, begin, round) }?;
    Ok(outcome(played, |_| true))
}

impl TableLoad {
    fn rounds(&self) -> Rounds {
        let Self { threads, warm_up_us, duration_us, seed, disturbance, .. } = *self;
        Rounds { threads, warm_up_us, duration_us, seed, disturbance, first: 0, traced: None }
    }

    /// The keys that fall into a bucket, of which half are there.
    fn keys(&self) -> u64 {
        2 * self.mean.max(1) as u64
    }
}

/// Of the threads that are clients.
fn outcome(played: Played, is_client: impl Fn(usize) -> bool) -> TableOutcome {
    let all = played.sum(|tally| tally.all);
    let numbered = played.tallies.iter().enumerate().filter(|&(thread, _)| is_client(thread));
    let operations = numbered.map(|(_, tally)| tally.counted).collect();
    let Played { ns, counts, disturbed, .. } = played;
    TableOutcome { operations, ns, all, counts, disturbed }
}

struct Bucket<L> {
    lock: CacheLine<L>,
    nodes: Nodes,
}

impl<L: RawLock> Bucket<L> {
    fn new(setup: &Setup, keys: u64) -> Self {
        Self { lock: CacheLine::new(L::new(setup)), nodes: Nodes::new(keys) }
    }

    /// The lock is taken as often as it may have lines.
    fn touch(&self, me: &Thread, threads: usize) {
        (0..threads).for_each(|_| self.locked(|| ()));
        self.nodes.touch(me);
    }

    fn work_on(&self, me: &Thread, keys: &Keys, one: Try, inside_ns: u64) -> bool {
        self.locked(|| {
            let is_hit = self.nodes.work_on(me, keys, one, inside_ns);
            // The published program has a full fence here.
            me.wait_for_stores();
            me.work_ns(FENCE_NS);
            is_hit
        })
    }

    fn locked<R>(&self, work: impl FnOnce() -> R) -> R {
        let node = L::Node::default();
        // SAFETY: the node is of this acquisition alone, and is dropped after the unlock.
        unsafe { self.lock.lock(&node) };
        let result = work();
        // SAFETY: held by the acquisition with this node.
        unsafe { self.lock.unlock(&node) };
        result
    }
}
