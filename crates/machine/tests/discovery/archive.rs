//! Archives of captured trees, and what hwloc finds in them, in the larger collection beside the checkout.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use corecast_machine::Topology;
use serde_json::Value;
use tempfile::TempDir;

use crate::captured::Expected;
use crate::partition::Partition;
use crate::tree;

/// The results of hwloc for each of the trees, by name.
pub(crate) fn all_expected(collection: &Path) -> BTreeMap<String, Expected> {
    let text = fs::read_to_string(collection.join("sysfs/expected.json")).expect("what hwloc finds");
    let json: BTreeMap<String, Value> = serde_json::from_str(&text).expect("one field for each machine");
    json.into_iter().map(|(name, machine)| (name, expected(&machine))).collect()
}

fn expected(machine: &Value) -> Expected {
    let groups = |level: &str| machine[level].as_array().expect("groups").iter().map(numbers).collect();
    let nodes = machine["numa"].as_object().expect("nodes of each CPU").iter();
    let lowest =
        |(cpu, nodes): (&String, &Value)| Some((cpu.parse().expect("a CPU"), numbers(nodes).into_iter().min()?));
    Expected {
        cpus: numbers(&machine["cpus"]),
        smt: groups("smt"),
        package: groups("package"),
        l2: groups("l2"),
        l3: groups("l3"),
        numa: nodes.filter_map(lowest).collect(),
    }
}

fn numbers(list: &Value) -> Vec<u32> {
    let number = |value: &Value| value.as_u64().and_then(|number| u32::try_from(number).ok()).expect("a number");
    list.as_array().expect("a list").iter().map(number).collect()
}

impl Expected {
    /// Without the caches of a level that the tree does not tell of. There the expectation is not of the captured machine:
    /// hwloc asked the processor that it ran on, and gave CPU 0 and 1 of any tree the caches of a machine of two.
    pub(crate) fn known_to(&self, root: &Path, found: &Topology) -> Self {
        let caches = |level, groups: &Partition| {
            if has_cache(root, found, level) { groups.clone() } else { Partition::new() }
        };
        Self {
            cpus: self.cpus.clone(),
            smt: self.smt.clone(),
            package: self.package.clone(),
            l2: caches(2, &self.l2),
            l3: caches(3, &self.l3),
            numa: self.numa.clone(),
        }
    }
}

/// True if the tree tells of a cache of this level.
fn has_cache(root: &Path, topology: &Topology, level: u32) -> bool {
    topology.cpus.iter().any(|cpu| {
        (0..8).any(|index| {
            let file = format!("sys/devices/system/cpu/cpu{}/cache/index{index}/level", cpu.id);
            fs::read_to_string(root.join(file)).is_ok_and(|text| text.trim() == level.to_string())
        })
    })
}

/// Unpacks what discovery may want to read of the tree `name`: an archive has thousands of other files.
pub(crate) fn unpack(collection: &Path, name: &str) -> TempDir {
    let dir = tree::temporary_directory();
    let archive = collection.join(format!("sysfs/{name}.tar.bz2"));
    let file = fs::File::open(&archive).unwrap_or_else(|error| panic!("{}: {error}", archive.display()));
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
