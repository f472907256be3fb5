//! NUMA nodes and the distances between them.
//!
//! The rules are hwloc's: a kernel that knows no nodes has one, number 0; a node claiming CPUs of a lower node is a
//! mistake of the firmware and is left out; a node whose memory the process may not use is not assigned to its CPUs.
//! Nodes of memory without CPUs appear among the distances only.

use std::collections::BTreeMap;

use corecast_base::CpuId;

use super::tree::Tree;
use crate::topology::NumaDistances;

const DIR: &str = "sys/devices/system/node";

/// The node of each CPU.
pub(super) struct Nodes {
    /// `None` where the kernel knows no nodes.
    of_cpu: Option<BTreeMap<CpuId, u32>>,
    pub(super) distances: Option<NumaDistances>,
}

impl Nodes {
    /// `allowed` are the nodes whose memory the process may use, `None` is all.
    pub(super) fn read(tree: &Tree, allowed: Option<&[u32]>, notes: &mut Vec<String>) -> Self {
        let nodes = online(tree);
        if nodes.is_empty() {
            return Self { of_cpu: None, distances: None };
        }
        let mut of_cpu = claims(tree, &nodes, notes);
        let forbidden = |node: &u32| allowed.is_some_and(|allowed| !allowed.contains(node));
        if of_cpu.values().any(forbidden) {
            let left_out: Vec<u32> = nodes.iter().copied().filter(forbidden).collect();
            notes.push(format!("the memory of NUMA nodes {left_out:?} is not for this process: left out"));
            of_cpu.retain(|_, node| !forbidden(node));
        }
        let distances = distances(tree, &nodes);
        if distances.is_none() {
            notes.push("the distances between NUMA nodes are missing or make no table".to_owned());
        }
        Self { of_cpu: Some(of_cpu), distances }
    }

    /// The node of `cpu`.
    pub(super) fn of(&self, cpu: CpuId) -> Option<u32> {
        self.of_cpu.as_ref().map_or(Some(0), |nodes| nodes.get(&cpu).copied())
    }
}

/// The numbers of the nodes in use, ascending.
fn online(tree: &Tree) -> Vec<u32> {
    let folders = tree.numbered(DIR, "node");
    let told = tree.list(&format!("{DIR}/online")).filter(|nodes| !nodes.is_empty());
    let nodes = told.map_or_else(|| folders.clone(), |told| folders.intersection(&told));
    nodes.iter().map(CpuId::get).collect()
}

/// Assigns CPUs to nodes: the lowest node that claims a CPU gets all its CPUs; a later one that claims any of them gets
/// none.
fn claims(tree: &Tree, nodes: &[u32], notes: &mut Vec<String>) -> BTreeMap<CpuId, u32> {
    let mut of_cpu = BTreeMap::new();
    for &node in nodes {
        let file = |name: &str| format!("{DIR}/node{node}/{name}");
        let cpus = tree.set(&file("cpumap"), &file("cpulist")).unwrap_or_default();
        if cpus.iter().any(|cpu| of_cpu.contains_key(&cpu)) {
            notes.push(format!("NUMA node {node} claims CPUs of a lower node: left out"));
            continue;
        }
        of_cpu.extend(cpus.iter().map(|cpu| (cpu, node)));
    }
    of_cpu
}

/// The table of distances, if every node has a row for all of them.
fn distances(tree: &Tree, nodes: &[u32]) -> Option<NumaDistances> {
    let row = |node: &u32| {
        let text = tree.text(&format!("{DIR}/node{node}/distance"))?;
        let row: Vec<u32> = text.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        (row.len() == nodes.len()).then_some(row)
    };
    let rows = nodes.iter().map(row).collect::<Option<_>>()?;
    Some(NumaDistances { nodes: nodes.to_vec(), rows })
}
