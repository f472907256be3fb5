//! Limits that a user may set on a tree.

use crate::tree::Tree;

/// Limits on the form of a tree; no limit unless one is set.
///
/// ```
/// use corecast_plan::{Limits, Tree};
/// let limits = Limits { children: Some(2), depth: None };
/// assert!(!limits.allow(&Tree::new(0, vec![vec![1, 2, 3], vec![], vec![], vec![]])?));
/// # Ok::<(), corecast_plan::TreeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most children that a member may have: at least 1.
    pub children: Option<usize>,
    /// The most edges between the root and a member: at least 1.
    pub depth: Option<usize>,
}

impl Limits {
    /// True if no limit is set.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// True if the tree keeps within them.
    #[must_use]
    pub fn allow(&self, tree: &Tree) -> bool {
        self.children.is_none_or(|most| tree.fan_out() <= most) && self.depth.is_none_or(|most| tree.depth() <= most)
    }

    /// True if some tree of this many members keeps within them.
    #[must_use]
    pub fn allow_some_tree(&self, members: usize) -> bool {
        let (Some(children), Some(depth)) = (self.children, self.depth) else {
            return members <= 1 || (self.children != Some(0) && self.depth != Some(0));
        };
        let mut reached: usize = 1;
        let mut level: usize = 1;
        for _ in 0..depth.min(members) {
            level = level.saturating_mul(children).min(members);
            reached = reached.saturating_add(level);
        }
        members <= reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_limits_bound_the_number_of_members() {
        let limits = Limits { children: Some(2), depth: Some(3) };
        assert!(limits.allow_some_tree(15) && !limits.allow_some_tree(16));
        assert!(Limits { children: Some(1), depth: None }.allow_some_tree(1000));
        assert!(!Limits { children: Some(0), depth: None }.allow_some_tree(2));
        assert!(Limits { children: Some(1), depth: Some(usize::MAX) }.allow_some_tree(9));
    }
}
