//! Many threads that take locks of a set at random: how often in all, how evenly, and how long the unlucky wait.
//!
//! In each critical section a thread reads and writes the line behind the lock, and between two it spins for a moment
//! if there is one lock only, as in SSYNC's experiment: else a thread would take the lock again before the others have
//! seen it free. What was counted behind the locks is compared with what the threads have counted themselves.

use std::sync::RwLock;
use std::thread;
use std::time::Duration;

use corecast::base::sync::{AtomicBool, AtomicU32, Ordering, spin_for};
use corecast::base::{Clock, CpuId};
use corecast::lock::{Domains, Setup};
use corecast::machine::pin;
use fastrand::Rng;

use super::guarded::Guarded;
use crate::failure::Failure;

/// One of so many acquisitions is timed.
const TIMED: u64 = 16;
/// Between two acquisitions of the only lock.
const PAUSE: Duration = Duration::from_nanos(200);

/// What a crowd does.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crowd<'a> {
    pub(super) threads: usize,
    pub(super) locks: usize,
    /// How long each thread spins in the critical section.
    pub(super) hold: Duration,
    /// The CPUs that threads are bound to in turn; none are bound if there is none.
    pub(super) cpus: &'a [CpuId],
    /// Which CPUs are near each other.
    pub(super) domains: &'a Domains,
    /// For so long.
    pub(super) time: Duration,
    pub(super) seed: u64,
}

/// What came of one contender in one block.
#[derive(Debug, Clone)]
pub(super) struct Turn {
    /// Acquisitions of each thread.
    pub(super) counts: Vec<u64>,
    /// Seconds from the first thread's start to the last one's end.
    pub(super) seconds: f64,
    /// How long acquisitions took that were timed, ns, unsorted.
    pub(super) waits_ns: Vec<f64>,
}

impl Turn {
    /// Millions of acquisitions in a second, of all threads.
    pub(super) fn mops(&self) -> f64 {
        self.counts.iter().sum::<u64>() as f64 / self.seconds / 1e6
    }
}

struct Thread {
    count: u64,
    waits_ns: Vec<f64>,
    start: u64,
    end: u64,
}

/// Runs the crowd over new locks.
pub(super) fn crowd<G: Guarded>(crowd: &Crowd<'_>) -> Result<Turn, Failure> {
    let mut setup = Setup::of_threads(crowd.threads);
    setup.domains = crowd.domains.clone();
    let locks: Vec<G> = (0..crowd.locks).map(|_| G::new(&setup)).collect();
    let (gate, ready, stop) = (RwLock::new(()), AtomicU32::new(0), AtomicBool::new(false));
    let threads = thread::scope(|scope| {
        let run = |rank| {
            let pinned = crowd.cpus.get(rank % crowd.cpus.len().max(1)).map(|&cpu| pin::pin(cpu)).transpose();
            // ORDERING: Relaxed, the count publishes nothing but itself
            ready.fetch_add(1, Ordering::Relaxed);
            drop(gate.read());
            pinned.map(|_pinned| take(crowd, &locks, rank, &stop)).map_err(Failure::refused)
        };
        let closed = gate.write();
        let spawn = |rank| thread::Builder::new().spawn_scoped(scope, move || run(rank)).map_err(Failure::refused);
        let threads: Vec<_> = (0..crowd.threads).map(spawn).collect();
        let spawned = threads.iter().flatten().count();
        // ORDERING: Relaxed, the count publishes nothing but itself
        while (ready.load(Ordering::Relaxed) as usize) < spawned {
            thread::yield_now();
        }
        drop(closed);
        if spawned == crowd.threads {
            thread::sleep(crowd.time);
        }
        // ORDERING: Relaxed, the flag publishes nothing but itself
        stop.store(true, Ordering::Relaxed);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no thread of a crowd panics");
        let joined = threads.into_iter().map(|thread| thread.and_then(join));
        joined.collect::<Result<Vec<Thread>, _>>()
    })?;
    let behind: u64 = locks.iter().map(|lock| lock.with(|line| line.0)).sum();
    turn(threads, behind)
}

/// What the threads did, if that is what was counted behind the locks.
fn turn(threads: Vec<Thread>, behind: u64) -> Result<Turn, Failure> {
    let counted: u64 = threads.iter().map(|thread| thread.count).sum();
    if behind != counted {
        return Err(Failure::Wrong(format!("{counted} acquisitions have counted to {behind}")));
    }
    let (start, end) = (threads.iter().map(|thread| thread.start).min(), threads.iter().map(|thread| thread.end).max());
    let ticks = end.unwrap_or(0).saturating_sub(start.unwrap_or(0));
    Ok(Turn {
        counts: threads.iter().map(|thread| thread.count).collect(),
        seconds: Clock::get().ns(ticks) / 1e9,
        waits_ns: threads.into_iter().flat_map(|thread| thread.waits_ns).collect(),
    })
}

/// One thread of it.
fn take<G: Guarded>(crowd: &Crowd<'_>, locks: &[G], rank: usize, stop: &AtomicBool) -> Thread {
    let clock = Clock::get();
    let mut random = Rng::with_seed(crowd.seed ^ (rank as u64) << 32);
    let mut thread = Thread { count: 0, waits_ns: Vec::new(), start: clock.ticks(), end: 0 };
    // ORDERING: Relaxed, the flag publishes nothing but itself
    while !stop.load(Ordering::Relaxed) {
        let lock = if locks.len() == 1 { &locks[0] } else { &locks[random.usize(..locks.len())] };
        let asked = (thread.count % TIMED == 0).then(|| clock.ticks());
        let taken = lock.with(|line| {
            let taken = asked.map(|_| clock.ticks());
            line.0 += 1;
            if !crowd.hold.is_zero() {
                spin_for(crowd.hold);
            }
            taken
        });
        if let (Some(asked), Some(taken)) = (asked, taken) {
            thread.waits_ns.push(clock.ns(taken.saturating_sub(asked)));
        }
        thread.count += 1;
        if locks.len() == 1 && crowd.threads > 1 {
            spin_for(PAUSE);
        }
    }
    thread.end = clock.ticks();
    thread
}
