//! Runs threads that begin at the same time and stop at the same time.
//!
//! All wait behind one gate until the last of them has come, so that none has the locks for itself at first.

use std::sync::RwLock;
use std::thread;
use std::time::Duration;

use corecast::base::sync::{AtomicBool, AtomicU32, Ordering};
use corecast::base::{Clock, CpuId};
use corecast::machine::pin;

use corecast_race::failure::Failure;

/// The flag that tells threads that the time is over.
#[derive(Debug, Default)]
pub(super) struct Stop(AtomicBool);

impl Stop {
    #[inline]
    pub(super) fn is_over(&self) -> bool {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.0.load(Ordering::Relaxed)
    }

    fn end(&self) {
        // ORDERING: Relaxed, the flag publishes nothing but itself
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The CPUs in turn, one for each thread; `None` if there are no CPUs.
pub(super) fn in_turn(cpus: &[CpuId], threads: usize) -> impl Iterator<Item = Option<CpuId>> + '_ {
    (0..threads).map(|rank| cpus.get(rank % cpus.len().max(1)).copied())
}

/// Seconds from the first thread's start to the last one's end, of these ticks of both.
pub(super) fn seconds(threads: impl Iterator<Item = (u64, u64)>) -> f64 {
    let whole = threads.reduce(|whole, thread| (whole.0.min(thread.0), whole.1.max(thread.1)));
    Clock::get().ns(whole.map_or(0, |(start, end)| end.saturating_sub(start))) / 1e9
}

/// Millions in a second.
pub(super) fn mops(counts: &[u64], seconds: f64) -> f64 {
    counts.iter().sum::<u64>() as f64 / seconds / 1e6
}

/// Runs `work` by a thread for each seat, which is the CPU that it is bound to, if it is, with the seat's number; tells them
/// after `time` that it is over, and waits for what they return.
pub(super) fn together<R: Send>(
    seats: &[Option<CpuId>],
    time: Duration,
    work: &(dyn Fn(usize, &Stop) -> R + Sync),
) -> Result<Vec<R>, Failure> {
    let (gate, ready, stop) = (RwLock::new(()), AtomicU32::new(0), Stop::default());
    let run = |rank: usize| {
        let pinned = seats[rank].map(pin::pin).transpose();
        // ORDERING: Relaxed, the count publishes nothing but itself
        ready.fetch_add(1, Ordering::Relaxed);
        drop(gate.read());
        pinned.map(|_pinned| work(rank, &stop)).map_err(Failure::refused)
    };
    thread::scope(|scope| {
        let closed = gate.write();
        let run = &run;
        let spawn = |rank| thread::Builder::new().spawn_scoped(scope, move || run(rank));
        let spawn = |rank| spawn(rank).map_err(Failure::while_doing("start a thread"));
        let threads: Vec<_> = (0..seats.len()).map(spawn).collect();
        let spawned = threads.iter().flatten().count();
        // ORDERING: Relaxed, the count publishes nothing but itself
        while (ready.load(Ordering::Relaxed) as usize) < spawned {
            thread::yield_now();
        }
        drop(closed);
        if spawned == seats.len() {
            thread::sleep(time);
        }
        stop.end();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no thread of a crowd panics");
        threads.into_iter().map(|thread| thread.and_then(join)).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::this_machine::this_machine;

    #[test]
    fn each_seat_has_a_thread_which_is_where_it_should_be_and_hears_of_the_end() {
        let cpu = this_machine().cpus[0].id;
        let seen = together(&[Some(cpu), None, Some(cpu)], Duration::from_millis(1), &|rank, stop| {
            while !stop.is_over() {
                thread::yield_now();
            }
            (rank, pin::affinity().expect("it can be asked for").as_slice() == [cpu])
        });
        let seen = seen.expect("all are there");
        assert_eq!(seen.iter().map(|&(rank, _)| rank).collect::<Vec<_>>(), [0, 1, 2]);
        assert!(seen[0].1 && seen[2].1);
    }

    #[test]
    fn one_that_cannot_be_where_it_should_is_told_and_the_others_end() {
        let absent = CpuId::new(100_000);
        let error = together(&[None, Some(absent)], Duration::ZERO, &|rank, _| rank).expect_err("there is no such CPU");
        assert!(matches!(error, Failure::Refused(_)), "{error}");
    }
}
