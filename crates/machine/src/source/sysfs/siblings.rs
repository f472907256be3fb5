//! The CPUs that share a core, a package or a cache.
//!
//! Each group is named by its lowest CPU, as the kernel lists it: a CPU keeps its group's number whatever part of the
//! machine a process may use.

use std::collections::BTreeMap;

use corecast_base::{CpuId, CpuSet};

use super::tree::Tree;

/// More caches than any CPU has.
const MAX_CACHES: u32 = 16;

/// The kernel's lists of siblings.
pub(super) struct Siblings<'a> {
    tree: &'a Tree,
    /// The kernel's numbers for the package and core of each CPU; -1 is its word for unknown.
    ids: BTreeMap<CpuId, Ids>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Ids {
    package: Option<i64>,
    core: Option<i64>,
}

impl<'a> Siblings<'a> {
    pub(super) fn read(tree: &'a Tree, online: &CpuSet) -> Self {
        let id = |cpu, name| tree.number(&topology(cpu, name)).filter(|&id: &i64| id >= 0);
        let ids = |cpu| Ids { package: id(cpu, "physical_package_id"), core: id(cpu, "core_id") };
        Self { tree, ids: online.iter().map(|cpu| (cpu, ids(cpu))).collect() }
    }

    /// The core: siblings that also agree on the core's id. They do not agree on AMD's family 15h, where the kernel
    /// lists as siblings the two cores that share a floating-point unit.
    pub(super) fn core(&self, cpu: CpuId) -> Option<u32> {
        let own = self.ids.get(&cpu)?;
        let same_core = |other: CpuId| match (own.core, self.ids.get(&other).and_then(|ids| ids.core)) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        match self.listed(cpu, ["core_cpus", "thread_siblings"]) {
            Some(siblings) => siblings.iter().find(|&other| same_core(other)).map(CpuId::get),
            None if own.core.is_none() || own.package.is_none() => None,
            None => self.lowest(|ids| ids == own),
        }
    }

    /// The package (socket).
    pub(super) fn package(&self, cpu: CpuId) -> Option<u32> {
        let own = self.ids.get(&cpu)?.package;
        match self.listed(cpu, ["package_cpus", "core_siblings"]) {
            Some(siblings) => siblings.iter().next().map(CpuId::get),
            None if own.is_none() => None,
            None => self.lowest(|ids| ids.package == own),
        }
    }

    /// The second and third level of cache for data.
    pub(super) fn caches(&self, cpu: CpuId) -> (Option<u32>, Option<u32>) {
        let (mut l2, mut l3) = (None, None);
        for index in 0..MAX_CACHES {
            let file = |name: &str| format!("sys/devices/system/cpu/cpu{cpu}/cache/index{index}/{name}");
            let Some(level) = self.tree.number(&file("level")) else { break };
            let slot = match level {
                2_u32 => &mut l2,
                3 => &mut l3,
                _ => continue,
            };
            if self.tree.text(&file("type")).as_deref() != Some("Instruction") {
                let sharers = self.tree.set(&file("shared_cpu_map"), &file("shared_cpu_list"));
                *slot = sharers.filter(|cpus| cpus.contains(cpu)).map(|cpus| cpus.as_slice()[0].get());
            }
        }
        (l2, l3)
    }

    /// The first list of siblings that exists and holds the CPU itself, by its names in new and old kernels.
    fn listed(&self, cpu: CpuId, names: [&str; 2]) -> Option<CpuSet> {
        let list = |name: &str| self.tree.set(&topology(cpu, name), &topology(cpu, &format!("{name}_list")));
        names.into_iter().filter_map(list).find(|cpus| cpus.contains(cpu))
    }

    fn lowest(&self, alike: impl Fn(&Ids) -> bool) -> Option<u32> {
        self.ids.iter().find(|(_, ids)| alike(ids)).map(|(cpu, _)| cpu.get())
    }
}

fn topology(cpu: CpuId, file: &str) -> String {
    format!("sys/devices/system/cpu/cpu{cpu}/topology/{file}")
}
