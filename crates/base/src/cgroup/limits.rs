//! The files of a group and its ancestors, and what they allow together.

use std::path::{Path, PathBuf};

use super::control_file::read;
use super::membership::{self, CPUSET, Membership};
use super::mount::{self, Mount};
use crate::CpuSet;

/// The kernel's default accounting period, for a `cpu.max` that names none.
const DEFAULT_PERIOD_US: f64 = 100_000.0;

/// The limits of a process by its control groups; `None` is no limit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// The CPUs it may run on.
    pub cpuset: Option<CpuSet>,
    /// The NUMA nodes it may allocate memory on, ascending.
    pub nodes: Option<Vec<u32>>,
    /// The CPU time it may use, in CPUs: 0.5 is half of one. The tightest limit of all ancestors.
    pub quota: Option<f64>,
}

impl Limits {
    /// The limits on the process whose `proc/self` lies below `root`: `/` for the caller itself, or the directory of a
    /// captured machine.
    #[must_use]
    pub fn read(root: &Path) -> Self {
        let groups = groups(root);
        Self {
            cpuset: groups.iter().filter_map(Group::cpuset).reduce(|a, b| a.intersection(&b)),
            nodes: groups.iter().filter_map(Group::nodes).reduce(|a, b| a.intersection(&b)).map(numbers),
            quota: groups.iter().filter_map(Group::quota).reduce(f64::min),
        }
    }
}

/// The groups of the process whose `proc/self` lies below `root`.
pub(super) fn groups(root: &Path) -> Vec<Group> {
    let mounts = mount::read(root);
    let memberships = membership::read(root).into_iter();
    memberships.filter_map(|membership| Group::locate(root, &mounts, membership)).collect()
}

/// Node lists have the notation of CPU lists, and are read as such.
fn numbers(nodes: CpuSet) -> Vec<u32> {
    nodes.iter().map(|node| node.get()).collect()
}

/// The directory of one group of the process, and of its ancestors up to where the hierarchy is mounted.
pub(super) struct Group {
    pub(super) membership: Membership,
    /// From the group itself upwards.
    pub(super) dirs: Vec<PathBuf>,
}

impl Group {
    fn locate(root: &Path, mounts: &[Mount], membership: Membership) -> Option<Self> {
        let mount = Mount::of(mounts, &membership.hierarchy)?;
        let top = root.join(mount.point.trim_start_matches('/'));
        let leaf = top.join(mount.relative(&membership.path));
        let dirs = leaf.ancestors().take_while(|dir| dir.starts_with(&top)).map(Path::to_owned).collect();
        Some(Self { membership, dirs })
    }

    fn cpuset(&self) -> Option<CpuSet> {
        self.nearest_set(["cpuset.cpus.effective", "cpuset.cpus", "cpus"])
    }

    fn nodes(&self) -> Option<CpuSet> {
        self.nearest_set(["cpuset.mems.effective", "cpuset.mems", "mems"])
    }

    /// The list in the first of `files` that has one, nearest group first: a group without a list of its own inherits. The
    /// bare names are those of the old cpuset file system and of the mount option `noprefix`.
    fn nearest_set(&self, files: [&str; 3]) -> Option<CpuSet> {
        if !self.membership.has(CPUSET) {
            return None;
        }
        let candidates = self.dirs.iter().flat_map(|dir| files.iter().map(move |file| dir.join(file)));
        candidates.filter_map(|path| read(&path)?.parse().ok()).find(|set: &CpuSet| !set.is_empty())
    }

    /// The tightest quota of the group and all its ancestors.
    fn quota(&self) -> Option<f64> {
        if !self.membership.has("cpu") {
            return None;
        }
        self.dirs.iter().filter_map(|dir| quota_of_cpu_max(dir).or_else(|| quota_of_cfs(dir))).reduce(f64::min)
    }
}

/// `cpu.max`: `max 100000` or `50000 100000`, microseconds of CPU time per period.
fn quota_of_cpu_max(dir: &Path) -> Option<f64> {
    let text = read(&dir.join("cpu.max"))?;
    let mut words = text.split_whitespace();
    let quota = words.next()?.parse().ok()?;
    let period = words.next().map_or(Some(DEFAULT_PERIOD_US), |word| word.parse().ok())?;
    cpus_of(quota, period)
}

/// `cpu.cfs_quota_us` (-1 is none) per `cpu.cfs_period_us`.
fn quota_of_cfs(dir: &Path) -> Option<f64> {
    let number = |file: &str| read(&dir.join(file))?.trim().parse().ok();
    cpus_of(number("cpu.cfs_quota_us")?, number("cpu.cfs_period_us").unwrap_or(DEFAULT_PERIOD_US))
}

/// CPU time in CPUs; a value that is not a positive finite number is no limit.
fn cpus_of(quota_us: f64, period_us: f64) -> Option<f64> {
    let cpus = quota_us / period_us;
    (quota_us > 0.0 && cpus > 0.0 && cpus.is_finite()).then_some(cpus)
}
