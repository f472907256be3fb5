//! Classes of distance: how near two CPUs are by what they share, in a few classes instead of all pairs.
//!
//! Take it to show costs in a few lines of a table, or to measure one pair of each kind. Where costs were measured,
//! [`clusters`](crate::clusters) groups CPUs by those, whatever the system says is shared.

use crate::machine::Machine;
use crate::topology::Cpu;

/// The pairs of CPUs at one distance, as positions in the machine's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DistanceClass {
    /// The thing that two such CPUs share, or that they share nothing, in words.
    pub name: &'static str,
    /// The ordered pairs.
    pub pairs: Vec<(usize, usize)>,
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
#[must_use]
pub fn distance_classes(machine: &Machine) -> Vec<DistanceClass> {
    let names = LEVELS.map(|(name, _)| name).into_iter().chain([farthest(machine)]);
    let mut classes: Vec<DistanceClass> = names.map(|name| DistanceClass { name, pairs: Vec::new() }).collect();
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

/// The name of the class of two CPUs that share none of these.
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
    use corecast_base::CpuId;

    use super::*;
    use crate::topology::Topology;

    #[test]
    fn every_pair_is_in_the_nearest_class() {
        let cpu = |id, core, numa| Cpu { core: Some(core), numa: Some(numa), ..Cpu::flat(CpuId::new(id)) };
        let cpus = vec![cpu(0, 0, 0), cpu(1, 0, 0), cpu(2, 1, 0), cpu(3, 2, 1)];
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let classes = distance_classes(&machine);
        let sizes: Vec<(&str, usize)> = classes.iter().map(|class| (class.name, class.pairs.len())).collect();
        assert_eq!(sizes, [("same core (SMT siblings)", 2), ("same NUMA node", 4), ("different NUMA nodes", 6)]);
    }
}
