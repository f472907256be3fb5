//! The places where the hierarchies are visible: `proc/self/mountinfo`, or the older mount tables.

use std::path::{Component, Path, PathBuf};

use super::control_file;
use super::membership::{CPUSET, Hierarchy};

/// One mounted hierarchy of control groups.
pub(super) struct Mount {
    /// The directory it is mounted on, as the process sees it.
    pub(super) point: String,
    /// The group that the mount point shows: a container may see only its own part.
    shows: String,
    kind: Kind,
}

enum Kind {
    /// Version 2: one hierarchy for all controllers.
    Unified,
    /// Version 1, with its mount options, the controllers among them.
    Controllers(Vec<String>),
}

impl Mount {
    fn new(file_system: &str, shows: &str, point: &str, options: &str) -> Option<Self> {
        let kind = match file_system {
            "cgroup2" => Kind::Unified,
            "cgroup" => Kind::Controllers(options.split(',').map(str::to_owned).collect()),
            "cpuset" => Kind::Controllers(vec![CPUSET.to_owned()]),
            _ => return None,
        };
        Some(Self { point: unescape(point), shows: unescape(shows), kind })
    }

    /// The mount among `mounts` that shows `hierarchy`, wherever it is mounted.
    pub(super) fn of<'a>(mounts: &'a [Self], hierarchy: &Hierarchy) -> Option<&'a Self> {
        let with = |wanted: &[String]| mounts.iter().find(|mount| mount.has_all(wanted));
        let unified = || mounts.iter().find(|mount| matches!(mount.kind, Kind::Unified));
        match hierarchy {
            Hierarchy::Controllers(wanted) => with(wanted),
            Hierarchy::Unified => unified(),
            // A controller that version 1 has taken is missing from version 2.
            Hierarchy::Cpusets => with(&[CPUSET.to_owned()]).or_else(unified),
        }
    }

    /// True for a hierarchy of version 1 with all these controllers.
    fn has_all(&self, wanted: &[String]) -> bool {
        matches!(&self.kind, Kind::Controllers(mine) if wanted.iter().all(|one| mine.contains(one)))
    }

    /// The directory of group `path` below the mount point. A group outside the part that is shown (`/../other`) is
    /// represented by that part's top, the nearest that can be read.
    pub(super) fn relative(&self, path: &str) -> PathBuf {
        let below = Path::new(path).strip_prefix(&self.shows).unwrap_or(Path::new(""));
        if below.components().any(|part| part == Component::ParentDir) {
            return PathBuf::new();
        }
        below.components().filter(|part| matches!(part, Component::Normal(_))).collect()
    }
}

/// All mounted hierarchies.
pub(super) fn read(root: &Path) -> Vec<Mount> {
    if let Some(text) = control_file::read(&root.join("proc/self/mountinfo")) {
        return text.lines().filter_map(parse_mountinfo).collect();
    }
    let table = ["proc/self/mounts", "proc/mounts"].iter().find_map(|file| control_file::read(&root.join(file)));
    table.map(|text| text.lines().filter_map(parse_mounts).collect()).unwrap_or_default()
}

/// `36 35 98:0 /shown /point rw,noatime master:1 - cgroup cgroup rw,cpu`.
fn parse_mountinfo(line: &str) -> Option<Mount> {
    let (place, what) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let (shows, point) = (place.next()?, place.next()?);
    let mut what = what.split(' ');
    let (file_system, _device, options) = (what.next()?, what.next()?, what.next()?);
    Mount::new(file_system, shows, point, options)
}

/// `cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0`; this table does not tell what is shown.
fn parse_mounts(line: &str) -> Option<Mount> {
    let mut fields = line.split(' ').skip(1);
    let (point, file_system, options) = (fields.next()?, fields.next()?, fields.next()?);
    Mount::new(file_system, "/", point, options)
}

/// The kernel writes blanks in names as octal: `\040`.
fn unescape(name: &str) -> String {
    name.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")
}
