//! Topologies as sets of groups, in which form they compare whatever the groups are numbered.

use std::collections::{BTreeMap, BTreeSet};

use corecast_machine::{Cpu, Topology};

/// A set of groups of CPU numbers; CPUs in no known group are in none.
pub(crate) type Partition = BTreeSet<Vec<u32>>;

/// The groups of `topology` by one of the fields of its CPUs.
pub(crate) fn partition(topology: &Topology, group: fn(&Cpu) -> Option<u32>) -> Partition {
    let mut groups: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for cpu in &topology.cpus {
        if let Some(group) = group(cpu) {
            groups.entry(group).or_default().push(cpu.id.get());
        }
    }
    groups.into_values().collect()
}

/// The partition into the groups that `lists` name, such as `"0-3 4-7"`.
pub(crate) fn groups(lists: &str) -> Partition {
    lists.split_whitespace().map(ids).collect()
}

/// The numbers in a CPU list.
pub(crate) fn ids(list: &str) -> Vec<u32> {
    let cpus: corecast_base::CpuSet = list.parse().expect("a CPU list");
    cpus.iter().map(|cpu| cpu.get()).collect()
}

/// The numbers of the CPUs of `topology`.
pub(crate) fn cpu_ids(topology: &Topology) -> Vec<u32> {
    topology.cpus.iter().map(|cpu| cpu.id.get()).collect()
}
