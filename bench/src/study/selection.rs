//! Chooses the CPUs of a machine that a case plans for.

use std::collections::BTreeMap;

use corecast::{CpuId, CpuSet, Machine};

/// How the first n CPUs are counted; clusters are the NUMA nodes of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// One CPU from each cluster in turn.
    RoundRobin,
    /// Whole clusters first.
    WholeClusters,
}

impl Selection {
    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::WholeClusters => "whole clusters",
        }
    }

    /// The selections that differ for this number of members on this machine.
    pub(super) fn of(machine: &Machine, members: usize) -> Vec<Self> {
        let both = [Self::RoundRobin, Self::WholeClusters];
        let same = both[0].cpus(machine, members) == both[1].cpus(machine, members);
        both[usize::from(same)..].to_vec()
    }

    /// The CPUs.
    pub(super) fn cpus(self, machine: &Machine, members: usize) -> CpuSet {
        let mut clusters: BTreeMap<u32, Vec<CpuId>> = BTreeMap::new();
        for (cpu, node) in machine.cpus.iter().zip(machine.numa_nodes()) {
            clusters.entry(node).or_default().push(cpu.id);
        }
        let clusters: Vec<Vec<CpuId>> = clusters.into_values().collect();
        let mut ordered: Vec<(usize, usize, CpuId)> = Vec::new();
        for (cluster, cpus) in clusters.iter().enumerate() {
            ordered.extend(cpus.iter().enumerate().map(|(place, &cpu)| (cluster, place, cpu)));
        }
        if self == Self::RoundRobin {
            ordered.sort_by_key(|&(cluster, place, _)| (place, cluster));
        }
        ordered.into_iter().take(members).map(|(.., cpu)| cpu).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::machine::{Cpu, Topology};

    #[test]
    fn clusters_are_filled_or_visited_in_turn() {
        let cpus = (0..6).map(|id| Cpu { numa: Some(id / 3), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let cpus = |selection: Selection, members| selection.cpus(&machine, members).to_string();
        assert_eq!(cpus(Selection::RoundRobin, 3), "0-1,3");
        assert_eq!(cpus(Selection::WholeClusters, 4), "0-3");
        assert_eq!(Selection::of(&machine, 3).len(), 2);
        assert_eq!(Selection::of(&machine, 6), [Selection::WholeClusters], "all CPUs are all CPUs");
    }
}
