//! Limits the CPU time of a candidate by a control group with a quota, where the program may make one.
//!
//! With the unified hierarchy the group lies below the program's own; with a hierarchy for the controller `cpu`, below the
//! program's group there. The groups of other programs, and which controllers groups have, stay as they are.

use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time::{Duration, Instant};

use corecast_race::failure::Failure;

/// The time in which a quota is to be used, in microseconds.
const PERIOD_US: u64 = 100_000;
/// Where hierarchies are mounted as a rule.
const MOUNTED: &str = "/sys/fs/cgroup";
/// A group whose last process has just ended may be busy for a moment.
const LONGEST_REMOVAL: Duration = Duration::from_millis(500);

/// The group, which is removed at the end.
#[derive(Debug)]
pub(super) struct Quota {
    group: PathBuf,
}

impl Quota {
    /// A group that gets as much as this many CPUs.
    ///
    /// # Errors
    /// Why there can be none, in words.
    pub(super) fn new(cpus: f64) -> Result<Self, Failure> {
        let memberships = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut reasons = Vec::new();
        for (kind, parent) in parents(&memberships, Path::new(MOUNTED)) {
            match kind.make(&parent, cpus) {
                Ok(group) => return Ok(Self { group }),
                Err(error) => reasons.push(format!("{}: {error}", parent.display())),
            }
        }
        let reasons = if reasons.is_empty() { "none is mounted".to_owned() } else { reasons.join("; ") };
        Err(Failure::Refused(format!("no control group with a quota of CPU time can be made here: {reasons}")))
    }

    /// Puts a process into the group.
    pub(super) fn take_in(&self, pid: u32) -> Result<(), Failure> {
        let refused = |error| Failure::Refused(format!("a process cannot be put under its quota: {error}"));
        write(&self.group.join("cgroup.procs"), pid).map_err(refused)
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let begun = Instant::now();
        while fs::remove_dir(&self.group).is_err() && begun.elapsed() < LONGEST_REMOVAL {
            thread::yield_now();
        }
    }
}

/// A kind of hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unified,
    CpuController,
}

impl Kind {
    fn make(self, parent: &Path, cpus: f64) -> io::Result<PathBuf> {
        let group = parent.join(format!("corecast-busy-{}", process::id()));
        fs::create_dir(&group)?;
        let quota_us = (cpus * PERIOD_US as f64).round() as u64;
        let limited = match self {
            Self::Unified => write(&group.join("cpu.max"), format!("{quota_us} {PERIOD_US}")),
            Self::CpuController => write(&group.join("cpu.cfs_period_us"), PERIOD_US)
                .and_then(|()| write(&group.join("cpu.cfs_quota_us"), quota_us)),
        };
        match limited {
            Ok(()) => Ok(group),
            Err(error) => {
                // Nobody is in it yet.
                let _ = fs::remove_dir(&group);
                Err(error)
            }
        }
    }
}

/// Writes to a file of a control group. There is none in a folder that is no group, and this makes none.
fn write(file: &Path, value: impl Display) -> io::Result<()> {
    OpenOptions::new().write(true).open(file)?.write_all(value.to_string().as_bytes())
}

/// The groups of this process below which a group with a quota may be made, by `/proc/self/cgroup`.
fn parents(memberships: &str, mounted: &Path) -> Vec<(Kind, PathBuf)> {
    let below = |hierarchy: &str, path: &str| mounted.join(hierarchy).join(path.trim_start_matches('/'));
    let parents = memberships.lines().filter_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let has_cpu = controllers.split(',').any(|controller| controller == "cpu");
        match controllers {
            "" => Some((Kind::Unified, below("", path))),
            _ if has_cpu => Some((Kind::CpuController, below(controllers, path))),
            _ => None,
        }
    });
    let mut parents: Vec<_> = parents.collect();
    // A hierarchy for the controller alone is the one that has it, where both are mounted.
    parents.sort_by_key(|(kind, _)| *kind == Kind::Unified);
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_made_below_the_own_one() {
        let parents = |text| parents(text, Path::new("/m"));
        assert_eq!(parents("0::/a/b\n"), [(Kind::Unified, PathBuf::from("/m/a/b"))]);
        let mixed = "9:name=systemd:/\n5:cpu,cpuacct:/x\n4:cpuset:/\n0::/\n";
        let expected =
            [(Kind::CpuController, PathBuf::from("/m/cpu,cpuacct/x")), (Kind::Unified, PathBuf::from("/m/"))];
        assert_eq!(parents(mixed), expected);
        assert_eq!(parents("no line of this kind"), []);
    }

    #[test]
    fn a_folder_is_no_group() {
        let folder = tempfile::tempdir().expect("a folder");
        for kind in [Kind::Unified, Kind::CpuController] {
            let error = kind.make(folder.path(), 0.5).expect_err("nothing limits here");
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 0, "nothing is left");
    }

    #[test]
    fn a_quota_is_set_or_refused_in_words() {
        match Quota::new(0.5) {
            Ok(quota) => {
                let group = quota.group.clone();
                assert!(group.is_dir());
                drop(quota);
                assert!(!group.exists());
            }
            Err(failure) => assert!(failure.to_string().contains("control group"), "{failure}"),
        }
    }
}
