//! The costs of calls of the operating system that a simulated machine has and a machine's model lacks: finding that a futex's
//! word has changed, waking a sleeper, and the change from one thread to another.

use std::time::Duration;

use corecast::base::sync::{
    AtomicBool, AtomicU32, Ordering, Scope, futex_wait, futex_wake, spin_for, spin_hint, yield_now,
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
/// Samples of yields, and the calls of one. A third thread that wants the CPU makes a yield take a slice now and then: 60 us on
/// average, where it takes 1, were measured in long samples beside other programs. The quickest samples have no such yield.
const YIELD_SAMPLES: usize = 300;
const YIELDS: u32 = 10;
const QUICK: f64 = 0.1;
/// Times that a sleeper is woken.
const WAKES: u32 = 60;
/// The time that a sleeper has to fall asleep after it has said that it will.
const SETTLE: Duration = Duration::from_micros(50);
/// The longest sleep without a look whether the measurement is over.
const NAP: Duration = Duration::from_millis(20);

/// Medians in nanoseconds, but for the last.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct SystemTimes {
    /// A futex wait that finds that the word has changed.
    pub(super) sleep: Option<f64>,
    /// The waker's own time for a sleeper on another CPU; `None` on a single CPU.
    pub(super) wake: Option<f64>,
    /// A yield to another thread on the same CPU, by the quickest tenth of all; `None` if the system did not let them take turns.
    pub(super) switch: Option<f64>,
}

/// Measures all of them on the first CPUs.
pub(super) fn measure(cpus: &[CpuId], cancel: &Cancel) -> Result<SystemTimes, Failure> {
    let group = |cpus: &[CpuId]| Group { cpus: cpus.to_vec(), cancel: cancel.clone() };
    let sleep = group(&cpus[..1]).run(&|_, _| Ok(sleep_ns()))?[0];
    let wake = match cpus {
        [_, _, ..] => wake_ns(&group(&cpus[..2]))?,
        _ => None,
    };
    Ok(SystemTimes { sleep, wake, switch: switch_ns(&group(&[cpus[0]; 2]))? })
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

/// Two threads on one CPU yield in turn. The yields of both are counted, as the system may let one of them yield to nobody.
fn switch_ns(group: &Group) -> Result<Option<f64>, Failure> {
    let is_over = AtomicBool::new(false);
    let yields = AtomicU32::new(0);
    let ranks = group.run(&|rank, meeting| {
        meeting.meet()?;
        if rank == 0 {
            let times = turns(&yields);
            // ORDERING: Relaxed, nothing is read on the strength of it
            is_over.store(true, Ordering::Relaxed);
            return Ok(times);
        }
        // ORDERING: Relaxed, nothing is read on the strength of it
        while !is_over.load(Ordering::Relaxed) {
            meeting.go_on()?;
            // ORDERING: Relaxed, only a number
            yields.fetch_add(1, Ordering::Relaxed);
            yield_now();
        }
        Ok(Vec::new())
    })?;
    Ok(Samples::of(ranks.into_iter().flatten()).quantile(QUICK))
}

/// The time of a yield in each sample in which the other thread had about as many turns.
fn turns(of_other: &AtomicU32) -> Vec<f64> {
    let clock = Clock::get();
    let sample = |_| {
        // ORDERING: Relaxed, only a number
        let before = of_other.load(Ordering::Relaxed);
        let ns = clock.ns(timed(|| (0..YIELDS).for_each(|_| yield_now())).0);
        // ORDERING: Relaxed, only a number
        let others = of_other.load(Ordering::Relaxed).wrapping_sub(before);
        let took_turns = (YIELDS / 2..=2 * YIELDS).contains(&others);
        took_turns.then(|| ns / f64::from(YIELDS + others))
    };
    (0..YIELD_SAMPLES).filter_map(sample).collect()
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
        assert!(times.switch.is_none_or(|ns| ns > 0.0), "{times:?}");
    }

    #[test]
    fn one_cpu_has_nobody_to_wake() {
        let here = pin::affinity().expect("own mask").as_slice()[0];
        assert_eq!(measure(&[here], &Cancel::new()).expect("it can be measured").wake, None);
    }
}
