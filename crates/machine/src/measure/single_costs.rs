//! Costs of a single CPU: PAUSE, a yield, and waking a thread that sleeps.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::sync::{EventCount, Scope, spin_hint, yield_now};

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::gauge::Gauge;
use super::halt::{Halt, Halted};
use super::stats::median;

const SAMPLES: usize = 15;
const PAUSES: u32 = 500;
const YIELDS: u32 = 100;
/// Round trips of wake-ups.
const TRIPS: u32 = 60;
/// The time that the caller gives the answerer to fall asleep before it wakes it.
const SETTLE_NS: f64 = 50_000.0;
/// The longest sleep without a check whether the measurement is over.
const NAP: Duration = Duration::from_millis(20);

/// Median costs in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SingleCosts {
    pub(super) pause_ns: f64,
    pub(super) yield_ns: f64,
    /// From a futex wake to the sleeper's first step on another CPU; `None` on a single CPU.
    pub(super) wake_ns: Option<f64>,
}

/// Measures all of them, on the CPUs at positions 0 and 1.
pub(super) fn measure(crew: &Crew<'_>, gauge: Gauge) -> Result<SingleCosts, MeasureError> {
    let own: Task<'_, [f64; 2]> = Box::new(move || {
        let pause_ns = per_call(gauge, PAUSES, spin_hint);
        Ok([pause_ns, per_call(gauge, YIELDS, yield_now)])
    });
    let [pause_ns, yield_ns] = crew.run(vec![(0, own)])?[0];
    let wake_ns = if crew.len() > 1 { Some(wake(crew, gauge)?) } else { None };
    Ok(SingleCosts { pause_ns, yield_ns, wake_ns })
}

fn per_call(gauge: Gauge, calls: u32, mut call: impl FnMut()) -> f64 {
    let sample = |_| {
        let start = gauge.ticks();
        (0..calls).for_each(|_| call());
        gauge.ns_since(start) / f64::from(calls)
    };
    median(&(0..SAMPLES).map(sample).collect::<Vec<_>>()).max(0.0)
}

/// Two threads wake each other in turn, and each trip begins when the other one has long gone to sleep: half of a round
/// trip is one wake-up. Without that pause both may stay awake, and the figure is that of a line handed over.
fn wake(crew: &Crew<'_>, gauge: Gauge) -> Result<f64, MeasureError> {
    let beds: Arc<[EventCount; 2]> = Arc::default();
    let halt = crew.halt;
    let caller: Task<'_, f64> = Box::new({
        let beds = Arc::clone(&beds);
        move || call(&beds, gauge, halt)
    });
    let answerer: Task<'_, f64> = Box::new(move || answer(&beds, halt));
    Ok(crew.run(vec![(0, caller), (1, answerer)])?[0])
}

fn call(beds: &[EventCount; 2], gauge: Gauge, halt: &Halt) -> Result<f64, Halted> {
    let mut samples = Vec::new();
    for trip in 0..TRIPS {
        let settled = gauge.ticks();
        while gauge.ns_since(settled) < SETTLE_NS {
            halt.check()?;
            spin_hint();
        }
        let start = gauge.ticks();
        beds[1].advance(Scope::Process);
        sleep(&beds[0], trip, halt)?;
        samples.push(gauge.ns_since(start) / 2.0);
    }
    Ok(median(&samples).max(0.0))
}

fn answer(beds: &[EventCount; 2], halt: &Halt) -> Result<f64, Halted> {
    for trip in 0..TRIPS {
        sleep(&beds[1], trip, halt)?;
        beds[0].advance(Scope::Process);
    }
    Ok(0.0)
}

/// Sleeps until the count is no longer `seen`.
fn sleep(bed: &EventCount, seen: u32, halt: &Halt) -> Result<(), Halted> {
    while bed.now() == seen {
        halt.check()?;
        bed.wait(seen, NAP, Scope::Process);
    }
    Ok(())
}
