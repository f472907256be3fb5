//! What a CPU costs by itself: PAUSE, a yield, and waking a thread that sleeps.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::sync::{EventCount, spin_hint, yield_now};

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::gauge::Gauge;
use super::halt::{Halt, Halted};
use super::stats::median;

const SAMPLES: usize = 15;
const PAUSES: u32 = 500;
const YIELDS: u32 = 100;
const WAKES: u32 = 8;
/// The longest sleep without a look whether the measurement is over.
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

/// Two threads wake each other in turn: while the one that was woken gets up, the other has long gone to sleep. Half of a
/// round trip is one wake-up.
fn wake(crew: &Crew<'_>, gauge: Gauge) -> Result<f64, MeasureError> {
    let beds: Arc<[EventCount; 2]> = Arc::default();
    let halt = crew.halt;
    let tasks = [0, 1].map(|side| {
        let beds = Arc::clone(&beds);
        let task: Task<'_, f64> = Box::new(move || wake_in_turn(&beds, side, gauge, halt));
        (side, task)
    });
    Ok(crew.run(tasks.into())?[0])
}

fn wake_in_turn(beds: &[EventCount; 2], side: usize, gauge: Gauge, halt: &Halt) -> Result<f64, Halted> {
    let mut samples = Vec::new();
    let mut seen = 0;
    for _ in 0..SAMPLES {
        let start = gauge.ticks();
        for _ in 0..WAKES {
            if side == 0 {
                beds[1].advance();
            }
            sleep(&beds[side], seen, halt)?;
            seen += 1;
            if side == 1 {
                beds[0].advance();
            }
        }
        samples.push(gauge.ns_since(start) / f64::from(2 * WAKES));
    }
    Ok(median(&samples).max(0.0))
}

/// Sleeps until the count is no longer `seen`.
fn sleep(bed: &EventCount, seen: u32, halt: &Halt) -> Result<(), Halted> {
    while bed.now() == seen {
        halt.check()?;
        bed.wait(seen, NAP);
    }
    Ok(())
}
