//! Checks whether the CPUs' clocks agree, so that a time taken on one may be subtracted from a time taken on another.
//!
//! Two participants exchange a line; the answer carries the time at which it was given. In the fastest of many exchanges
//! the answer was given half-way, give or take the difference between the two directions (D. Mills, Network Time
//! Protocol, RFC 958, 1985).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use corecast::base::sync::{AtomicU64, Ordering};
use corecast::base::{CacheLine, Clock, CpuSet};
use corecast::machine::pin::PinError;

use super::abort::Abort;
use super::body::Body;
use super::crew::Crew;
use super::patience::Patience;
use super::task::Task;
use crate::failure::Failure;

/// Start windows of two participants are used only if no two CPUs' clocks differ by more.
pub const LARGEST_ACCEPTED: Duration = Duration::from_nanos(50);

const EXCHANGES: u64 = 400;
const LIMIT: Duration = Duration::from_secs(1);

/// The largest difference seen between the clock of the first CPU and that of another, in nanoseconds; `None` if some
/// pair could not be compared. The system's own clock is one for all CPUs.
///
/// # Errors
/// If a thread could not be bound to its CPU.
pub fn largest_ns(cpus: &CpuSet) -> Result<Option<f64>, PinError> {
    let clock = Clock::get();
    let Some((&first, others)) = cpus.as_slice().split_first().filter(|_| clock.is_counter()) else {
        return Ok(Some(0.0));
    };
    let mut largest: f64 = 0.0;
    for &other in others {
        let mut crew = Crew::start(&[first, other], false, LIMIT)?;
        let (bodies, abort, best) = pair();
        if crew.run(bodies, Task::Batch { iterations: EXCHANGES }, &abort).is_err() {
            return Ok(None);
        }
        let Some(best) = *best.lock().unwrap_or_else(PoisonError::into_inner) else { return Ok(None) };
        largest = largest.max(clock.ns(best.offset.unsigned_abs()));
    }
    Ok(Some(largest))
}

/// The fastest exchange so far.
#[derive(Clone, Copy)]
struct Best {
    round_trip: u64,
    /// Ticks by which the answerer's clock is ahead.
    offset: i64,
}

/// The lines of one pair.
#[derive(Default)]
struct Lines {
    /// The number of the exchange; written by the asker.
    asked: CacheLine<AtomicU64>,
    /// `[number of the exchange, time of the answer]`; written by the answerer, the time first.
    answered: CacheLine<[AtomicU64; 2]>,
}

struct Asker {
    lines: Arc<Lines>,
    abort: Arc<Abort>,
    best: Arc<Mutex<Option<Best>>>,
}

struct Answerer {
    lines: Arc<Lines>,
    abort: Arc<Abort>,
}

type Pair = (Vec<Box<dyn Body>>, Arc<Abort>, Arc<Mutex<Option<Best>>>);

fn pair() -> Pair {
    let (lines, abort, best): (Arc<Lines>, Arc<Abort>, Arc<_>) = Default::default();
    let asker = Asker { lines: Arc::clone(&lines), abort: Arc::clone(&abort), best: Arc::clone(&best) };
    let answerer = Answerer { lines, abort: Arc::clone(&abort) };
    (vec![Box::new(asker), Box::new(answerer)], abort, best)
}

impl Body for Asker {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let clock = Clock::get();
        let mut best: Option<Best> = None;
        for number in 1..=iterations {
            let before = clock.ticks();
            // ORDERING: Release, pairs with the Acquire of the answerer [offset-asked]
            self.lines.asked.store(number, Ordering::Release);
            let [answered, time] = &self.lines.answered.0;
            // ORDERING: Acquire, pairs with the Release of the answerer [offset-answered]
            Patience::new(false).until(&self.abort, || answered.load(Ordering::Acquire) == number)?;
            let after = clock.ticks();
            // ORDERING: Relaxed, stored before the number that was just acquired
            let theirs = time.load(Ordering::Relaxed);
            let round_trip = after.saturating_sub(before);
            if best.is_none_or(|best| round_trip < best.round_trip) {
                let half_way = before + round_trip / 2;
                best = Some(Best { round_trip, offset: theirs.wrapping_sub(half_way) as i64 });
            }
        }
        *self.best.lock().unwrap_or_else(PoisonError::into_inner) = best;
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

impl Body for Answerer {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let clock = Clock::get();
        for number in 1..=iterations {
            // ORDERING: Acquire, pairs with the Release of the asker [offset-asked]
            Patience::new(false).until(&self.abort, || self.lines.asked.load(Ordering::Acquire) == number)?;
            let [answered, time] = &self.lines.answered.0;
            // ORDERING: Relaxed, the Release of the number publishes it
            time.store(clock.ticks(), Ordering::Relaxed);
            // ORDERING: Release, pairs with the Acquire of the asker [offset-answered]
            answered.store(number, Ordering::Release);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::pin;

    use super::*;

    #[test]
    fn a_clock_agrees_with_itself() {
        let cpus = pin::affinity().expect("own mask");
        let one: CpuSet = cpus.iter().take(1).collect();
        assert_eq!(largest_ns(&one), Ok(Some(0.0)));
        if cpus.len() > 1 {
            let two: CpuSet = cpus.iter().take(2).collect();
            assert!(largest_ns(&two).expect("allowed CPUs").is_some_and(f64::is_finite));
        }
    }
}
