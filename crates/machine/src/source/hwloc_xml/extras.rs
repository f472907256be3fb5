//! Reads the data beside the tree of cores and caches: NUMA nodes, their distances, and kinds of cores.

use std::collections::BTreeMap;

use corecast_base::{CpuId, CpuSet};
use roxmltree::Node;

use crate::source::core_kind;
use crate::source::mask;
use crate::source::place::Place;
use crate::topology::{CoreKind, NumaDistances};

/// Gives every CPU its NUMA node: of those that list it the most local one, which lists the fewest CPUs; of equally
/// local ones the lowest. hwloc 1 nests CPUs in nodes and hwloc 2 hangs nodes beside them; both list the CPUs.
pub(super) fn attach_nodes(root: Node<'_, '_>, places: &mut [Place]) {
    let mut nearest: BTreeMap<CpuId, (usize, u32)> = BTreeMap::new();
    for node in root.descendants().filter(|node| node.attribute("type") == Some("NUMANode")) {
        let index = node.attribute("os_index").and_then(|text| text.parse().ok());
        let (Some(index), Some(cpus)) = (index, cpuset(node)) else { continue };
        for cpu in cpus.iter() {
            let rank = (cpus.len(), index);
            nearest.entry(cpu).and_modify(|best| *best = rank.min(*best)).or_insert(rank);
        }
    }
    for place in places {
        place.numa = nearest.get(&place.id).map(|&(_, index)| index);
    }
}

/// Gives every CPU the kind of its core, where there are two.
pub(super) fn attach_kinds(root: Node<'_, '_>, places: &mut [Place]) {
    let kinds: Vec<(CpuSet, Node<'_, '_>)> = root
        .children()
        .filter(|child| child.has_tag_name("cpukind"))
        .filter_map(|kind| Some((cpuset(kind)?, kind)))
        .collect();
    let found = named(&kinds)
        .or_else(|| ranked(&kinds, "LinuxCapacity", places))
        .or_else(|| ranked(&kinds, "FrequencyMaxMHz", places))
        .unwrap_or_default();
    for place in places {
        place.kind = found.get(&place.id).copied();
    }
}

/// By the names that hybrid Intel machines give their cores.
fn named(kinds: &[(CpuSet, Node<'_, '_>)]) -> Option<BTreeMap<CpuId, CoreKind>> {
    let kind = |node| match info(node, "CoreType")? {
        "IntelCore" => Some(CoreKind::Performance),
        "IntelAtom" => Some(CoreKind::Efficiency),
        _ => None,
    };
    let found: BTreeMap<CpuId, CoreKind> = kinds
        .iter()
        .filter_map(|(cpus, node)| Some((cpus, kind(*node)?)))
        .flat_map(|(cpus, kind)| cpus.iter().map(move |cpu| (cpu, kind)))
        .collect();
    (!found.is_empty()).then_some(found)
}

/// By a number that every CPU has.
fn ranked(kinds: &[(CpuSet, Node<'_, '_>)], name: &str, places: &[Place]) -> Option<BTreeMap<CpuId, CoreKind>> {
    let mut values = BTreeMap::new();
    for (cpus, node) in kinds {
        let value: u64 = info(*node, name)?.parse().ok()?;
        values.extend(cpus.iter().map(|cpu| (cpu, value)));
    }
    places.iter().all(|place| values.contains_key(&place.id)).then(|| core_kind::split(&values))?
}

/// The distances between NUMA nodes, as hwloc 2 lists them. hwloc 1 hides the nodes' numbers: not read.
pub(super) fn distances(root: Node<'_, '_>) -> Option<NumaDistances> {
    let table = root.children().find(|child| {
        child.has_tag_name("distances2")
            && child.attribute("type") == Some("NUMANode")
            && child.attribute("indexing") == Some("os")
    })?;
    let nodes = numbers(table, "indexes")?;
    let values = numbers(table, "u64values")?;
    if nodes.is_empty() || values.len() != nodes.len().checked_mul(nodes.len())? {
        return None;
    }
    let rows = values.chunks(nodes.len()).map(<[u32]>::to_vec).collect();
    Some(NumaDistances { nodes, rows })
}

/// The numbers in all children named `tag`: hwloc breaks long tables into several.
fn numbers(table: Node<'_, '_>, tag: &str) -> Option<Vec<u32>> {
    let texts = table.children().filter(|child| child.has_tag_name(tag)).filter_map(|child| child.text());
    texts.flat_map(str::split_whitespace).map(|word| word.parse().ok()).collect()
}

fn cpuset(node: Node<'_, '_>) -> Option<CpuSet> {
    mask::parse(node.attribute("cpuset")?)
}

fn info<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    let info = node.children().find(|child| child.has_tag_name("info") && child.attribute("name") == Some(name))?;
    info.attribute("value")
}
