//! Machines of several shapes.

use corecast_machine::{CoreKind, Cpu, NumaDistances, Topology};

use crate::partition::{Partition, cpu_ids, groups, ids, partition};
use crate::tree::Tree;

fn kinds(topology: &Topology) -> Vec<Option<CoreKind>> {
    topology.cpus.iter().map(|cpu| cpu.kind).collect()
}

#[test]
fn two_sockets_with_smt_and_numa() {
    let topology = Tree::flat("0-15")
        .cores("0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15")
        .packages("0-3,8-11 4-7,12-15")
        .caches(2, "0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15")
        .caches(3, "0-3,8-11 4-7,12-15")
        .node(0, "0-3,8-11", "10 21\n")
        .node(1, "4-7,12-15", "21 10\n")
        .topology();
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("0,8 1,9 2,10 3,11 4,12 5,13 6,14 7,15"));
    assert_eq!(partition(&topology, |cpu| cpu.package), groups("0-3,8-11 4-7,12-15"));
    assert_eq!(partition(&topology, |cpu| cpu.l2), partition(&topology, |cpu| cpu.core));
    assert_eq!(partition(&topology, |cpu| cpu.l3), partition(&topology, |cpu| cpu.package));
    assert_eq!(partition(&topology, |cpu| cpu.numa), partition(&topology, |cpu| cpu.package));
    let distances = NumaDistances { nodes: vec![0, 1], rows: vec![vec![10, 21], vec![21, 10]] };
    assert_eq!(topology.numa_distances, Some(distances));
    assert_eq!((topology.source.as_str(), topology.notes.as_slice()), ("sysfs", [].as_slice()));
}

#[test]
fn a_group_is_named_by_its_lowest_cpu() {
    let topology = Tree::flat("0-7").cores("0,4 1,5 2,6 3,7").packages("0-7").caches(3, "0,1,4,5 2,3,6,7").topology();
    let named = |group: fn(&Cpu) -> Option<u32>| topology.cpus.iter().map(group).collect::<Vec<_>>();
    assert_eq!(named(|cpu| cpu.core), [0, 1, 2, 3, 0, 1, 2, 3].map(Some));
    assert_eq!(named(|cpu| cpu.package), [Some(0); 8]);
    assert_eq!(named(|cpu| cpu.l3), [0, 0, 2, 2, 0, 0, 2, 2].map(Some));
}

#[test]
fn core_complexes_without_smt() {
    let topology = Tree::flat("0-7")
        .cores("0 1 2 3 4 5 6 7")
        .packages("0-7")
        .caches(3, "0-3 4-7")
        .each("0-7", "cache/index1/level", "2")
        .topology();
    assert_eq!(partition(&topology, |cpu| cpu.core).len(), 8);
    assert_eq!(partition(&topology, |cpu| cpu.package), groups("0-7"));
    assert_eq!(partition(&topology, |cpu| cpu.l3), groups("0-3 4-7"));
    assert_eq!(partition(&topology, |cpu| cpu.l2), Partition::new(), "a cache of instructions is none of data");
}

#[test]
fn modules_that_share_a_cache_are_not_smt() {
    let mut tree = Tree::flat("0-3").cores("0-1 2-3").caches(2, "0-1 2-3");
    for cpu in 0..4 {
        tree = tree.each(&cpu.to_string(), "topology/core_id", &cpu.to_string());
    }
    let topology = tree.topology();
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("0 1 2 3"));
    assert_eq!(partition(&topology, |cpu| cpu.l2), groups("0-1 2-3"));
}

#[test]
fn one_cpu() {
    let topology = Tree::flat("0").cores("0").packages("0").caches(2, "0").topology();
    assert_eq!(topology.cpus.len(), 1);
    let cpu = &topology.cpus[0];
    assert_eq!((cpu.core, cpu.package, cpu.l2, cpu.numa), (Some(0), Some(0), Some(0), Some(0)));
}

