//! Limits read from trees that the tests write.

use std::fs;

use tempfile::TempDir;

use super::Limits;
use crate::CpuSet;

const MOUNTINFO_V2: &str = "\
22 1 0:21 / /proc rw - proc proc rw
31 23 0:28 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate
";
const MOUNTINFO_V1: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
";

fn tree(files: &[(&str, &str)]) -> TempDir {
    let root = tempfile::tempdir().expect("a temporary directory");
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().expect("below the root")).expect("directories");
        fs::write(path, text).expect("a small file");
    }
    root
}

fn limits(files: &[(&str, &str)]) -> Limits {
    Limits::read(tree(files).path())
}

fn cpus(list: &str) -> Option<CpuSet> {
    Some(list.parse().expect("a CPU list"))
}

#[test]
fn no_files_are_no_limits() {
    assert_eq!(limits(&[]), Limits::default());
}

#[test]
fn version_2_takes_the_tightest_quota_of_all_ancestors() {
    let found = limits(&[
        ("proc/self/cgroup", "0::/a/b/c\n"),
        ("proc/self/mountinfo", MOUNTINFO_V2),
        ("sys/fs/cgroup/a/cpu.max", "50000 100000\n"),
        ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/a/b/c/cpu.max", "400000 100000\n"),
    ]);
    assert_eq!(found, Limits { quota: Some(0.5), ..Limits::default() });
}

#[test]
fn version_2_inherits_the_nearest_cpuset_that_says_something() {
    let found = limits(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("proc/self/mountinfo", MOUNTINFO_V2),
        ("sys/fs/cgroup/cpuset.cpus.effective", "0-15\n"),
        ("sys/fs/cgroup/a/cpuset.cpus.effective", "2-3,8\n"),
        ("sys/fs/cgroup/a/cpuset.mems.effective", "1\n"),
        ("sys/fs/cgroup/a/b/cpuset.cpus", "\n"),
    ]);
    assert_eq!(found, Limits { cpuset: cpus("2-3,8"), nodes: Some(vec![1]), quota: None });
}

#[test]
fn version_1_reads_each_controller_from_its_own_hierarchy() {
    let found = limits(&[
        ("proc/self/cgroup", "7:cpu,cpuacct:/pod\n2:cpuset:/pod/box\n1:name=systemd:/x\n"),
        ("proc/self/mountinfo", MOUNTINFO_V1),
        ("sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_quota_us", "150000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/pod/cpu.cfs_period_us", "50000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpuset/pod/box/cpuset.cpus", "4-7\n"),
        ("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7\n"),
    ]);
    assert_eq!(found, Limits { cpuset: cpus("4-7"), nodes: None, quota: Some(3.0) });
}

#[test]
fn both_versions_at_once_limit_both() {
    let mountinfo = format!("{MOUNTINFO_V1}41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    let found = limits(&[
        ("proc/self/cgroup", "2:cpuset:/box\n3:cpu,cpuacct:/box\n0::/box\n"),
        ("proc/self/mountinfo", &mountinfo),
        ("sys/fs/cgroup/cpuset/box/cpuset.cpus", "0-3\n"),
        ("sys/fs/cgroup/cpu,cpuacct/box/cpu.cfs_quota_us", "900000\n"),
        ("sys/fs/cgroup/unified/box/cpuset.cpus.effective", "2-5\n"),
        ("sys/fs/cgroup/unified/box/cpu.max", "25000 100000\n"),
    ]);
    assert_eq!(found, Limits { cpuset: cpus("2-3"), nodes: None, quota: Some(0.25) });
}

