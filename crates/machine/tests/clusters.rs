//! Clusters inferred from the costs of real machines, where their models are at hand.
#![allow(clippy::print_stdout, reason = "a test that has to skip says so")]

use std::collections::BTreeMap;
use std::path::Path;

use corecast_machine::{Machine, model_file};

/// The models at hand, by file name; empty, said in words, where there are none.
fn models() -> BTreeMap<String, Machine> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/machines");
    let Ok(entries) = std::fs::read_dir(folder) else {
        println!("skipped: no captured models in ../shared/data/machines");
        return BTreeMap::new();
    };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    let models = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
    models
        .map(|path| {
            let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
            (name, model_file::read(&path).expect("a model"))
        })
        .collect()
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
    let known: [(&str, &[Sizes<'_>]); 9] = [
        ("paper-xeon-ivb-2x10-20", &[&[(2, 10)]]),
        ("paper-nehalem-4x8-ump-32", &[&[(4, 8)]]),
        ("paper-bloomfield-2x4x2-16", &[&[(8, 2)], &[(2, 8)]]),
        ("amd-ryzen-9-5950x-32", &[&[(16, 2)], &[(2, 16)]]),
        ("epyc-7773x-128", &[&[(64, 2)], &[(8, 16)]]),
        // A message between two core complexes of its first socket costs what one to the other socket does.
        ("epyc-7742-2x64-256", &[&[(128, 2)], &[(32, 8)], &[(1, 128), (16, 8)]]),
        // The efficiency cores, and two clusters of performance cores.
        ("apple-m1-pro-8", &[&[(2, 3), (1, 2)]]),
        // A mesh.
        ("aws-graviton2-64", &[]),
        ("intel-i5-4590-4", &[]),
    ];
    for (name, expected) in known {
        let Some(machine) = models.get(name) else { continue };
        let found: Vec<_> = machine.cost_levels().iter().map(|level| sizes(level)).collect();
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn some_level_is_the_nodes_where_the_costs_show_them() {
    // On the first, a node is not nearer to itself than nodes are to each other; on the second by less than a fifth.
    let hidden = ["paper-barcelona-8x4-32", "paper-istanbul-4x6-ump-24", "epyc-7742-2x64-256"];
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
fn clusters_stand_in_for_nodes_that_nobody_knows() {
    for (name, nodes) in [("paper-xeon-ivb-2x10-20", 2), ("epyc-7773x-128", 8), ("intel-i7-6700k-8", 1)] {
        let Some(mut machine) = models().remove(name) else { continue };
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
}
