//! The hash table of SSYNC with a lock on each bucket, on a simulated machine.
//!
//! The table of this project keeps its keys in memory that a simulation does not see, and in another layout than the one whose
//! figures are published. So this is the experiment as it was described: buckets of 24 keys of which half are there, kept in
//! nodes of 14 with two lines of keys and two of values; of 128 operations 103 get, and the others put and remove in turns; one
//! that fails is tried again with another key until it succeeds, and every try counts. Values that are copied are never written
//! to, so they are in every cache and part of the own work. Keys are kept beside the simulation, which sees the lines that are
//! read and written: a bucket that two threads work on at a time is found.
//!
//! Source: T. David, R. Guerraoui, V. Trigonakis, "Everything you always wanted to know about synchronization but were afraid to
//! ask", SOSP 2013, section 6.3, and the program's own description.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use corecast_base::CacheLine;
use corecast_lock::{Algorithm, RawLock, Setup, for_each_lock};
use corecast_sim_core::{Counts, Machine, Thread};

use crate::disturbance::{Disturbance, Disturbed};
use crate::error::SimError;
use crate::fairness::jain;
use crate::locks::check_kill;
use crate::random::Random;
use crate::rounds::{Played, Rounds, SetUp, alone};
use crate::situation;

/// Keys that fall into a bucket, of which half are there.
const KEYS: u64 = 24;
/// Keys of a node: the number of them and seven keys fill a line, seven keys and the link to the next node another one.
const ROOM: usize = 14;
const FIRST_LINE: usize = 7;
/// Values in a line, behind two lines of keys.
const VALUES: usize = 8;
/// Nodes that a bucket can need.
const NODES: usize = 2;
/// Of 128 operations.
const UPDATES: u64 = 25;
/// A full fence of a core whose stores are done.
const FENCE_NS: u64 = 10;

/// Threads that work on a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableLoad {
    /// The threads, on the first CPUs of the machine. The first one sets the table up, so all of it lies at its
    /// node.
    pub threads: usize,
    /// The buckets, each with a lock.
    pub buckets: usize,
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
/// worked on a bucket at a time, [`SimError::Kill`] for a kill at [`Algorithm::Byte`], [`SimError::Stack`] if there is no memory for
/// a thread.
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
    let TableLoad { threads, buckets, warm_up_us, duration_us, own_ns, seed, disturbance } = load;
    let _alone = alone();
    let setup = situation::setup(machine, threads);
    let mut random = Random::new(seed);
    let shared: Arc<[Bucket<L>]> = (0..buckets).map(|_| Bucket::new(&setup)).collect();
    let set_up = SetUp::default();
    let keys: Rc<[RefCell<Vec<u64>>]> = (0..buckets).map(|_| RefCell::new(half_of_all(&mut random))).collect();
    let ours = Arc::clone(&shared);
    let begin = move |me: &Thread, cpu: usize| {
        set_up.by_first(me, cpu, || shared.iter().for_each(|bucket| bucket.touch(me, threads)));
        Client { kind: Kind::Get, puts: cpu % 2 == 0 }
    };
    let round = move |me: &Thread, client: &mut Client, random: &mut Random| {
        let bucket = random.below(buckets as u64) as usize;
        me.work_ns(own_ns - own_ns / 2);
        let is_hit = client.work_on(me, &ours[bucket], &keys[bucket], random.below(KEYS), own_ns / 2);
        if is_hit {
            client.choose(random);
        }
        is_hit
    };
    let rounds = Rounds { threads, warm_up_us, duration_us, seed, disturbance };
    // SAFETY: the locks lead to nodes on the stack of a thread that was killed; its share of the buckets is never dropped, and no
    // thread takes a lock after the run.
    let played = unsafe { rounds.play(machine, begin, round) }?;
    Ok(outcome(played))
}

fn outcome(played: Played) -> TableOutcome {
    let all = played.sum(|tally| tally.all);
    let operations = played.tallies.iter().map(|tally| tally.counted).collect();
    let Played { ns, counts, disturbed, .. } = played;
    TableOutcome { operations, ns, all, counts, disturbed }
}

