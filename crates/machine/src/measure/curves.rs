//! Costs by the number of participants: fan-out, fan-in, readers of one line, contenders for one word.
//!
//! All are seen from the CPU at position 0, whose partners are those that follow it. A planner takes them for every
//! CPU's, as measuring them for each would multiply the time by the number of CPUs; pairwise costs say which CPU is
//! far.

use super::crew::Crew;
use super::error::MeasureError;
use super::fan::{self, Fan};
use super::pairs::Pairs;
use super::visit::Batches;
use super::{fetch_add, readers};
use crate::curve::Curve;
use crate::probe::Probe;

/// Up to this number, every number is measured; beyond, the powers of two and the last.
const EACH_UP_TO: usize = 8;

/// All of them, in nanoseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curves {
    pub(super) fan_out: Curve,
    /// As `fan_out`, until the last message is visible to all.
    pub(super) visible: Curve,
    /// By the number of senders.
    pub(super) fan_in: Curve,
    /// By the number of messages, where there are more than senders.
    pub(super) dealt_in: Curve,
    pub(super) readers: Curve,
    pub(super) fetch_add: Curve,
}

impl Curves {
    /// Takes all of them; the pairs have been visited.
    pub(super) fn take<'env, P: Probe>(
        crew: &Crew<'env>,
        probe: &'env P,
        batches: &'env Batches,
        pairs: &Pairs,
    ) -> Result<Self, MeasureError> {
        let others = crew.len() - 1;
        let sent = |fan| curve(&fan::SIZES, |size| fan::cost(crew, probe, batches.gauge, fan, size));
        let (fan_out, visible) = (sent(Fan::Out)?, sent(Fan::OutVisible)?);
        let (mut fan_in, mut dealt_in) = (sent(Fan::In)?, Vec::new());
        if let Some(beyond) = fan_in.iter().position(|&(size, _)| size as usize > others) {
            dealt_in = fan_in.split_off(beyond);
        }
        let distance_ns = |to: usize| pairs.costs((0, to)).bounce.median;
        let farthest = |readers| (1..=readers).max_by(|&a, &b| distance_ns(a).total_cmp(&distance_ns(b))).unwrap_or(1);
        Ok(Self {
            fan_out,
            visible,
            fan_in,
            dealt_in,
            readers: curve(&counts(others), |k| readers::cost(crew, batches, k, farthest(k)))?,
            fetch_add: curve(&counts(crew.len()), |k| fetch_add::cost(crew, batches.gauge, k))?,
        })
    }
}

fn curve(counts: &[usize], cost: impl Fn(usize) -> Result<f64, MeasureError>) -> Result<Curve, MeasureError> {
    counts.iter().map(|&count| Ok((count as u32, cost(count)?))).collect()
}

/// The numbers up to `most` that are measured.
fn counts(most: usize) -> Vec<usize> {
    let is_measured = |&count: &usize| most <= EACH_UP_TO || count.is_power_of_two() || count == most;
    (1..=most).filter(is_measured).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_all_measured_and_of_many_the_powers_of_two_and_the_last() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(3), [1, 2, 3]);
        assert_eq!(counts(8), [1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(counts(19), [1, 2, 4, 8, 16, 19]);
        assert_eq!(counts(64), [1, 2, 4, 8, 16, 32, 64]);
    }
}
