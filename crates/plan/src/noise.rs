//! The noise of measured costs, from the spreads in a machine model.

use corecast_machine::{CostMatrix, Machine};

/// The standard deviation of a normal distribution whose median absolute deviation is 1.
pub(crate) const SIGMA_PER_MAD: f64 = 1.4826;

/// The relative noise of the costs between CPUs at these positions: the median of what the spreads in the model say.
pub(crate) fn noise(machine: &Machine, positions: &[usize]) -> Option<f64> {
    let (send, receive) = (machine.extended.send_spread.as_ref()?, machine.extended.receive_spread.as_ref()?);
    let both = |a: &CostMatrix, b: &CostMatrix, i, j| a.get(i, j) + b.get(i, j);
    let pairs = positions.iter().flat_map(|&i| positions.iter().filter(move |&&j| i != j).map(move |&j| (i, j)));
    let costs = pairs.map(|(i, j)| (both(send, receive, i, j), both(&machine.send, &machine.receive, i, j)));
    let mut relative: Vec<f64> =
        costs.filter(|&(_, cost)| cost > 0.0).map(|(spread, cost)| SIGMA_PER_MAD * spread / cost).collect();
    relative.sort_by(f64::total_cmp);
    relative.get(relative.len() / 2).copied()
}
