//! Kills in the midst of a lock.
//!
//! A lock that is not robust **promises** little: whatever access a thread is killed at, no two of the others hold the lock at a
//! time, and the number that it guards has all their additions. They may wait for ever: for a dead holder, and in
//! queues for a dead thread that waited. A thread that is killed between two acquisitions, with its stores done, delays nobody.
//! Nothing else is checked.
//!
//! [`Algorithm::Byte`] is refused: its sleepers lie in a table that all locks of a process share, and a thread killed within it
//! would hold a line of that table in all later trials, too. Locks that outlive their holders
//! ([`shared`](corecast_lock::shared)) need regions and processes, which are not simulated.

use corecast_base::sync::Ordering;
use corecast_lock::{Algorithm, RawLock, for_each_lock};
use corecast_sim_core::{Report, Stopped, published};

use super::{Failure, Fault, LIMIT_NS, Prepared, Trial, prepare};

pub use corecast_sim_core::LastStores;

/// The part of its round that a thread is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It does not want the lock.
    Between,
    /// It takes the lock, or waits for it.
    Locks,
    /// It holds the lock.
    Holds,
    /// It frees the lock.
    Unlocks,
}

/// The outcome of a trial in which a thread was killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KilledOutcome {
    /// The part of its round in which the thread was killed; `None` if it had ended before that access.
    pub killed: Option<Phase>,
    /// True if the others came to their ends.
    pub others_ended: bool,
}

/// Tries a lock, with a kill of the second thread before its access with this number in the place of stops.
///
/// # Errors
/// [`Failure`] if the others saw each other in the lock, if a number is missing, or if they did not end though the thread was
/// killed between two acquisitions, with its stores done, or not at all.
///
/// # Panics
/// If the lock is [`Algorithm::Byte`], or the trial has one thread.
pub fn check_killed(
    algorithm: Algorithm,
    trial: Trial,
    access: u64,
    stores: LastStores,
) -> Result<KilledOutcome, Failure> {
    assert!(algorithm != Algorithm::Byte, "the sleepers of byte lie in a table that outlives the trial");
    macro_rules! choose {
        ($($variant:ident = $number:literal: $lock:ty,)*) => {
            match algorithm {
                $(Algorithm::$variant => play::<$lock>(trial, access, stores),)*
                _ => unreachable!("all locks are listed"),
            }
        };
    }
    let outcome: Result<_, Fault> = for_each_lock!(choose);
    outcome.map_err(|fault| Failure { lock: algorithm.name(), trial, fault: Box::new(fault) })
}

/// The most virtual time for a round of all threads, where each has its CPU: without stops it takes 0.1 to 0.3 ms. Threads that
/// compete for the word of a dead holder play on until the end.
const ROUND_NS: u64 = 1_000_000;
/// The thread that is killed.
const VICTIM: usize = 1;

fn play<L: RawLock + 'static>(trial: Trial, access: u64, stores: LastStores) -> Result<KilledOutcome, Fault> {
    assert!(trial.threads > VICTIM, "a thread is killed, and another one goes on");
    let machine = published::opteron_4x12();
    let Prepared { mut run, tried, watch, alone: _alone } = prepare::<L>(&machine, trial)?;
    // SAFETY: the killed thread has nodes on its stack, and the lock points to them; its share of the lock is never dropped, and
    // no thread takes the lock after the run.
    unsafe { run.kill_at(VICTIM, access, stores) };
    let has_cpus = trial.threads <= trial.cpus;
    let limit = if has_cpus { machine.ticks(trial.rounds * ROUND_NS) } else { machine.ticks(LIMIT_NS) };
    let ended = run.finish(limit);
    if let Some(overlap) = watch.overlap.take() {
        return Err(overlap);
    }
    // ORDERING: Relaxed, the run is over
    let (counted, total) = (tried.number.load(Ordering::Relaxed), watch.additions.get());
    let phase = watch.phases.borrow()[VICTIM];
    let is_killed = was_killed(&ended);
    // The victim's last addition may be lost with its stores.
    let may_lose = u64::from(is_killed && stores == LastStores::Lost);
    if counted > total || counted + may_lose < total {
        return Err(Fault::Lost { counted, total });
    }
    let killed = is_killed.then_some(phase);
    let must_end = killed.is_none_or(|phase| phase == Phase::Between && stores == LastStores::Land);
    match ended {
        Err(stopped) if must_end => Err(stopped.into()),
        ended => Ok(KilledOutcome { killed, others_ended: ended.is_ok() }),
    }
}

pub(super) fn was_killed(ended: &Result<Report, Stopped>) -> bool {
    match ended {
        Ok(report) => !report.killed.is_empty(),
        Err(stopped) => stopped.has_killed(),
    }
}