#[test]
fn a_container_sees_its_own_part_of_the_hierarchy() {
    let mountinfo = "32 31 0:29 /docker/me /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n";
    let files = |membership| {
        [
            ("proc/self/cgroup", membership),
            ("proc/self/mountinfo", mountinfo),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"),
            ("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "20000\n"),
        ]
    };
    assert_eq!(limits(&files("3:cpu:/docker/me\n")).quota, Some(0.5));
    assert_eq!(limits(&files("3:cpu:/docker/me/inner\n")).quota, Some(0.2));
    assert_eq!(limits(&files("3:cpu:/../elsewhere\n")).quota, Some(0.5), "a group outside is seen as the top");
}

#[test]
fn the_old_cpuset_file_system_is_found_without_a_group_file() {
    let found = limits(&[
        ("proc/self/cpuset", "/jobs/17\n"),
        ("proc/mounts", "none /dev/my\\040sets cpuset rw 0 0\n"),
        ("dev/my sets/jobs/17/cpus", "0-6,12\n"),
        ("dev/my sets/jobs/17/mems", "1-2\n"),
    ]);
    assert_eq!(found, Limits { cpuset: cpus("0-6,12"), nodes: Some(vec![1, 2]), quota: None });
}

/// The limits of a job as a batch system sets it up, in a tree that was captured without `proc/self/cgroup`.
fn job(mounts: &'static str, folder: &str, lists: &[(&str, &'static str)]) -> Limits {
    let path = |file: &str| format!("{folder}/{file}");
    let lists: Vec<(String, &str)> = lists.iter().map(|&(file, list)| (path(file), list)).collect();
    let mut files = vec![("proc/self/cpuset", "/jobs/17/step\n"), ("proc/self/mountinfo", mounts)];
    files.extend(lists.iter().map(|(path, list)| (path.as_str(), *list)));
    limits(&files)
}

#[test]
fn a_job_without_a_group_file_has_its_cpuset_of_version_2() {
    for (mounts, folder) in
        [(MOUNTINFO_V2, "sys/fs/cgroup"), ("31 23 0:28 / /run/batch/groups rw - cgroup2 none rw\n", "run/batch/groups")]
    {
        let lists = [("jobs/17/step/cpuset.cpus.effective", "2-3\n"), ("jobs/17/step/cpuset.mems.effective", "1\n")];
        let found = Limits { cpuset: cpus("2-3"), nodes: Some(vec![1]), quota: None };
        assert_eq!(job(mounts, folder, &lists), found, "{folder}");
        let lists = [("cpuset.cpus.effective", "0-7\n"), ("jobs/17/cpuset.cpus", "4-6\n")];
        assert_eq!(job(mounts, folder, &lists).cpuset, cpus("4-6"), "{folder}: the step inherits from its job");
    }
}

#[test]
fn a_job_without_a_group_file_has_its_cpuset_of_version_1_where_both_are_mounted() {
    let mounts = "\
31 23 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset
";
    let lists = [("cpuset/jobs/17/step/cpuset.cpus", "5\n"), ("unified/jobs/17/step/cpuset.cpus.effective", "0-1\n")];
    assert_eq!(job(mounts, "sys/fs/cgroup", &lists).cpuset, cpus("5"));
}

#[test]
fn an_empty_group_file_is_a_missing_one() {
    let found = limits(&[
        ("proc/self/cgroup", "\n"),
        ("proc/self/cpuset", "/box\n"),
        ("proc/self/mountinfo", MOUNTINFO_V2),
        ("sys/fs/cgroup/box/cpuset.cpus.effective", "1\n"),
    ]);
    assert_eq!(found.cpuset, cpus("1"));
}

#[test]
fn garbage_is_no_limit() {
    for garbage in ["", "\0\0", "max", "1e999 1", "0 0", "-5 100000", "NaN NaN", "50000 0", "0-99999999999", "7-3"] {
        let found = limits(&[
            ("proc/self/cgroup", "0::/a\nx\n:::\n0::/a/../../../etc\n"),
            ("proc/self/mountinfo", &format!("{MOUNTINFO_V2}1 2 3 - \n - cgroup2\n{garbage}\n")),
            ("sys/fs/cgroup/a/cpu.max", garbage),
            ("sys/fs/cgroup/a/cpu.cfs_quota_us", garbage),
            ("sys/fs/cgroup/a/cpuset.cpus", garbage),
        ]);
        assert_eq!(found, Limits::default(), "{garbage:?}");
    }
}
