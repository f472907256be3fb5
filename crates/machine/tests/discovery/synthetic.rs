//! Made-up machines in hwloc's notation.

use corecast_machine::Topology;
use corecast_machine::source::{DiscoverError, DiscoveryRequest, discover};

use crate::partition::{Partition, cpu_ids, groups, partition};

fn make(notation: &str) -> Result<Topology, DiscoverError> {
    discover(&DiscoveryRequest { synthetic: Some(notation.to_owned()), ..DiscoveryRequest::default() })
}

fn topology(notation: &str) -> Topology {
    make(notation).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_level_counts_per_object_above() {
    let topology = topology("pack:2 numa:2 l3:2 core:8 pu:2");
    assert_eq!(topology.cpus.len(), 128);
    assert_eq!(partition(&topology, |cpu| cpu.package), groups("0-63 64-127"));
    assert_eq!(partition(&topology, |cpu| cpu.numa), groups("0-31 32-63 64-95 96-127"));
    assert_eq!(partition(&topology, |cpu| cpu.l3).len(), 8);
    assert_eq!(partition(&topology, |cpu| cpu.l2), Partition::new());
    assert_eq!(partition(&topology, |cpu| cpu.core).len(), 64);
    assert_eq!(topology.cpus[127].core, Some(126));
    assert_eq!(topology.cpus[127].numa, Some(3));
}

#[test]
fn numbers_and_attributes_as_hwloc_writes_them() {
    let exported = "Package:2 [NUMANode(memory=17174994944 indexes=1,0)] L3Cache:1(size=8388608) \
                    L2Cache:2(size=262144) L1dCache:1(size=32768) L1iCache:1(size=32768) Core:1 PU:2(indexes=2*4:1*2)";
    let topology = topology(exported);
    assert_eq!(cpu_ids(&topology), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("0,4 1,5 2,6 3,7"));
    assert_eq!(partition(&topology, |cpu| cpu.l3), groups("0,1,4,5 2,3,6,7"));
    assert_eq!(topology.cpus[0].numa, Some(1));
    assert_eq!(topology.cpus[2].numa, Some(0));
}

#[test]
fn a_machine_without_nodes_has_one() {
    assert_eq!(partition(&topology("socket:1 pu:3"), |cpu| cpu.numa), groups("0-2"));
}

#[test]
fn mistakes_are_named() {
    for (notation, reason) in [
        ("", "the last level must be pu"),
        ("pack:2 core:4", "the last level must be pu"),
        ("pu:2 core:2", "the last level must be pu"),
        ("2 2", "'2' is no level"),
        ("pack:2 pu:0", "'pu:0' needs a count of at least 1"),
        ("pack:x pu:1", "'pack:x' needs a count"),
        ("pack:-1 pu:1", "'pack:-1' needs a count"),
        ("tree:2 pu:1", "'tree' is no type of level"),
        ("pack:2 pack:2 pu:1", "two levels of kind Package"),
        ("core:300 pu:300", "more than 65536 PUs"),
        ("core:99999999999 core:99999999999 pu:9", "two levels"),
        ("l3:9999999999999 core:9999999999999 pu:9", "more than 65536 PUs"),
        ("[core] pu:2", "only numa hangs beside"),
        ("pack:2(memory=1 pu:2", "stays open"),
        ("pack:2) pu:2", "')' closes nothing"),
        ("core:2 pu:2(indexes=core)", "neither a list"),
        ("core:2 pu:2(indexes=0,1)", "does not number 4 objects"),
        ("[numa(]) pu:1", "is no level"),
    ] {
        let error = make(notation).expect_err(notation).to_string();
        let named = error.contains(&format!("synthetic topology '{notation}'"));
        assert!(named && error.contains(reason), "{notation}: {error}");
    }
}

#[test]
fn long_nonsense_ends() {
    for nonsense in ["(".repeat(1 << 16), "pu:1 ".repeat(1 << 12), "die:1 ".repeat(1 << 16), "\u{1F980}".repeat(99)] {
        assert!(make(&nonsense).is_err());
    }
}
