//! Many threads that take locks of a set at random: how often in all, how evenly, and how long the unlucky wait.
//!
//! In each critical section a thread reads and writes the line behind the lock, and between two it spins for a multiple of the
//! time that it holds a lock, or, as in SSYNC's experiment, for a moment if there is one lock only: else a thread would take the
//! lock again before the others have seen it free. Foreign threads may spin beside, which take no lock and want the CPUs. The
//! counts behind the locks are compared with those that the threads have kept themselves.

use std::time::Duration;

use corecast::base::sync::spin_for;
use corecast::base::{Clock, CpuId};
use corecast::lock::{Domains, Setup};
use fastrand::Rng;

use super::guarded::Guarded;
use super::together::{Stop, in_turn, mops, seconds, together};
use corecast_race::failure::Failure;
use corecast_race::harness::is_crowded;

/// One of this many acquisitions is timed.
const TIMED: u64 = 16;
/// Between two acquisitions of the only lock.
pub(super) const PAUSE: Duration = Duration::from_nanos(200);
/// How long foreign threads spin between two looks at whether they should end.
const FOREIGN: Duration = Duration::from_micros(1);

/// The work of a crowd.
#[derive(Debug, Clone, Copy)]
pub(super) struct Crowd<'a> {
    pub(super) threads: usize,
    pub(super) locks: usize,
    /// How long each thread spins in the critical section.
    pub(super) hold: Duration,
    /// How many times as long it stays outside between two; `None` for what SSYNC does.
    pub(super) gap: Option<u32>,
    /// Threads beside that take no lock, and are bound to the CPUs in turn.
    pub(super) foreign: usize,
    pub(super) cpus: &'a [CpuId],
    /// Whether threads are bound to the CPUs, in turn.
    pub(super) pinned: bool,
    /// Which CPUs are near each other.
    pub(super) domains: &'a Domains,
    /// For so long.
    pub(super) time: Duration,
    pub(super) seed: u64,
}

impl Crowd<'_> {
    /// How long a thread stays outside between two critical sections.
    pub(super) fn outside(&self) -> Duration {
        match self.gap {
            Some(times) => self.hold * times,
            None if self.locks == 1 && self.threads > 1 => PAUSE,
            None => Duration::ZERO,
        }
    }

    /// Where each thread runs, the foreign ones last.
    fn seats(&self) -> Vec<Option<CpuId>> {
        let own = in_turn(self.cpus, self.threads).map(|seat| seat.filter(|_| self.pinned));
        own.chain(in_turn(self.cpus, self.foreign)).collect()
    }
}

/// The results of one contender in one block.
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
        mops(&self.counts, self.seconds)
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
    let clients = crowd.threads.saturating_sub(G::SERVERS);
    if clients == 0 {
        return Err(Failure::Refused("too few threads: none is left to be a client".to_owned()));
    }
    refuse_crowd::<G>(crowd.threads + crowd.foreign, crowd.cpus.len())?;
    let mut setup = Setup::of_threads(crowd.threads);
    setup.domains = crowd.domains.clone();
    let locks: Vec<G> = (0..crowd.locks).map(|_| G::new(&setup)).collect();
    let seats = crowd.seats();
    if let Some(cpu) = seats[0] {
        locks.iter().try_for_each(|lock| lock.bind(cpu))?;
    }
    let threads = together(&seats[G::SERVERS..], crowd.time, &|rank, stop| {
        if rank < clients {
            return Some(take(crowd, &locks, rank, stop));
        }
        while !stop.is_over() {
            spin_for(FOREIGN);
        }
        None
    })?;
    let behind: u64 = locks.iter().map(|lock| lock.with(|line| line.0)).sum();
    turn(threads.into_iter().flatten().collect(), behind)
}

/// An error if there is no such lock, or the threads have to share CPUs and waiting threads would not let the others run.
pub(super) fn refuse_crowd<G: Guarded>(threads: usize, cpus: usize) -> Result<(), Failure> {
    G::is_there()?;
    if !G::GIVES_WAY && is_crowded(threads, cpus) {
        return Err(Failure::Refused("a waiting thread never gives up its CPU, and there are more threads".to_owned()));
    }
    Ok(())
}

/// The counts of the threads, if they are equal to those behind the locks.
fn turn(threads: Vec<Thread>, behind: u64) -> Result<Turn, Failure> {
    let counted: u64 = threads.iter().map(|thread| thread.count).sum();
    if behind != counted {
        return Err(Failure::Wrong(format!("{counted} acquisitions have counted to {behind}")));
    }
    Ok(Turn {
        counts: threads.iter().map(|thread| thread.count).collect(),
        seconds: seconds(threads.iter().map(|thread| (thread.start, thread.end))),
        waits_ns: threads.into_iter().flat_map(|thread| thread.waits_ns).collect(),
    })
}

/// One thread of it.
fn take<G: Guarded>(crowd: &Crowd<'_>, locks: &[G], rank: usize, stop: &Stop) -> Thread {
    let (clock, outside) = (Clock::get(), crowd.outside());
    let mut random = Rng::with_seed(crowd.seed ^ (rank as u64) << 32);
    let mut thread = Thread { count: 0, waits_ns: Vec::new(), start: clock.ticks(), end: 0 };
    while !stop.is_over() {
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
        if !outside.is_zero() {
            spin_for(outside);
        }
    }
    thread.end = clock.ticks();
    thread
}

#[cfg(test)]
mod tests {
    use corecast::lock::{Mutex, Tas};

    use super::super::grid::alone;
    use super::super::guarded::Line;
    use super::*;
    use crate::this_machine::this_machine;

    const HOLD: Duration = Duration::from_micros(3);

    #[test]
    fn the_gap_is_a_multiple_of_the_hold_or_what_the_source_does() {
        let domains = Domains::one();
        let crowd = Crowd { hold: HOLD, ..alone(&[], &domains, Duration::ZERO, 1) };
        let outside = |threads, locks, gap| Crowd { threads, locks, gap, ..crowd }.outside();
        assert_eq!([outside(2, 1, Some(0)), outside(2, 1, Some(10))], [Duration::ZERO, 10 * HOLD]);
        assert_eq!(
            [(1, 1), (2, 1), (2, 4)].map(|(threads, locks)| outside(threads, locks, None)),
            [Duration::ZERO, PAUSE, Duration::ZERO]
        );
    }

    #[test]
    fn foreign_threads_are_bound_also_where_the_others_are_not() {
        let (domains, cpus) = (Domains::one(), [4, 6].map(CpuId::new));
        let crowd = Crowd { threads: 3, foreign: 3, ..alone(&cpus, &domains, Duration::ZERO, 1) };
        let [first, second] = cpus.map(Some);
        assert_eq!(crowd.seats(), [first, second, first, first, second, first]);
        assert_eq!(Crowd { pinned: false, ..crowd }.seats()[..4], [None, None, None, first]);
    }

    #[test]
    fn foreign_threads_take_no_lock_and_end_with_the_block() {
        let (machine, domains) = (this_machine(), Domains::one());
        let cpus: Vec<CpuId> = machine.cpus.iter().map(|cpu| cpu.id).collect();
        let crowd = Crowd { threads: 2, foreign: 2, ..alone(&cpus, &domains, Duration::from_millis(2), 1) };
        let turn = super::crowd::<Mutex<Line, Tas>>(&crowd).expect("what is counted is what was taken");
        assert_eq!(turn.counts.len(), 2);
    }
}
