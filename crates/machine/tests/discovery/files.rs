//! Files that the user names, and who wins if several things are named.

use std::path::PathBuf;

use corecast_machine::source::{DiscoverError, DiscoveryRequest, SOURCES, discover};
use corecast_machine::{Machine, Topology, model_file};

use crate::partition::cpu_ids;
use crate::tree::Tree;

fn read(path: PathBuf) -> Result<Topology, DiscoverError> {
    discover(&DiscoveryRequest { file: Some(path), ..DiscoveryRequest::default() })
}

#[test]
fn a_model_file_tells_its_cpus() {
    let made_up = DiscoveryRequest { synthetic: Some("pack:2 core:2 pu:2".to_owned()), ..DiscoveryRequest::default() };
    let topology = discover(&made_up).expect("a made-up machine");
    let folder = Tree::empty();
    let path = folder.root().join("model.json");
    model_file::write(&Machine::from_topology(&topology), &path).expect("a model file");
    let found = read(path).expect("a model");
    assert_eq!(found.source, "file");
    assert_eq!(cpu_ids(&found), cpu_ids(&topology));
    assert_eq!(found.cpus[1].core, topology.cpus[1].core);
}

#[test]
fn mistakes_are_named() {
    let folder = Tree::empty()
        .file("empty", "")
        .file("text", "the quick brown fox jumps over the lazy dog and on")
        .file("binary", [0xff; 100])
        .file("foreign.json", r#"{"schema":"other/1"}"#)
        .file("cut.json", r#"  {"schema":"corecast-machine/1","#);
    for (name, reason) in [
        ("absent", "cannot read machine file"),
        (".", "this is not a regular file"),
        ("empty", "neither a corecast-machine/1 model (JSON) nor hwloc XML: it begins with \"\""),
        ("text", "it begins with \"the quick brown fox"),
        ("binary", "neither a corecast-machine/1 model"),
        ("foreign.json", "corecast-machine/1"),
        ("cut.json", "truncated"),
    ] {
        let path = folder.root().join(name);
        let error = read(path.clone()).expect_err(name).to_string();
        assert!(error.contains(reason) && error.contains(&path.display().to_string()), "{name}: {error}");
    }
}

#[test]
fn a_device_does_not_hang() {
    assert!(matches!(read("/dev/zero".into()), Err(DiscoverError::Unreadable { .. })));
}

#[test]
fn a_huge_file_is_not_read() {
    let folder = Tree::empty();
    let path = folder.root().join("huge");
    std::fs::File::create(&path).expect("a file").set_len(100 << 20).expect("a hole of 100 MiB");
    let error = read(path).expect_err("too much").to_string();
    assert!(error.contains("larger than 67108864 bytes"), "{error}");
}

#[test]
fn the_highest_source_named_wins_even_by_its_error() {
    let tree = Tree::flat("0-2").file("broken.xml", "<topology>");
    let mut request = DiscoveryRequest {
        file: Some(tree.root().join("broken.xml")),
        sysfs_root: Some(tree.root().to_owned()),
        synthetic: Some("pu:7".to_owned()),
    };
    assert!(matches!(discover(&request), Err(DiscoverError::HwlocXml { .. })));
    request.file = None;
    assert_eq!(discover(&request).expect("the tree").cpus.len(), 3);
    request.sysfs_root = None;
    assert_eq!(discover(&request).expect("the notation").cpus.len(), 7);
}

#[test]
fn names_of_sources_are_distinct() {
    let mut names: Vec<&str> = SOURCES.iter().map(|source| source.name()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert!(names.contains(&"sysfs"));
}
