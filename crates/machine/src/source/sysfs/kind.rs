//! Fast and thrifty cores of one machine.

use std::collections::BTreeMap;

use corecast_base::{CpuId, CpuSet};

use super::tree::Tree;
use crate::source::core_kind;
use crate::topology::CoreKind;

/// Numbers that rank cores, the most reliable first. Each counts only if every CPU that is online has it; one that does
/// not show one that does not show two kinds is passed over, since x86 kernels report one capacity for unequal cores.
const RANKS: [&str; 3] = ["cpu_capacity", "cpufreq/cpuinfo_max_freq", "acpi_cppc/highest_perf"];

/// The kind of each CPU; empty where all are of one.
pub(super) fn read(tree: &Tree, online: &CpuSet) -> BTreeMap<CpuId, CoreKind> {
    named(tree).or_else(|| RANKS.iter().find_map(|rank| ranked(tree, online, rank))).unwrap_or_default()
}

/// By the performance counters: hybrid Intel machines have one kind of them for each kind of core.
fn named(tree: &Tree) -> Option<BTreeMap<CpuId, CoreKind>> {
    let counters = [
        ("cpu_core", CoreKind::Performance),
        ("cpu_atom", CoreKind::Efficiency),
        ("cpu_lowpower", CoreKind::Efficiency),
    ];
    let mut kinds = BTreeMap::new();
    for (counter, kind) in counters {
        let cpus = tree.list(&format!("sys/devices/{counter}/cpus")).unwrap_or_default();
        kinds.extend(cpus.iter().map(|cpu| (cpu, kind)));
    }
    let two_kinds = [CoreKind::Performance, CoreKind::Efficiency].iter().all(|kind| kinds.values().any(|k| k == kind));
    two_kinds.then_some(kinds)
}

fn ranked(tree: &Tree, online: &CpuSet, rank: &str) -> Option<BTreeMap<CpuId, CoreKind>> {
    let value = |cpu| Some((cpu, tree.number(&format!("sys/devices/system/cpu/cpu{cpu}/{rank}"))?));
    core_kind::split(&online.iter().map(value).collect::<Option<_>>()?)
}
