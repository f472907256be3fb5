//! The costs of calls of the operating system that a simulated machine has and a machine's model lacks: finding that a futex's
//! word has changed, waking a sleeper, and the change from one thread to another.

use std::time::Duration;

use corecast::base::sync::{
    AtomicU32, AtomicU64, Ordering, Scope, futex_wait, futex_wake, spin_for, spin_hint, yield_now,
};
use corecast::base::{CacheLine, Clock, CpuId};

use super::group::{Group, Meeting};
use super::operation::timed;
use crate::stats::{Samples, median};
use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;

const SAMPLES: usize = 15;
/// Calls of one sample.
const CALLS: u32 = 200;
/// Yields of each of two threads. A third thread that wants the CPU makes a yield take a slice now and then: 60 us on average,
/// where it takes 1, were measured beside other programs. Those that take more than twice as long as the quickest tenth are not
/// counted.
const YIELDS: u32 = 4000;
const QUICK: f64 = 0.1;
const LONGEST: f64 = 2.0;
/// Times that a sleeper is woken.
const WAKES: u32 = 60;
/// The time that a sleeper has to fall asleep after it has said that it will.
const SETTLE: Duration = Duration::from_micros(50);
/// The longest sleep without a look whether the measurement is over.
const NAP: Duration = Duration::from_millis(20);

/// Medians in nanoseconds, and a spread.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SystemTimes {
    /// A futex wait that finds that the word has changed.
    pub(super) sleep: Option<f64>,
    /// The waker's own time for a sleeper on another CPU; `None` on a single CPU.
    pub(super) wake: Option<f64>,
    /// From the yield of one thread until another one runs on its CPU; `None` if the system did not let two take turns.
    pub(super) hand_over: Option<f64>,
    /// By how much that is more or less: nine tenths take at most 0.8 of it more, and a tenth takes 0.8 less, as where all times
    /// between are alike.
    pub(super) spread: Option<f64>,
}

/// Measures all of them on the first CPUs.
pub(super) fn measure(cpus: &[CpuId], cancel: &Cancel) -> Result<SystemTimes, Failure> {
    let group = |cpus: &[CpuId]| Group { cpus: cpus.to_vec(), cancel: cancel.clone() };
    let sleep = group(&cpus[..1]).run(&|_, _| Ok(sleep_ns()))?[0];
    let wake = match cpus {
        [_, _, ..] => wake_ns(&group(&cpus[..2]))?,
        _ => None,
    };
    let hand_overs = hand_overs_ns(&group(&[cpus[0]; 2]))?;
    let spread = |times: &Samples| Some((times.quantile(0.9)? - times.quantile(0.1)?) / 1.6);
    Ok(SystemTimes { sleep, wake, hand_over: hand_overs.quantile(0.5), spread: spread(&hand_overs) })
}

/// The median over samples of what one of these calls takes.
fn per_call(mut call: impl FnMut()) -> Option<f64> {
    let clock = Clock::get();
    let sample = |_| clock.ns(timed(|| (0..CALLS).for_each(|_| call())).0) / f64::from(CALLS);
    median(&(0..SAMPLES).map(sample).collect::<Vec<_>>())
}

fn sleep_ns() -> Option<f64> {
    let word = AtomicU32::new(1);
    per_call(|| futex_wait(&word, 0, NAP, Scope::Process))
}

/// A sleeper, and how far it is.
#[derive(Debug, Default)]
struct Bed {
    /// The sleeper sleeps until it changes. Written by the waker.
    woken: CacheLine<AtomicU32>,
    /// The times that the sleeper was about to fall asleep. Written by the sleeper.
    sleeps: CacheLine<AtomicU32>,
}

fn wake_ns(group: &Group) -> Result<Option<f64>, Failure> {
    let bed = Bed::default();
    let ranks = group.run(&|rank, meeting| match rank {
        0 => bed.wake(meeting),
        _ => bed.sleep(meeting).map(|()| Vec::new()),
    })?;
    Ok(median(&ranks[0]))
}

