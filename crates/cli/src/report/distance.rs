//! The costs by distance: a table that sums up the heat maps in a few lines.

use corecast::machine::CostMatrix;

use super::number;

/// The least, the middle and the largest of some costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
}

/// The costs of these pairs; `None` if there are none.
pub(super) fn range(matrix: &CostMatrix, pairs: &[(usize, usize)]) -> Option<Range> {
    let costs: Vec<f64> = pairs.iter().map(|&(i, j)| matrix.get(i, j)).collect();
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = costs.iter().copied().fold(0.0, f64::max);
    number::median(costs).map(|median| Range { least, median, most })
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::machine::{Cpu, Topology, distance_classes};
    use corecast::{CpuId, Machine};

    #[test]
    fn a_range_is_of_the_pairs_asked_for() {
        let cpu = |id, numa| Cpu { numa: Some(numa), ..Cpu::flat(CpuId::new(id)) };
        let cpus = vec![cpu(0, 0), cpu(1, 0), cpu(2, 1)];
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let far = range(&machine.receive, &distance_classes(&machine)[1].pairs);
        assert_eq!(far, Some(Range { least: 120.0, median: 120.0, most: 120.0 }));
        assert_eq!(range(&machine.send, &[]), None);
    }
}
