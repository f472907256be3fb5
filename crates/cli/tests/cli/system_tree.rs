//! The files of a Linux machine, made up below a folder.

use std::fs;
use std::path::Path;

/// Writes the tree of a machine with these CPUs, two to a core and four to a NUMA node.
pub(crate) fn write(root: &Path, cpus: std::ops::Range<u32>) {
    let file = |path: String, text: String| write_file(root, &path, &text);
    let cpu = |id: u32, name: &str| format!("sys/devices/system/cpu/cpu{id}/{name}");
    file("sys/devices/system/cpu/online".to_owned(), format!("{}-{}\n", cpus.start, cpus.end - 1));
    for id in cpus {
        let core = id / 2 * 2;
        file(cpu(id, "topology/thread_siblings_list"), format!("{core}-{}\n", core + 1));
        file(cpu(id, "topology/core_id"), format!("{core}\n"));
        file(cpu(id, "topology/physical_package_id"), "0\n".to_owned());
        let node = id / 4 * 4;
        file(format!("sys/devices/system/node/node{}/cpulist", id / 4), format!("{node}-{}\n", node + 3));
    }
}

/// Puts the process of the tree into a control group with half a CPU.
pub(crate) fn grant_half_a_cpu(root: &Path) {
    write_file(root, "proc/self/cgroup", "0::/box\n");
    write_file(root, "proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
    write_file(root, "sys/fs/cgroup/box/cpu.max", "50000 100000\n");
}

fn write_file(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("below the root")).expect("folders");
    fs::write(path, text).expect("a small file");
}
