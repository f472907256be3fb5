//! Trees of real machines, against what hwloc finds in them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use corecast_machine::source::{Request, discover};
use corecast_machine::{Cpu, Topology};
use serde_json::Value;
use tempfile::TempDir;

use crate::partition::{Partition, cpu_ids, partition};
use crate::tree;

/// The captured trees, which lie beside the repository and not in it.
fn data() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/sysfs");
    dir.is_dir().then_some(dir)
}

#[test]
#[expect(clippy::print_stderr, reason = "whoever runs the tests should know what they skip")]
fn all_agree_with_hwloc() {
    let Some(dir) = data() else {
        eprintln!("skipped: no captured machines in ../shared/data/sysfs");
        return;
    };
    let text = fs::read_to_string(dir.join("expected.json")).expect("what hwloc finds");
    let expected: Value = serde_json::from_str(&text).expect("JSON");
    let machines = expected.as_object().expect("an object with one field per machine");
    assert_eq!(machines.len(), 15, "machines in expected.json");
    let wrong: Vec<String> = machines.iter().flat_map(|(name, expected)| compare(name, expected, &dir)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The differences on one machine.
fn compare(name: &str, expected: &Value, dir: &Path) -> Vec<String> {
    let unpacked = unpack(&dir.join(format!("{name}.tar.bz2")));
    let root = unpacked.path().join(name);
    let topology = discover(&Request { sysfs_root: Some(root.clone()), ..Request::default() })
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut wrong = Vec::new();
    let mut check = |what: &str, found: String, wanted: String| {
        if found != wanted {
            wrong.push(format!("{name}: {what}\n   found {found}\n  wanted {wanted}"));
        }
    };
    let wanted: Vec<u32> = numbers(&expected["cpus"]);
    check("cpus", format!("{:?}", cpu_ids(&topology)), format!("{wanted:?}"));
    let mut check_groups = |level: &str, found: Partition, told: bool| {
        let wanted = if told { wanted_groups(&expected[level]) } else { Partition::new() };
        check(level, format!("{found:?}"), format!("{wanted:?}"));
    };
    check_groups("smt", partition(&topology, |cpu| cpu.core), true);
    check_groups("package", partition(&topology, |cpu| cpu.package), true);
    check_groups("l2", partition(&topology, |cpu| cpu.l2), has_cache(&root, &topology, 2));
    check_groups("l3", partition(&topology, |cpu| cpu.l3), has_cache(&root, &topology, 3));
    for cpu in &topology.cpus {
        check(&format!("numa of CPU {}", cpu.id), format!("{:?}", cpu.numa), format!("{:?}", node(expected, cpu)));
    }
    wrong
}

/// True if the tree tells of a cache of this level. Where it does not, the expectation is not of the captured machine:
/// hwloc asked the processor that it ran on, and gave CPU 0 and 1 of any tree the caches of a machine of two.
fn has_cache(root: &Path, topology: &Topology, level: u32) -> bool {
    topology.cpus.iter().any(|cpu| {
        (0..8).any(|index| {
            let file = format!("sys/devices/system/cpu/cpu{}/cache/index{index}/level", cpu.id);
            fs::read_to_string(root.join(file)).is_ok_and(|text| text.trim() == level.to_string())
        })
    })
}

/// The lowest of the nodes that hwloc finds near the CPU; all others are memory without CPUs.
fn node(expected: &Value, cpu: &Cpu) -> Option<u32> {
    expected["numa"].get(cpu.id.to_string()).and_then(|nodes| numbers(nodes).into_iter().min())
}

fn wanted_groups(groups: &Value) -> Partition {
    groups.as_array().expect("groups").iter().map(numbers).collect()
}

fn numbers(list: &Value) -> Vec<u32> {
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number");
    list.as_array().expect("a list").iter().map(number).collect()
}

/// Unpacks what discovery may want to read: an archive has thousands of other files.
fn unpack(archive: &Path) -> TempDir {
    let dir = tree::temporary_directory();
    let file = fs::File::open(archive).unwrap_or_else(|error| panic!("{}: {error}", archive.display()));
    let mut archive = tar::Archive::new(bzip2::read::BzDecoder::new(file));
    for entry in archive.entries().expect("a sound archive") {
        let mut entry = entry.expect("a sound archive");
        let path = entry.path().expect("a path").into_owned();
        if entry.header().entry_type().is_file() && is_wanted(&path) {
            let path = dir.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("directories");
            io::copy(&mut entry, &mut fs::File::create(path).expect("a file")).expect("its contents");
        }
    }
    dir
}

fn is_wanted(path: &Path) -> bool {
    let mut parts = path.iter().skip(1).map(|part| part.to_str().expect("plain names"));
    match (parts.next(), parts.next(), parts.next()) {
        (Some("proc"), Some("self" | "mounts"), _) | (Some("dev"), ..) | (Some("sys"), Some("fs"), _) => true,
        (Some("sys"), Some("devices"), Some("system")) => {
            let unread = ["cpuidle", "thermal_throttle", "microcode", "hugepages", "stats", "size"];
            !path.iter().any(|part| unread.iter().any(|unread| part == *unread))
        }
        _ => false,
    }
}
