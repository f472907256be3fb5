//! The memory that a process may still take: less than the machine has, in a container.

use std::path::Path;

use super::control_file::read;
use super::limits::{Group, groups};

/// The bytes that the control groups of the process whose `proc/self` lies below `root` let it take beyond what they use
/// now, not counting file pages that the kernel can drop; `None` is no limit.
#[must_use]
pub fn memory_left(root: &Path) -> Option<u64> {
    groups(root).iter().filter(|group| group.membership.has("memory")).filter_map(tightest).min()
}

fn tightest(group: &Group) -> Option<u64> {
    group.dirs.iter().filter_map(|dir| left_in(dir)).min()
}

fn left_in(dir: &Path) -> Option<u64> {
    let number = |file: &str| read(&dir.join(file))?.trim().parse::<u64>().ok();
    let of = |limit, usage| Some((number(limit)?, number(usage).unwrap_or(0)));
    let (limit, usage) = of("memory.max", "memory.current")
        .or_else(|| of("memory.limit_in_bytes", "memory.usage_in_bytes"))
        .filter(|&(limit, _)| limit < NO_LIMIT)?;
    let droppable = read(&dir.join("memory.stat")).map_or(0, |stat| droppable(&stat));
    Some(limit.saturating_sub(usage.saturating_sub(droppable)))
}

/// Version 1 has a number even for no limit: the largest that fits into a signed word, in pages.
const NO_LIMIT: u64 = 1 << 62;

/// File pages, as told by version 2 and, with those of the groups below, by version 1.
fn droppable(stat: &str) -> u64 {
    let value = |name: &str| {
        let line = stat.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok());
        line.unwrap_or(0)
    };
    let (plain, total) = (["inactive_file", "active_file"], ["total_inactive_file", "total_active_file"]);
    let sum = |names: [&str; 2]| names.map(value).iter().fold(0_u64, |sum, &bytes| sum.saturating_add(bytes));
    sum(plain).max(sum(total))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a temporary directory");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("below the root")).expect("a directory");
            fs::write(path, text).expect("a file");
        }
        root
    }

    #[test]
    fn the_tightest_ancestor_counts() {
        let root = machine(&[
            ("proc/self/cgroup", "0::/a/b\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a/memory.max", "1000\n"),
            ("sys/fs/cgroup/a/memory.current", "700\n"),
            ("sys/fs/cgroup/a/memory.stat", "anon 600\ninactive_file 60\nactive_file 40\n"),
            ("sys/fs/cgroup/a/b/memory.max", "max\n"),
            ("sys/fs/cgroup/a/b/memory.current", "500\n"),
        ]);
        assert_eq!(memory_left(root.path()), Some(400));
    }

    #[test]
    fn version_1_has_a_number_for_no_limit() {
        let files = |limit: &'static str| {
            machine(&[
                ("proc/self/cgroup", "4:memory:/a\n"),
                ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"),
                ("sys/fs/cgroup/memory/a/memory.limit_in_bytes", limit),
                ("sys/fs/cgroup/memory/a/memory.usage_in_bytes", "300\n"),
                ("sys/fs/cgroup/memory/a/memory.stat", "total_inactive_file 50\n"),
            ])
        };
        assert_eq!(memory_left(files("9223372036854771712\n").path()), None);
        assert_eq!(memory_left(files("1000\n").path()), Some(750));
        assert_eq!(memory_left(machine(&[]).path()), None);
    }
}
