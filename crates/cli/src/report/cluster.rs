//! The order in which CPUs stand in the heat maps, and where the borders between their clusters are.
//!
//! Kernels often number CPUs across nodes and siblings; sorted by node, third-level cache and core, those that are near
//! each other stand together and their costs form squares.

use std::ops::Range;

use corecast::Machine;

/// How many different colours nodes have; more nodes share them.
const NODE_COLOURS: usize = 8;

/// The CPUs of a machine by cluster.
#[derive(Debug)]
pub(crate) struct Clusters {
    /// Positions in the machine's list of CPUs, in the order of drawing.
    pub(crate) order: Vec<usize>,
    /// Runs of the order in one NUMA node.
    pub(crate) nodes: Vec<Run>,
    /// Runs of the order in one node with one third-level cache.
    pub(crate) caches: Vec<Run>,
}

/// Neighbours in the order that are in one cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// Their places in the order.
    pub(crate) places: Range<usize>,
    /// Their NUMA node.
    pub(crate) node: u32,
}

impl Clusters {
    pub(crate) fn of(machine: &Machine) -> Self {
        let nodes = machine.numa_nodes();
        let key = |position: usize| (nodes[position], machine.cpus[position].l3);
        let mut order: Vec<usize> = (0..machine.cpus.len()).collect();
        order.sort_by_key(|&position| {
            let cpu = &machine.cpus[position];
            (key(position), cpu.l2, cpu.core, cpu.id)
        });
        let runs = |is_same: &dyn Fn(usize, usize) -> bool| {
            let mut runs: Vec<Run> = Vec::new();
            for chunk in order.chunk_by(|&a, &b| is_same(a, b)) {
                let start = runs.last().map_or(0, |run| run.places.end);
                runs.push(Run { places: start..start + chunk.len(), node: nodes[chunk[0]] });
            }
            runs
        };
        let by_node = runs(&|a, b| nodes[a] == nodes[b]);
        let by_cache = runs(&|a, b| key(a) == key(b));
        Self { order, nodes: by_node, caches: by_cache }
    }
}

/// The class that gives the n-th of a machine's nodes its colour.
pub(super) fn node_class(nodes: &[u32], node: u32) -> String {
    let place = nodes.iter().position(|&known| known == node).unwrap_or(0);
    format!("node{}", place % NODE_COLOURS)
}

/// The NUMA nodes, ascending, each once.
pub(super) fn distinct(nodes: impl IntoIterator<Item = u32>) -> Vec<u32> {
    let mut nodes: Vec<u32> = nodes.into_iter().collect();
    nodes.sort_unstable();
    nodes.dedup();
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast::CpuId;
    use corecast::machine::{Cpu, Topology};

    #[test]
    fn near_cpus_stand_together() {
        // Numbered across two nodes, with two caches in each.
        let cpus = (0..8).map(|id| Cpu { numa: Some(id % 2), l3: Some(id % 4), ..Cpu::flat(CpuId::new(id)) }).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let clusters = Clusters::of(&machine);
        assert_eq!(clusters.order, [0, 4, 2, 6, 1, 5, 3, 7]);
        let places = |runs: &[Run]| runs.iter().map(|run| run.places.clone()).collect::<Vec<_>>();
        assert_eq!(places(&clusters.nodes), [0..4, 4..8]);
        assert_eq!(places(&clusters.caches), [0..2, 2..4, 4..6, 6..8]);
        assert_eq!(clusters.caches[3].node, 1);
    }

    #[test]
    fn nodes_with_large_numbers_still_have_colours() {
        let nodes = distinct([64, 3, 64, 250]);
        assert_eq!(nodes, [3, 64, 250]);
        assert_eq!(node_class(&nodes, 250), "node2");
    }
}
