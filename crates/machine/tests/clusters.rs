//! Clusters inferred from the costs of real machines.

use std::collections::{BTreeMap, BTreeSet};

use corecast_machine::{Machine, model_file};
use corecast_testing::machines;

/// All models at hand, by name; two may have the same.
fn models() -> Vec<(String, Machine)> {
    let read = |file: machines::MachineFile| (file.name, model_file::read(&file.path).expect("a model"));
    machines::models().into_iter().map(read).collect()
}

/// The models of that name, one at least.
#[track_caller]
fn named(name: &str) -> Vec<Machine> {
    let named: Vec<Machine> = models().into_iter().filter(|(other, _)| other == name).map(|(_, model)| model).collect();
    assert!(!named.is_empty(), "no model {name}");
    named
}

/// A level by size: `(clusters, members)`.
type Sizes<'a> = &'a [(usize, usize)];

/// How many clusters have how many members: `[(clusters, members)]`, largest first.
fn sizes(level: &[u32]) -> Vec<(usize, usize)> {
    let mut members: BTreeMap<u32, usize> = BTreeMap::new();
    level.iter().for_each(|&cluster| *members.entry(cluster).or_default() += 1);
    let mut clusters: BTreeMap<usize, usize> = BTreeMap::new();
    members.into_values().for_each(|members| *clusters.entry(members).or_default() += 1);
    clusters.into_iter().rev().map(|(members, clusters)| (clusters, members)).collect()
}

/// The same partition whatever its numbers.
fn numbered(groups: &[u32]) -> Vec<u32> {
    let mut seen = Vec::new();
    let number = |group: &u32| {
        seen.iter().position(|known| known == group).unwrap_or_else(|| {
            seen.push(*group);
            seen.len() - 1
        }) as u32
    };
    groups.iter().map(number).collect()
}

#[test]
fn known_machines_fall_into_their_parts() {
    let models = models();
    let known: [(&str, &[Sizes<'_>]); 10] = [
        ("paper-xeon-ivb-2x10-20", &[&[(2, 10)]]),
        ("paper-nehalem-4x8-ump-32", &[&[(4, 8)]]),
        ("paper-bloomfield-2x4x2-16", &[&[(8, 2)], &[(2, 8)]]),
        ("amd-ryzen-9-5950x-32", &[&[(16, 2)], &[(2, 16)]]),
        ("epyc-7773x-128", &[&[(64, 2)], &[(8, 16)]]),
        // A message between two core complexes of its first socket costs what one to the other socket does.
        ("epyc-7742-2x32-128", &[&[(64, 2)], &[(16, 8)], &[(1, 64), (8, 8)]]),
        ("epyc-7742-2x64-256", &[&[(128, 2)], &[(32, 8)], &[(1, 128), (16, 8)]]),
        // The efficiency cores, and two clusters of performance cores.
        ("apple-m1-pro-8", &[&[(2, 3), (1, 2)]]),
        // A mesh.
        ("aws-graviton2-64", &[]),
        ("intel-i5-4590-4", &[]),
    ];
    let mut met = BTreeSet::new();
    for (name, machine) in &models {
        let Some((_, expected)) = known.iter().find(|(known, _)| known == name) else { continue };
        let found: Vec<_> = machine.cost_levels().iter().map(|level| sizes(level)).collect();
        assert_eq!(found, *expected, "{name}");
        met.insert(name.as_str());
    }
    assert!(met.len() >= 9, "only {met:?} are at hand");
}

#[test]
fn some_level_is_the_nodes_where_the_costs_show_them() {
    // On the first, a node is not nearer to itself than nodes are to each other; on the second by less than a fifth.
    let hidden = ["paper-barcelona-8x4-32", "paper-istanbul-4x6-ump-24", "epyc-7742-2x32-128", "epyc-7742-2x64-256"];
    for (name, machine) in models() {
        let nodes = numbered(&machine.numa_nodes());
        let levels = machine.cost_levels();
        let shows = nodes.iter().all(|&node| node == 0) || levels.contains(&nodes);
        assert_eq!(shows, !hidden.contains(&name.as_str()), "{name}: {levels:?}");
        for (finer, coarser) in levels.iter().zip(levels.iter().skip(1)) {
            let mut whole = BTreeMap::new();
            let is_nested = finer.iter().zip(coarser).all(|(part, in_)| *whole.entry(part).or_insert(in_) == in_);
            assert!(is_nested, "{name}: {finer:?} {coarser:?}");
        }
    }
}

#[test]
fn clusters_stand_in_for_unknown_nodes() {
    for (name, nodes) in [("paper-xeon-ivb-2x10-20", 2), ("epyc-7773x-128", 8), ("intel-i7-6700k-8", 1)] {
        named(name).into_iter().for_each(|machine| check_that_clusters_stand_in(name, machine, nodes));
    }
}

fn check_that_clusters_stand_in(name: &str, mut machine: Machine, nodes: u32) {
    let known = numbered(&machine.numa_nodes());
    machine.cpus.iter_mut().for_each(|cpu| cpu.numa = None);
    assert_eq!(machine.numa_nodes(), known, "{name}");
    assert_eq!(known.iter().max(), Some(&(nodes - 1)), "{name}");
    let file = model_file::render(&machine).expect("a model");
    let back = model_file::parse(file).expect("its own text");
    assert!(back.cpus.iter().all(|cpu| cpu.numa.is_none()), "{name}: what is inferred is not known");
    machine.provenance.kind = "assumed".to_owned();
    assert!(machine.numa_nodes().iter().all(|&node| node == 0), "{name}: assumed costs tell no nodes");
}