impl Bed {
    fn wake(&self, meeting: &Meeting<'_>) -> Result<Vec<f64>, Failure> {
        let clock = Clock::get();
        let mut samples = Vec::new();
        for trip in 0..WAKES {
            // ORDERING: Acquire, pairs with the Release in sleep [bed-sleeps]
            while self.sleeps.load(Ordering::Acquire) == trip {
                meeting.go_on()?;
                spin_hint();
            }
            spin_for(SETTLE);
            // ORDERING: Release, pairs with the Acquire in sleep [bed-woken]
            self.woken.store(trip + 1, Ordering::Release);
            samples.push(clock.ns(timed(|| futex_wake(&self.woken, 1, Scope::Process)).0));
        }
        Ok(samples)
    }

    fn sleep(&self, meeting: &Meeting<'_>) -> Result<(), Failure> {
        for trip in 0..WAKES {
            // ORDERING: Release, pairs with the Acquire in wake [bed-sleeps]
            self.sleeps.store(trip + 1, Ordering::Release);
            // ORDERING: Acquire, pairs with the Release in wake [bed-woken]
            while self.woken.load(Ordering::Acquire) == trip {
                meeting.go_on()?;
                futex_wait(&self.woken, trip, NAP, Scope::Process);
            }
        }
        Ok(())
    }
}

/// The last yield of two threads on one CPU. Each writes it before it yields, and the other one reads it then.
#[derive(Debug, Default)]
struct LastYield {
    /// The rank of its thread.
    by: AtomicU32,
    /// The ticks at its begin.
    at: AtomicU64,
}

/// The times from a yield of one of two threads on one CPU until the other one runs, but those that a third thread made long.
fn hand_overs_ns(group: &Group) -> Result<Samples, Failure> {
    let last = LastYield::default();
    let ranks = group.run(&|rank, meeting| {
        meeting.meet()?;
        let mut times = Vec::with_capacity(YIELDS as usize);
        for _ in 0..YIELDS {
            meeting.go_on()?;
            times.extend(last.hand_over(rank as u32));
        }
        Ok(times)
    })?;
    let clock = Clock::get();
    let all: Vec<f64> = ranks.into_iter().flatten().map(|ticks| clock.ns(ticks)).collect();
    let longest = Samples::of(all.iter().copied()).quantile(QUICK).map_or(0.0, |quick| LONGEST * quick);
    Ok(Samples::of(all.into_iter().filter(|&ns| ns <= longest)))
}

impl LastYield {
    /// Yields: the ticks since the yield of the other thread, if it was the last one.
    fn hand_over(&self, rank: u32) -> Option<u64> {
        // ORDERING: Relaxed, both threads are on one CPU
        self.by.store(rank, Ordering::Relaxed);
        // ORDERING: Relaxed, both threads are on one CPU
        self.at.store(Clock::get().ticks(), Ordering::Relaxed);
        yield_now();
        let now = Clock::get().ticks();
        // ORDERING: Relaxed, both threads are on one CPU
        let before = self.at.load(Ordering::Relaxed);
        // ORDERING: Relaxed, both threads are on one CPU
        (self.by.load(Ordering::Relaxed) != rank).then(|| now.saturating_sub(before))
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::pin;

    use super::*;

    #[test]
    fn each_call_takes_some_time() {
        let allowed = pin::affinity().expect("own mask");
        let times = measure(allowed.as_slice(), &Cancel::new()).expect("it can be measured");
        assert!(times.sleep.is_some_and(|ns| ns > 0.0), "{times:?}");
        assert_eq!(times.wake.is_some(), allowed.len() > 1, "{times:?}");
        assert!(times.hand_over.is_none_or(|ns| ns > 0.0), "{times:?}");
        assert!(times.spread.is_none_or(|ns| Some(ns) < times.hand_over), "{times:?}");
    }

    #[test]
    fn one_cpu_has_nobody_to_wake() {
        let here = pin::affinity().expect("own mask").as_slice()[0];
        assert_eq!(measure(&[here], &Cancel::new()).expect("it can be measured").wake, None);
    }
}
