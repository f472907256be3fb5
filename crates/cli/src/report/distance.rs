//! Costs by how near two CPUs are: the heat maps in a few lines of a table.

use corecast::Machine;
use corecast::machine::{CostMatrix, Cpu};

use super::number;

/// The pairs of CPUs at one distance, as positions in the machine's list.
#[derive(Debug)]
pub(super) struct Class {
    pub(super) name: &'static str,
    pub(super) pairs: Vec<(usize, usize)>,
}

/// The least, the middle and the largest of some costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Range {
    pub(super) least: f64,
    pub(super) median: f64,
    pub(super) most: f64,
}

/// The group that a CPU belongs to at one level, if that is known.
type GroupOf = fn(&Cpu) -> Option<u32>;

/// From near to far; a pair belongs to the first that fits.
const LEVELS: [(&str, GroupOf); 5] = [
    ("same core (SMT siblings)", |cpu| cpu.core),
    ("same second-level cache", |cpu| cpu.l2),
    ("same third-level cache", |cpu| cpu.l3),
    ("same NUMA node", |cpu| cpu.numa),
    ("same package", |cpu| cpu.package),
];

/// Every ordered pair of CPUs, by distance; distances that no pair has are left out.
pub(super) fn classes(machine: &Machine) -> Vec<Class> {
    let names = LEVELS.map(|(name, _)| name).into_iter().chain([farthest(machine)]);
    let mut classes: Vec<Class> = names.map(|name| Class { name, pairs: Vec::new() }).collect();
    for (i, a) in machine.cpus.iter().enumerate() {
        for (j, b) in machine.cpus.iter().enumerate().filter(|&(j, _)| j != i) {
            let is_shared = |(_, group): &(_, GroupOf)| group(a).is_some() && group(a) == group(b);
            let level = LEVELS.iter().position(is_shared).unwrap_or(LEVELS.len());
            classes[level].pairs.push((i, j));
        }
    }
    classes.retain(|class| !class.pairs.is_empty());
    classes
}

/// The costs of these pairs; `None` if there are none.
pub(super) fn range(matrix: &CostMatrix, pairs: &[(usize, usize)]) -> Option<Range> {
    let costs: Vec<f64> = pairs.iter().map(|&(i, j)| matrix.get(i, j)).collect();
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let most = costs.iter().copied().fold(0.0, f64::max);
    number::median(costs).map(|median| Range { least, median, most })
}

/// What two CPUs are to each other that share none of these.
fn farthest(machine: &Machine) -> &'static str {
    if machine.cpus.iter().all(|cpu| cpu.package.is_some()) {
        "different packages"
    } else if machine.cpus.iter().all(|cpu| cpu.numa.is_some()) {
        "different NUMA nodes"
    } else {
        "nothing known in common"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::CpuId;
    use corecast::machine::Topology;

    #[test]
    fn every_pair_is_in_the_nearest_class() {
        let cpu = |id, core, numa| Cpu { core: Some(core), numa: Some(numa), ..Cpu::flat(CpuId::new(id)) };
        let cpus = vec![cpu(0, 0, 0), cpu(1, 0, 0), cpu(2, 1, 0), cpu(3, 2, 1)];
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let classes = classes(&machine);
        let sizes: Vec<(&str, usize)> = classes.iter().map(|class| (class.name, class.pairs.len())).collect();
        assert_eq!(sizes, [("same core (SMT siblings)", 2), ("same NUMA node", 4), ("different NUMA nodes", 6)]);
        let far = range(&machine.receive, &classes[2].pairs);
        assert_eq!(far, Some(Range { least: 120.0, median: 120.0, most: 120.0 }));
        assert_eq!(range(&machine.send, &[]), None);
    }
}