/// Each key with a chance of a half.
fn half_of_all(random: &mut Random) -> Vec<u64> {
    (0..KEYS).filter(|_| random.below(2) == 0).collect()
}

/// A line whose words nobody reads: the simulation sees accesses to its address.
#[repr(align(64))]
struct Line([u8; 64]);

struct Bucket<L> {
    lock: CacheLine<L>,
    /// Of each node two lines of keys, and two of values.
    nodes: [[Line; 4]; NODES],
}

impl<L: RawLock> Bucket<L> {
    fn new(setup: &Setup) -> Self {
        let lines = || [(); 4].map(|()| Line([0; 64]));
        Self { lock: CacheLine::new(L::new(setup)), nodes: [lines(), lines()] }
    }

    /// The lock is taken as often as it may have lines.
    fn touch(&self, me: &Thread, threads: usize) {
        (0..threads).for_each(|_| self.locked(|| ()));
        self.nodes.iter().flatten().for_each(|line| me.store_line(address(line)));
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

    /// The line of the key at a place, and that of its value.
    fn lines(&self, place: usize) -> [usize; 2] {
        let (node, at) = (&self.nodes[(place / ROOM).min(NODES - 1)], place % ROOM);
        [address(&node[usize::from(at >= FIRST_LINE)]), address(&node[2 + at / VALUES])]
    }

    /// Reads the keys until the one at this place, or all of `used` keys if it is not there. The first line of a node has their
    /// number.
    fn search(&self, me: &Thread, place: Option<usize>, used: usize) {
        let last = place.unwrap_or(used.saturating_sub(1));
        let read = (0..=last).step_by(FIRST_LINE);
        read.for_each(|at| me.load_line(self.lines(at)[0]));
    }
}

fn address(line: &Line) -> usize {
    (&raw const line.0).addr()
}

/// An operation.
#[derive(Clone, Copy)]
enum Kind {
    Get,
    Put,
    Remove,
}

/// The state of a thread.
struct Client {
    kind: Kind,
    /// The next update puts.
    puts: bool,
}

impl Client {
    fn choose(&mut self, random: &mut Random) {
        self.kind = match (random.below(128) < UPDATES, self.puts) {
            (false, _) => Kind::Get,
            (true, true) => Kind::Put,
            (true, false) => Kind::Remove,
        };
        self.puts ^= !matches!(self.kind, Kind::Get);
    }

    /// One try. True if it did what it was for.
    fn work_on<L: RawLock>(
        &self,
        me: &Thread,
        bucket: &Bucket<L>,
        keys: &RefCell<Vec<u64>>,
        key: u64,
        inside_ns: u64,
    ) -> bool {
        bucket.locked(|| {
            let mut keys = keys.try_borrow_mut().expect("one thread at a time works on a bucket");
            let (place, used) = (keys.iter().position(|&other| other == key), keys.len());
            bucket.search(me, place, used);
            me.work_ns(inside_ns);
            let is_hit = match (self.kind, place) {
                (Kind::Get, Some(place)) => {
                    me.load_line(bucket.lines(place)[1]);
                    true
                }
                (Kind::Put, None) => {
                    keys.push(key);
                    [bucket.lines(0)[0]].into_iter().chain(bucket.lines(used)).for_each(|line| me.store_line(line));
                    true
                }
                (Kind::Remove, Some(place)) => {
                    keys.swap_remove(place);
                    bucket.lines(used - 1).into_iter().for_each(|line| me.load_line(line));
                    [bucket.lines(0)[0]].into_iter().chain(bucket.lines(place)).for_each(|line| me.store_line(line));
                    true
                }
                (Kind::Get | Kind::Remove, None) | (Kind::Put, Some(_)) => false,
            };
            // The published program has a full fence here.
            me.wait_for_stores();
            me.work_ns(FENCE_NS);
            is_hit
        })
    }
}
