//! Whether the clocks of different CPUs agree.
//!
//! Two threads exchange time stamps over a line, as network time protocols do: the answer's stamp should lie in the
//! middle between question and answer, give or take half of the way. No cost is computed from stamps of two CPUs, so
//! clocks that disagree spoil no measurement here; but they spoil those of users, so the model warns of it.
//!
//! Source: D. L. Mills, Internet Time Synchronization: the Network Time Protocol, 1991.

use std::sync::Arc;

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{CacheLine, CpuId};

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::gauge::Gauge;
use super::halt::{Halt, Halted};
use super::stats::median;

const EXCHANGES: u64 = 200;
/// Clocks that differ by more are said to differ.
const TOLERATED_NS: f64 = 50.0;

/// Clocks that do not agree, in words; empty if all do.
pub(super) fn check(crew: &Crew<'_>, cpus: &[CpuId], gauge: Gauge) -> Result<Vec<String>, MeasureError> {
    let mut warnings = Vec::new();
    for position in 1..crew.len() {
        let exchanges = exchange(crew, position, gauge)?;
        warnings.extend(verdict(&exchanges, &gauge, cpus[0], cpus[position]));
    }
    Ok(warnings)
}

/// Stamps of one exchange, in ticks: sent and received on one CPU, answered on the other.
#[derive(Clone, Copy, Debug)]
struct Exchange {
    sent: u64,
    answered: u64,
    received: u64,
}

impl Exchange {
    /// How far the answering clock is ahead, and how far that may be wrong: half of the way there and back.
    fn offset_and_doubt_ns(&self, gauge: &Gauge) -> (f64, f64) {
        let half_trip = self.received.saturating_sub(self.sent) / 2;
        let middle = self.sent + half_trip;
        let offset_ns = gauge.ns(self.answered.abs_diff(middle));
        (if self.answered < middle { -offset_ns } else { offset_ns }, gauge.ns(half_trip))
    }
}

/// The disagreement of two clocks: medians, as a thread that is interrupted makes any exchange look odd.
fn verdict(exchanges: &[Exchange], gauge: &Gauge, here: CpuId, there: CpuId) -> Option<String> {
    let (offsets, doubts): (Vec<f64>, Vec<f64>) =
        exchanges.iter().map(|exchange| exchange.offset_and_doubt_ns(gauge)).unzip();
    let (offset_ns, doubt_ns) = (median(&offsets), median(&doubts));
    let direction = if offset_ns < 0.0 { "behind" } else { "ahead of" };
    let certain_ns = offset_ns.abs() - doubt_ns;
    (certain_ns > TOLERATED_NS).then(|| {
        format!(
            "the clock of CPU {there} is at least {certain_ns:.0} ns {direction} that of CPU {here}: do not compare time \
             stamps of different CPUs (no cost in this file does)"
        )
    })
}

fn exchange(crew: &Crew<'_>, position: usize, gauge: Gauge) -> Result<Vec<Exchange>, MeasureError> {
    let line = Arc::new(StampLine::default());
    let (theirs, halt) = (Arc::clone(&line), crew.halt);
    let ask: Task<'_, Vec<Exchange>> = Box::new(move || (0..EXCHANGES).map(|n| line.ask(n, &gauge, halt)).collect());
    let answer: Task<'_, Vec<Exchange>> = Box::new(move || {
        (0..EXCHANGES).try_for_each(|n| theirs.answer(n, &gauge, halt))?;
        Ok(Vec::new())
    });
    Ok(crew.run(vec![(0, ask), (position, answer)])?.swap_remove(0))
}

/// Question and answer. `turn` is 2n + 1 for the n-th question, written by the side that asks, and 2n + 2 for its
/// answer, written, after its `stamp`, by the side that answers.
#[derive(Debug, Default)]
struct StampLine(CacheLine<Stamps>);

#[derive(Debug, Default)]
struct Stamps {
    turn: AtomicU64,
    stamp: AtomicU64,
}

impl StampLine {
    fn ask(&self, n: u64, gauge: &Gauge, halt: &Halt) -> Result<Exchange, Halted> {
        let sent = gauge.ticks();
        // ORDERING: Release, pairs with the Acquire in wait_for: the stamp of the last answer was read [stamp]
        self.0.turn.store(2 * n + 1, Ordering::Release);
        self.wait_for(2 * n + 2, halt)?;
        let received = gauge.ticks();
        // ORDERING: Relaxed, the turn acquired above was released after the stamp was written
        Ok(Exchange { sent, answered: self.0.stamp.load(Ordering::Relaxed), received })
    }

    fn answer(&self, n: u64, gauge: &Gauge, halt: &Halt) -> Result<(), Halted> {
        self.wait_for(2 * n + 1, halt)?;
        // ORDERING: Relaxed, made visible by the turn below
        self.0.stamp.store(gauge.ticks(), Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in wait_for [stamp]
        self.0.turn.store(2 * n + 2, Ordering::Release);
        Ok(())
    }

    fn wait_for(&self, turn: u64, halt: &Halt) -> Result<(), Halted> {
        // ORDERING: Acquire, pairs with the Releases in ask and answer [stamp]
        halt.until(|| (self.0.turn.load(Ordering::Acquire) == turn).then_some(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(exchanges: &[(i64, i64, i64)]) -> Option<String> {
        let gauge = Gauge::take();
        let ticks = |ns: i64| (1e6 + ns as f64 / gauge.ns(1_000_000) * 1e6) as u64;
        let exchanges: Vec<Exchange> = exchanges
            .iter()
            .map(|&(sent, answered, received)| Exchange {
                sent: ticks(sent),
                answered: ticks(answered),
                received: ticks(received),
            })
            .collect();
        verdict(&exchanges, &gauge, CpuId::new(3), CpuId::new(8))
    }

    #[test]
    fn clocks_that_agree_are_not_mentioned_whatever_single_exchanges_say() {
        assert_eq!(found(&[(0, 9_000, 10_000), (20_000, 20_060, 20_100), (30_000, 30_100, 39_000)]), None);
        assert_eq!(found(&[(0, 30, 60), (1_000, 1_030, 1_060), (2_000, 9_000, 2_060)]), None);
        assert_eq!(found(&[(0, 390, 400); 5]), None, "a slow way back proves nothing");
    }

    #[test]
    fn clocks_that_differ_are_named_with_the_direction() {
        let ahead = found(&[(0, 5_000, 100), (1_000, 6_000, 1_100), (2_000, 2_050, 2_100)]).expect("an offset");
        assert!(ahead.contains("CPU 8 is at least 4900 ns ahead of that of CPU 3"), "{ahead}");
        let behind = found(&[(1_000, 800, 1_100)]).expect("an offset");
        assert!(behind.contains("CPU 8 is at least 200 ns behind that of CPU 3"), "{behind}");
    }
}
