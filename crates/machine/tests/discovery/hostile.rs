//! Trees full of garbage: they must neither crash nor fill the memory, and what can be known is still found.

use crate::partition::cpu_ids;
use crate::tree::Tree;

const GARBAGE: [&[u8]; 10] =
    [b"", b"\n", b"\0\0\0", b"-1", b"99999999999999999999", b"3-1", b"0-65536", b"0xf...f", b"\xff\xfe", b"a,b,,\x01"];

#[test]
fn garbage_in_every_file_leaves_a_flat_machine() {
    for garbage in GARBAGE {
        let mut tree = Tree::flat("0-1").node(0, "0-1", "10").caches(3, "0-1").cores("0 1").packages("0-1");
        for cpu in ["cpu0", "cpu1"] {
            for file in ["online", "topology/thread_siblings", "topology/core_id", "topology/package_cpus_list"] {
                tree = tree.file(&format!("sys/devices/system/cpu/{cpu}/{file}"), garbage);
            }
            for file in ["topology/physical_package_id", "cpu_capacity", "cache/index2/level", "cache/index2/type"] {
                tree = tree.file(&format!("sys/devices/system/cpu/{cpu}/{file}"), garbage);
            }
        }
        for file in ["cpu/online", "node/online", "node/node0/cpumap", "node/node0/distance"] {
            tree = tree.file(&format!("sys/devices/system/{file}"), garbage);
        }
        for file in ["proc/self/status", "proc/self/cgroup", "proc/self/mountinfo", "sys/devices/cpu_core/cpus"] {
            tree = tree.file(file, garbage);
        }
        let topology = tree.topology();
        assert_eq!(cpu_ids(&topology), [0, 1], "{garbage:?}");
        for cpu in &topology.cpus {
            assert_eq!((cpu.core, cpu.package, cpu.l3, cpu.kind), (None, None, None, None), "{garbage:?}");
        }
        assert_eq!(topology.numa_distances, None, "{garbage:?}");
    }
}

#[test]
fn endless_and_enormous_files_are_unreadable_ones() {
    let tree = Tree::flat("0-3").cores("0-1 2-3");
    let enormous = "0-65535,".repeat(1 << 20);
    let tree = tree.file("sys/devices/system/cpu/online", &enormous);
    assert_eq!(cpu_ids(&tree.topology()), [0, 1, 2, 3], "the folders tell");
    let repeated = "0-65535,".repeat(1 << 16);
    let tree = tree.file("sys/devices/system/cpu/online", &repeated);
    assert_eq!(cpu_ids(&tree.topology()), [0, 1, 2, 3]);
}

#[test]
fn folders_that_are_named_like_cpus_but_are_none() {
    let mut tree = Tree::empty();
    for name in ["cpu0", "cpu007", "cpu", "cpufreq", "cpu99999999999", "cpu65536", "cpu-1", "cpu+1"] {
        tree = tree.file(&format!("sys/devices/system/cpu/{name}/uevent"), "");
    }
    assert_eq!(cpu_ids(&tree.topology()), [0]);
}

#[test]
fn siblings_that_do_not_name_the_cpu_itself_are_not_believed() {
    let topology = Tree::flat("0-1").each("0-1", "topology/thread_siblings", "c").topology();
    assert!(topology.cpus.iter().all(|cpu| cpu.core.is_none()));
}

#[test]
fn a_zero_byte_behind_the_text_is_no_part_of_it() {
    let tree = Tree::flat("0-1").each("0-1", "topology/thread_siblings", "00000000,00000003\n\0");
    let topology = tree.node(4, "0-1", "10\n\0").topology();
    assert_eq!((topology.cpus[1].core, topology.cpus[1].numa), (Some(0), Some(4)));
    assert!(topology.numa_distances.is_some());
}

#[test]
fn a_directory_that_is_no_machine() {
    let error = Tree::empty().file("etc/passwd", "").discover().expect_err("no machine").to_string();
    assert!(error.contains("is not the root of a Linux machine"), "{error}");
    let tree = Tree::empty().file("proc/self/status", "Cpus_allowed_list:\t2-3\n");
    assert_eq!(cpu_ids(&tree.topology()), [2, 3], "a mask alone is a flat machine");
}

#[test]
fn a_directory_where_a_file_should_be() {
    let tree = Tree::flat("0").file("sys/devices/system/cpu/cpu0/topology/thread_siblings/x", "");
    assert_eq!(tree.topology().cpus[0].core, None);
}
