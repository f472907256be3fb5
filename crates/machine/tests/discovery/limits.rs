//! Processes that may use only part of a machine.

use crate::partition::{cpu_ids, groups, partition};
use crate::tree::Tree;

const UNIFIED: &str = "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

fn machine() -> Tree {
    Tree::flat("0-7").cores("0,4 1,5 2,6 3,7").packages("0-7").node(0, "0-3", "10 20").node(1, "4-7", "20 10")
}

#[test]
fn cpuset_of_version_1() {
    let topology = machine()
        .file("proc/self/cgroup", "3:cpuset:/box\n")
        .file("proc/self/mounts", "cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0\n")
        .file("sys/fs/cgroup/cpuset/box/cpuset.cpus", "4-6\n")
        .topology();
    assert_eq!(cpu_ids(&topology), [4, 5, 6]);
    assert_eq!(partition(&topology, |cpu| cpu.core), groups("4 5 6"));
    assert_eq!(topology.cpus[0].core, Some(0), "a core keeps its number, though its lowest CPU is not for us");
    assert_eq!(topology.quota, None);
    assert!(topology.notes.contains(&"online, but not for this process: CPUs 0-3,7".to_owned()));
}

#[test]
fn cpuset_and_half_a_cpu_of_version_2() {
    let topology = machine()
        .file("proc/self/cgroup", "0::/kubepods/pod/box\n")
        .file("proc/self/mountinfo", UNIFIED)
        .file("sys/fs/cgroup/kubepods/cpuset.cpus.effective", "1,3,5,7,9\n")
        .file("sys/fs/cgroup/kubepods/pod/cpu.max", "50000 100000\n")
        .file("sys/fs/cgroup/kubepods/pod/box/cpu.max", "max 100000\n")
        .topology();
    assert_eq!(cpu_ids(&topology), [1, 3, 5, 7]);
    assert_eq!(topology.quota, Some(0.5));
    assert!(topology.notes.iter().any(|note| note.contains("grant 0.5 CPUs of time on 4 CPUs")));
}

#[test]
fn cpuset_of_a_batch_job_without_a_group_file() {
    let topology = machine()
        .file("proc/self/cpuset", "/batch/job_17\n")
        .file("proc/mounts", "none /dev/groups cgroup2 rw,nosuid 0 0\n")
        .file("dev/groups/cpuset.cpus.effective", "0-7\n")
        .file("dev/groups/batch/job_17/cpuset.cpus.effective", "1,5\n")
        .file("dev/groups/batch/job_17/cpuset.mems.effective", "1\n")
        .topology();
    assert_eq!(cpu_ids(&topology), [1, 5]);
    assert_eq!((topology.cpus[0].numa, topology.cpus[1].numa), (None, Some(1)));
}

#[test]
fn mask_of_the_process_that_captured_the_tree() {
    let tree = machine().file("proc/self/status", "Name:\tx\nCpus_allowed:\tff\nCpus_allowed_list:\t0,4-30\n");
    assert_eq!(cpu_ids(&tree.topology()), [0, 4, 5, 6, 7]);
    let tree = tree
        .file("proc/self/cgroup", "0::/\n")
        .file("proc/self/mountinfo", UNIFIED)
        .file("sys/fs/cgroup/cpuset.cpus.effective", "0-5\n");
    assert_eq!(cpu_ids(&tree.topology()), [0, 4, 5], "mask and cpuset both count");
}

#[test]
fn nodes_whose_memory_is_forbidden_are_left_out() {
    let topology = machine().file("proc/self/status", "Mems_allowed_list:\t1\n").topology();
    let nodes: Vec<Option<u32>> = topology.cpus.iter().map(|cpu| cpu.numa).collect();
    assert_eq!(nodes, [None, None, None, None, Some(1), Some(1), Some(1), Some(1)]);
    assert!(topology.notes.contains(&"the memory of NUMA nodes [0] is not for this process: left out".to_owned()));
}

#[test]
fn offline_cpus_are_not_used() {
    let listed = machine().file("sys/devices/system/cpu/online", "0-2,5\n").topology();
    assert_eq!(cpu_ids(&listed), [0, 1, 2, 5]);
    assert!(listed.notes.contains(&"offline CPUs: 3-4,6-7".to_owned()));
    let switched = machine().each("0-7", "online", "1\n").each("3,6", "online", "0\n").topology();
    assert_eq!(cpu_ids(&switched), [0, 1, 2, 4, 5, 7]);
}

#[test]
fn hot_plugged_cpus_are_used_as_soon_as_they_are_online() {
    let tree = Tree::flat("0-1").cores("0 1");
    assert_eq!(cpu_ids(&tree.topology()), [0, 1]);
    let tree = tree.file("sys/devices/system/cpu/online", "0-2\n");
    let topology = tree.topology();
    assert_eq!(cpu_ids(&topology), [0, 1, 2]);
    assert_eq!(topology.cpus[2].core, None, "nothing is told of it yet");
}

#[test]
fn no_cpu_left_is_an_error_in_words() {
    let error = machine().file("proc/self/status", "Cpus_allowed_list:\t8-9\n").discover().expect_err("no CPU");
    let error = error.to_string();
    assert!(error.contains("no usable CPU in /"), "{error}");
    assert!(error.contains("CPUs '0-7' are online, the process may use '8-9'"), "{error}");
}