#[test]
fn holes_in_the_numbers() {
    let topology =
        Tree::flat("2-3,64,130").cores("2,64 3,130").node(3, "2,64", "10 20").node(7, "3,130", "20 10").topology();
    assert_eq!(cpu_ids(&topology), [2, 3, 64, 130]);
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("2,64 3,130"));
    assert_eq!(topology.cpus.iter().map(|cpu| cpu.numa).collect::<Vec<_>>(), [3, 7, 3, 7].map(Some));
    assert_eq!(topology.numa_distances.map(|distances| distances.nodes), Some(vec![3, 7]));
}

#[test]
fn a_flat_machine_is_a_machine() {
    let topology = Tree::flat("0-2").topology();
    assert_eq!(cpu_ids(&topology), [0, 1, 2]);
    for cpu in &topology.cpus {
        assert_eq!(*cpu, Cpu { numa: Some(0), ..Cpu::flat(cpu.id) }, "a kernel without nodes has one");
    }
    assert_eq!(topology.notes, ["not told by the system: SMT siblings, packages, L2 caches, L3 caches"]);
}

#[test]
fn ids_stand_in_for_missing_lists_of_siblings() {
    let mut tree = Tree::flat("0-3");
    for (cpu, core, package) in [("0", "0", "1"), ("1", "0", "2"), ("2", "0", "1"), ("3", "-1", "-1")] {
        tree = tree.each(cpu, "topology/core_id", core).each(cpu, "topology/physical_package_id", package);
    }
    let topology = tree.topology();
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("0,2 1"));
    assert_eq!(partition(&topology, |cpu| cpu.package), groups("0,2 1"), "CPU 3 has none: -1 is no id");
}

#[test]
fn memory_without_cpus_and_overlapping_nodes() {
    let topology = Tree::flat("0-3")
        .node(0, "", "10 20 30 30")
        .node(1, "0-1", "20 10 30 30")
        .node(2, "2-3", "30 30 10 30")
        .node(3, "1-3", "30 30 30 10")
        .topology();
    assert_eq!(topology.cpus.iter().map(|cpu| cpu.numa).collect::<Vec<_>>(), [1, 1, 2, 2].map(Some));
    assert_eq!(topology.numa_distances.map(|distances| distances.nodes), Some(vec![0, 1, 2, 3]));
    assert!(topology.notes.contains(&"NUMA node 3 claims CPUs of a lower node: left out".to_owned()));
}

#[test]
fn hybrid_kinds_by_counters_capacity_and_frequency() {
    let mut expected = vec![Some(CoreKind::Performance); 4];
    expected.extend([Some(CoreKind::Efficiency); 4]);
    let counters =
        Tree::flat("0-7").file("sys/devices/cpu_core/cpus", "0-3\n").file("sys/devices/cpu_atom/cpus", "4-7\n");
    let capacity = Tree::flat("0-7").each("0-3", "cpu_capacity", "1024").each("4-7", "cpu_capacity", "446");
    let frequency = Tree::flat("0-7")
        .each("0-7", "cpu_capacity", "1024")
        .each("0-1", "cpufreq/cpuinfo_max_freq", "5200000")
        .each("2-3", "cpufreq/cpuinfo_max_freq", "4900000")
        .each("4-7", "cpufreq/cpuinfo_max_freq", "3700000");
    for tree in [counters, capacity, frequency] {
        assert_eq!(kinds(&tree.topology()), expected);
    }
}

#[test]
fn favoured_cores_are_no_kind() {
    let mut ladder = Tree::flat("0-7");
    for cpu in ids("0-7") {
        let performance = (231 - 9 * cpu).to_string();
        ladder = ladder.each(&cpu.to_string(), "acpi_cppc/highest_perf", &performance);
    }
    let boosted = Tree::flat("0-7").each("0-1", "cpufreq/cpuinfo_max_freq", "4700000").each(
        "2-7",
        "cpufreq/cpuinfo_max_freq",
        "4500000",
    );
    let partial = Tree::flat("0-7").each("0-3", "cpu_capacity", "1024").each("4-5", "cpu_capacity", "446");
    let one_counter = Tree::flat("0-7").file("sys/devices/cpu_core/cpus", "0-7\n");
    for tree in [ladder, boosted, partial, one_counter] {
        assert_eq!(kinds(&tree.topology()), [None; 8]);
    }
}
