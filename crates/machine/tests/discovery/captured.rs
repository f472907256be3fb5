//! Real machines, against what hwloc finds in their trees.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use corecast_machine::Topology;
use corecast_machine::source::{DiscoveryRequest, discover};
use corecast_testing::machines;
use tempfile::TempDir;

use crate::partition::{Partition, cpu_ids, groups, ids, partition};
use crate::{archive, table, tree};

/// The results of hwloc for a tree. A partition is empty where the tree tells nothing of that level.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Expected {
    pub(crate) cpus: Vec<u32>,
    pub(crate) smt: Partition,
    pub(crate) package: Partition,
    pub(crate) l2: Partition,
    pub(crate) l3: Partition,
    /// The lowest of the nodes near each CPU; all others are memory without CPUs.
    pub(crate) numa: BTreeMap<u32, u32>,
}

impl Expected {
    /// The partitions in the lines `hwloc LEVEL: GROUPS` of a table.
    fn of_table(table: &str) -> Self {
        let level = |name: &str| {
            let found =
                table.lines().find_map(|line| line.strip_prefix("hwloc ")?.strip_prefix(name)?.strip_prefix(": "));
            found.unwrap_or_default()
        };
        let nodes = level("numa").split_whitespace().map(|entry| entry.split_once('=').expect("CPUs=node"));
        let of_node = |(cpus, node): (&str, &str)| {
            let node: u32 = node.parse().expect("a node");
            ids(cpus).into_iter().map(move |cpu| (cpu, node))
        };
        Self {
            cpus: ids(level("cpus")),
            smt: groups(level("smt")),
            package: groups(level("package")),
            l2: groups(level("l2")),
            l3: groups(level("l3")),
            numa: nodes.flat_map(of_node).collect(),
        }
    }
}

fn topology(name: &str, root: &Path) -> Topology {
    let request = DiscoveryRequest { sysfs_root: Some(root.to_owned()), ..DiscoveryRequest::default() };
    discover(&request).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The tree that a table of the repository tells of.
fn laid_out(text: &str) -> TempDir {
    let root = tree::temporary_directory();
    table::lay_out(&table::parse(text), root.path());
    root
}

#[test]
fn all_machines_agree_with_hwloc() {
    let mut wrong = Vec::new();
    for system in machines::systems() {
        let text = fs::read_to_string(&system.path).expect("a table");
        let expected = Expected::of_table(&text);
        assert!(!expected.cpus.is_empty() && !expected.numa.is_empty(), "{}: nothing is expected", system.name);
        wrong.extend(differences(&system.name, &expected, &topology(&system.name, laid_out(&text).path())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The trees that the tables were made of, where they are at hand, against hwloc and against the tables.
#[test]
fn the_trees_themselves_agree_with_hwloc_and_with_their_tables() {
    let Some(collection) = machines::larger_collection() else { return };
    let expected = archive::all_expected(&collection);
    assert_eq!(expected.len(), 15, "machines that hwloc was asked for");
    let mut wrong = Vec::new();
    for (name, expected) in &expected {
        let unpacked = archive::unpack(&collection, name);
        let root = unpacked.path().join(name);
        let found = topology(name, &root);
        wrong.extend(differences(name, &expected.known_to(&root, &found), &found));
        let ours = machines::systems().into_iter().find(|system| system.name == *name);
        let text = fs::read_to_string(ours.expect("each has a table").path).expect("a table");
        if topology(name, laid_out(&text).path()) != found {
            wrong.push(format!("{name}: the table tells of another machine than the tree"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_tree_of_a_table_has_that_table() {
    for system in machines::systems() {
        let text = fs::read_to_string(&system.path).expect("a table");
        let again = table::render(&table::collect(laid_out(&text).path()));
        assert!(text.ends_with(&format!("\n\n{again}")), "{}: its tree has another table:\n{again}", system.name);
    }
}

#[test]
fn this_machine_has_a_table_that_tells_all_of_it() {
    let root = Path::new("/");
    let (files, copy) = (table::collect(root), tree::temporary_directory());
    assert_eq!(table::parse(&table::render(&files)), files);
    table::lay_out(&files, copy.path());
    let (here, there) = (topology("this machine", root), topology("its table", copy.path()));
    assert_eq!((there.cpus, there.numa_distances, there.quota), (here.cpus, here.numa_distances, here.quota));
}

/// The differences between what is found and what is expected of one machine.
fn differences(name: &str, expected: &Expected, found: &Topology) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut check = |what: &str, found: String, wanted: String| {
        if found != wanted {
            wrong.push(format!("{name}: {what}\n   found {found}\n  wanted {wanted}"));
        }
    };
    check("cpus", format!("{:?}", cpu_ids(found)), format!("{:?}", expected.cpus));
    let mut check_groups = |level: &str, found: Partition, wanted: &Partition| {
        check(level, format!("{found:?}"), format!("{wanted:?}"));
    };
    check_groups("smt", partition(found, |cpu| cpu.core), &expected.smt);
    check_groups("package", partition(found, |cpu| cpu.package), &expected.package);
    check_groups("l2", partition(found, |cpu| cpu.l2), &expected.l2);
    check_groups("l3", partition(found, |cpu| cpu.l3), &expected.l3);
    let nodes: BTreeMap<u32, u32> = found.cpus.iter().filter_map(|cpu| Some((cpu.id.get(), cpu.numa?))).collect();
    check("numa", format!("{nodes:?}"), format!("{:?}", expected.numa));
    wrong
}
