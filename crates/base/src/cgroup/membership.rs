//! The group of the process in each hierarchy: `proc/self/cgroup`, or else `proc/self/cpuset`.

use std::path::Path;

use super::control_file;

/// The controller that limits the CPUs and memory nodes.
pub(super) const CPUSET: &str = "cpuset";

/// The process's place in one hierarchy.
pub(super) struct Membership {
    pub(super) hierarchy: Hierarchy,
    /// The group's path from the root of the hierarchy.
    pub(super) path: String,
}

/// One of the trees of groups that a kernel may have.
pub(super) enum Hierarchy {
    /// Version 1, with these controllers.
    Controllers(Vec<String>),
    /// Version 2, which may carry any controller.
    Unified,
    /// The hierarchy that carries cpusets, of either version: `proc/self/cpuset` names a group and not its hierarchy.
    Cpusets,
}

impl Membership {
    /// True if the hierarchy may limit by `controller`.
    pub(super) fn has(&self, controller: &str) -> bool {
        match &self.hierarchy {
            Hierarchy::Controllers(all) => all.iter().any(|one| one == controller),
            Hierarchy::Unified => true,
            Hierarchy::Cpusets => controller == CPUSET,
        }
    }
}

/// All memberships of the process. Where `proc/self/cgroup` is missing or empty, `proc/self/cpuset` names the group that
/// matters most: kernels without the first have the second, and so do trees that were captured in batch jobs.
pub(super) fn read(root: &Path) -> Vec<Membership> {
    let mut memberships: Vec<Membership> = control_file::read(&root.join("proc/self/cgroup"))
        .map(|text| text.lines().filter_map(parse_line).collect())
        .unwrap_or_default();
    if memberships.is_empty() {
        memberships.extend(
            control_file::read(&root.join("proc/self/cpuset"))
                .map(|path| Membership { hierarchy: Hierarchy::Cpusets, path: path.trim().to_owned() }),
        );
    }
    memberships
}

/// `4:cpu,cpuacct:/user.slice` (version 1) or `0::/user.slice` (version 2).
fn parse_line(line: &str) -> Option<Membership> {
    let mut fields = line.splitn(3, ':');
    let (_id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let hierarchy = match controllers {
        "" => Hierarchy::Unified,
        list => Hierarchy::Controllers(list.split(',').map(str::to_owned).collect()),
    };
    Some(Membership { hierarchy, path: path.to_owned() })
}
