//! In which group of which hierarchy the process is: `proc/self/cgroup`.

use std::path::Path;

use super::limits;

/// The process's place in one hierarchy.
pub(super) struct Membership {
    /// The controllers of a version 1 hierarchy; `None` for version 2, which may carry any.
    pub(super) controllers: Option<Vec<String>>,
    /// The group's path from the root of the hierarchy.
    pub(super) path: String,
}

impl Membership {
    /// True if the hierarchy may limit by `controller`.
    pub(super) fn has(&self, controller: &str) -> bool {
        self.controllers.as_ref().is_none_or(|all| all.iter().any(|one| one == controller))
    }
}

/// All memberships of the process. Where the kernel is too old for `proc/self/cgroup`, `proc/self/cpuset` names the
/// one that matters.
pub(super) fn read(root: &Path) -> Vec<Membership> {
    let mut memberships: Vec<Membership> = limits::read(&root.join("proc/self/cgroup"))
        .map(|text| text.lines().filter_map(parse_line).collect())
        .unwrap_or_default();
    if memberships.is_empty() {
        memberships.extend(
            limits::read(&root.join("proc/self/cpuset"))
                .map(|path| Membership { controllers: Some(vec!["cpuset".to_owned()]), path: path.trim().to_owned() }),
        );
    }
    memberships
}

/// `4:cpu,cpuacct:/user.slice` (version 1) or `0::/user.slice` (version 2).
fn parse_line(line: &str) -> Option<Membership> {
    let mut fields = line.splitn(3, ':');
    let (_id, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
    let controllers = match controllers {
        "" => None,
        list => Some(list.split(',').map(str::to_owned).collect()),
    };
    Some(Membership { controllers, path: path.to_owned() })
}
