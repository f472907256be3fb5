//! Runs another contender with one thread on each CPU of one cluster, to show what the rest of a large machine adds.

use std::borrow::Cow;

use corecast::base::CpuId;
use corecast::machine::Machine;

use super::host::{Host, Setting, Work};
use corecast_race::failure::Failure;

/// See the [module](self).
pub(super) struct Confined<H>(std::marker::PhantomData<H>);

impl<H: Host> Host for Confined<H> {
    fn adapted<'a>(setting: &Setting<'a>) -> Result<Setting<'a>, Failure> {
        let cluster = setting.cluster;
        if !setting.is_pinned || cluster.len() == setting.cpus.len() {
            let reason = if setting.is_pinned { "all CPUs are of one cluster" } else { "threads are not bound" };
            return Err(Failure::Refused(format!("{reason}, so it is the same as not confined")));
        }
        Ok(Setting { cpus: Cow::Borrowed(cluster), threads: setting.threads.min(cluster.len()), ..setting.clone() })
    }

    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        H::with(setting, work)
    }
}

/// Those of the CPUs that share a last-level cache, the most that do; of one package where caches are not known of all, and all
/// where neither is.
pub(super) fn largest_cluster(machine: &Machine, cpus: &[CpuId]) -> Vec<CpuId> {
    let known = |cpu: &CpuId| machine.position(*cpu).map(|at| &machine.cpus[at]);
    let groups: Option<Vec<u32>> = cpus.iter().map(|cpu| known(cpu)?.l3).collect();
    let groups = groups.or_else(|| cpus.iter().map(|cpu| known(cpu)?.package).collect());
    let Some(groups) = groups else { return cpus.to_vec() };
    let of = |group: u32| cpus.iter().zip(&groups).filter(move |(_, other)| **other == group).map(|(cpu, _)| *cpu);
    // The first of those that are as large.
    let largest = groups.iter().rev().copied().max_by_key(|&group| of(group).count());
    largest.map(|group| of(group).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use corecast::lock::Tas;
    use corecast::machine::{Cpu, Topology};

    use super::*;
    use crate::table::locked::Locked;
    use crate::table::play::tests::SETTING;

    fn ids(ids: &[u32]) -> Vec<CpuId> {
        ids.iter().copied().map(CpuId::new).collect()
    }

    #[test]
    fn a_cluster_is_of_one_cache_or_of_one_package() {
        let cpu = |(id, l3, package)| Cpu { l3, package, ..Cpu::flat(CpuId::new(id)) };
        let machine = |cpus: &[(u32, Option<u32>, Option<u32>)]| {
            Machine::from_topology(&Topology { cpus: cpus.iter().copied().map(cpu).collect(), ..Topology::default() })
        };
        let caches = machine(&[(0, Some(0), Some(0)), (1, Some(1), Some(0)), (2, Some(1), Some(0))]);
        assert_eq!(largest_cluster(&caches, &ids(&[0, 1, 2])), ids(&[1, 2]));
        assert_eq!(largest_cluster(&caches, &ids(&[0, 1])), ids(&[0]), "the first of two");
        let packages = machine(&[(0, None, Some(0)), (1, Some(1), Some(0)), (2, Some(1), Some(1))]);
        assert_eq!(largest_cluster(&packages, &ids(&[0, 1, 2])), ids(&[0, 1]));
        let unknown = machine(&[(0, None, None), (1, None, None)]);
        assert_eq!(largest_cluster(&unknown, &ids(&[0, 1])), ids(&[0, 1]));
    }

    #[test]
    fn threads_are_as_many_as_the_cluster_has_cpus_and_one_cluster_is_skipped() {
        let (cpus, cluster) = (ids(&[0, 1, 2]), ids(&[1, 2]));
        let setting = Setting { cpus: Cow::Borrowed(&cpus), is_pinned: true, cluster: &cluster, threads: 3, ..SETTING };
        let adapted = Confined::<Locked<Tas>>::adapted(&setting).expect("there are two clusters");
        assert_eq!((&*adapted.cpus, adapted.threads), (&*cluster, 2));
        let reason =
            |setting: &Setting<'_>| Confined::<Locked<Tas>>::adapted(setting).expect_err("the same").to_string();
        assert!(reason(&Setting { cluster: &cpus, ..setting.clone() }).starts_with("all CPUs are of one cluster"));
        assert!(reason(&Setting { is_pinned: false, ..setting }).starts_with("threads are not bound"));
    }
}
