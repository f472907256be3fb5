//! Trees of machines that the tests make up.

use std::fs;
use std::path::Path;

use corecast_machine::Topology;
use corecast_machine::source::{DiscoverError, DiscoveryRequest, discover};
use tempfile::TempDir;

use crate::partition::ids;
use crate::table::bitmap;

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

/// A place for many small files: in memory where the system has such a place.
pub(crate) fn temporary_directory() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}

/// The root directory of a machine, removed at the end of the test.
pub(crate) struct Tree {
    dir: TempDir,
}

impl Tree {
    /// A machine with these CPUs online, of which nothing else is told.
    pub(crate) fn flat(online: &str) -> Self {
        let mut tree = Self::empty().file(&format!("{CPU}/online"), online);
        for cpu in ids(online) {
            tree = tree.file(&format!("{CPU}/cpu{cpu}/uevent"), "");
        }
        tree
    }

    /// A directory without any file.
    pub(crate) fn empty() -> Self {
        Self { dir: temporary_directory() }
    }

    /// Writes one file.
    pub(crate) fn file(self, path: &str, text: impl AsRef<[u8]>) -> Self {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("directories");
        fs::write(path, text).expect("a small file");
        self
    }

    /// Writes one file in the folder of each of `cpus`.
    pub(crate) fn each(mut self, cpus: &str, file: &str, text: &str) -> Self {
        for cpu in ids(cpus) {
            self = self.file(&format!("{CPU}/cpu{cpu}/{file}"), text);
        }
        self
    }

    /// Tells the cores, as groups such as `"0,8 1,9"`, the way old kernels do: by bitmaps.
    pub(crate) fn cores(mut self, groups: &str) -> Self {
        for (number, group) in (0..).zip(groups.split_whitespace()) {
            self = self.each(group, "topology/thread_siblings", &(bitmap(group) + "\n"));
            self = self.each(group, "topology/core_id", &format!("{number}\n"));
        }
        self
    }

    /// Tells the packages, the way new kernels do, by lists only.
    pub(crate) fn packages(mut self, groups: &str) -> Self {
        for group in groups.split_whitespace() {
            self = self.each(group, "topology/package_cpus_list", &format!("{group}\n"));
        }
        self
    }

    /// Tells the caches of one level, behind a first-level cache of instructions.
    pub(crate) fn caches(mut self, level: u32, groups: &str) -> Self {
        for group in groups.split_whitespace() {
            for index in 0..level {
                let own = index + 1 == level;
                if !own && self.has(group, index) {
                    continue;
                }
                let file = |name: &str| format!("cache/index{index}/{name}");
                self = self.each(group, &file("level"), &format!("{}\n", if own { level } else { 1 }));
                self = self.each(group, &file("type"), if own { "Unified\n" } else { "Instruction\n" });
                self = self.each(group, &file("shared_cpu_list"), &format!("{group}\n"));
            }
        }
        self
    }

    fn has(&self, group: &str, index: u32) -> bool {
        let cpu = ids(group)[0];
        self.dir.path().join(format!("{CPU}/cpu{cpu}/cache/index{index}/level")).exists()
    }

    /// Tells one NUMA node; an empty list is memory without CPUs.
    pub(crate) fn node(self, number: u32, cpus: &str, distances: &str) -> Self {
        self.file(&format!("{NODE}/node{number}/cpumap"), bitmap(cpus) + "\n")
            .file(&format!("{NODE}/node{number}/distance"), distances)
    }

    /// The root directory.
    pub(crate) fn root(&self) -> &Path {
        self.dir.path()
    }

    /// The topology found below the root.
    pub(crate) fn discover(&self) -> Result<Topology, DiscoverError> {
        discover(&DiscoveryRequest { sysfs_root: Some(self.root().to_owned()), ..DiscoveryRequest::default() })
    }

    /// The topology found below the root, which must not be empty.
    #[track_caller]
    pub(crate) fn topology(&self) -> Topology {
        self.discover().expect("a usable machine")
    }
}
