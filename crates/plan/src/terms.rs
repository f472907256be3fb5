//! Costs of messages beyond pairs: terms that a model file may have, and a plan may use.
//!
//! The pairwise model says what one message costs. It does not know that the first sends of a burst only fill the store
//! buffer, that misses on different lines overlap, or the cost of one line that many members read. [`Terms`] hold the
//! measured costs of those; [`Terms::default`] is the pairwise model.

use corecast_machine::{CostMatrix, Machine};

/// Terms beyond the pairwise costs, in the machine's unit. Empty and `None` is the pairwise model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms {
    /// The extra cost (or, if negative, the saving) of the i-th of consecutive sends over the pairwise send;
    /// sends beyond the list cost what the pairwise model says.
    pub undrained_sends: Vec<f64>,
    /// The time that a receiver is busy with each further message where receives from different members overlap; the
    /// rest of the receive is latency. Never more than the pairwise receive.
    pub overlapped_receive: Option<f64>,
    /// `(k, cost)`: the time from a write until the last of k readers of that line has seen it, ascending by k.
    pub readers: Vec<(u32, f64)>,
    /// `(k, cost)`: the time until k members have incremented one shared word, ascending by k.
    pub fetch_add: Vec<(u32, f64)>,
}

impl Terms {
    /// Those that the model of this machine has.
    ///
    /// `fan_out` tells undrained sends: its i-th step against the median pairwise send. `fan_in` tells overlap: its
    /// mean step beyond the first message.
    #[must_use]
    pub fn of(machine: &Machine) -> Self {
        let extended = &machine.extended;
        let median = median_cost(&machine.send);
        let out = steps(extended.fan_out.as_deref().unwrap_or_default());
        let fan_in = extended.fan_in.as_deref().unwrap_or_default();
        let further = |first: &(u32, f64), last: &(u32, f64)| (last.1 - first.1) / f64::from(last.0 - first.0);
        let overlapped = fan_in.first().zip(fan_in.last()).filter(|(first, last)| first.0 < last.0);
        Self {
            undrained_sends: out.into_iter().map(|step| step - median).collect(),
            overlapped_receive: overlapped.map(|(first, last)| further(first, last).max(0.0)),
            readers: extended.readers.clone().unwrap_or_default(),
            fetch_add: extended.fetch_add.clone().unwrap_or_default(),
        }
    }

    /// True if they add nothing to the pairwise model.
    #[must_use]
    pub fn is_pairwise(&self) -> bool {
        *self == Self::default()
    }
}

/// The cost of each single step of a cumulative curve, straight between the points measured.
fn steps(curve: &[(u32, f64)]) -> Vec<f64> {
    let mut steps = Vec::new();
    let mut before = (0, 0.0);
    for &(count, cost) in curve {
        let step = (cost - before.1) / f64::from(count.saturating_sub(before.0).max(1));
        steps.extend((before.0..count).map(|_| step));
        before = (count, cost);
    }
    steps
}

/// The median cost between different members; 0 for a single one.
fn median_cost(matrix: &CostMatrix) -> f64 {
    let len = matrix.len();
    let pairs = (0..len).flat_map(|i| (0..len).filter(move |&j| i != j).map(move |j| (i, j)));
    let mut costs: Vec<f64> = pairs.map(|(i, j)| matrix.get(i, j)).collect();
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Topology};

    #[test]
    fn curves_become_steps_against_the_pairwise_cost() {
        let cpus = (0..3).map(|id| Cpu::flat(CpuId::new(id))).collect();
        let mut machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        assert!(Terms::of(&machine).is_pairwise());
        machine.send = CostMatrix::from_fn(3, |i, j| if i == j { 0.0 } else { 10.0 }).expect("costs");
        machine.extended.fan_out = Some(vec![(1, 2.0), (3, 10.0), (4, 22.0)]);
        machine.extended.fan_in = Some(vec![(1, 50.0), (3, 80.0)]);
        let terms = Terms::of(&machine);
        assert_eq!(terms.undrained_sends, [-8.0, -6.0, -6.0, 2.0]);
        assert_eq!(terms.overlapped_receive, Some(15.0));
        machine.extended.readers = Some(vec![(1, 20.0), (2, 30.0)]);
        machine.extended.fetch_add = Some(vec![(1, 5.0), (3, 45.0)]);
        let terms = Terms::of(&machine);
        assert_eq!((terms.readers.len(), terms.fetch_add[1]), (2, (3, 45.0)));
    }
}
