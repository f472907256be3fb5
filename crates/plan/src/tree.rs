//! A rooted tree over the members 0..n, with the children of each member in send order.
//!
//! A `Tree` is always valid: every member is in it exactly once, all but the root have one parent, and there is no
//! cycle. A walk over it needs no checks.

/// A tree over members: each sends to its children, in order.
///
/// ```
/// use corecast_plan::Tree;
/// let tree = Tree::new(2, vec![vec![], vec![], vec![1, 0]])?;
/// assert_eq!(tree.children(2), [1, 0]);
/// assert_eq!(tree.parent(0), Some(2));
/// assert!(Tree::new(0, vec![vec![1], vec![0]]).is_err(), "a circle is no tree");
/// # Ok::<(), corecast_plan::TreeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    root: usize,
    parents: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Every member, each after its parent.
    top_down: Vec<usize>,
}

/// Why lists of children are not a [`Tree`]; errors call members by the caller's names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TreeError {
    /// There is no member of that number.
    #[error("{member} is not one of the {expected} members")]
    UnknownMember {
        /// The name.
        member: String,
        /// The number of members.
        expected: usize,
    },
    /// A member is a child twice.
    #[error("{member} has two parents, {first} and {second}")]
    TwoParents {
        /// The child.
        member: String,
        /// The parent found first.
        first: String,
        /// The parent found later: the same one if it lists the child twice.
        second: String,
    },
    /// The root is a child.
    #[error("the root {root} is a child of {parent}")]
    RootHasParent {
        /// The root.
        root: String,
        /// Its parent.
        parent: String,
    },
    /// A member other than the root has no parent.
    #[error("{member} has no parent and is not the root: the tree does not reach it")]
    NotReached {
        /// The member.
        member: String,
    },
    /// Members are each other's ancestors.
    #[error("{member} is its own ancestor: the tree has a cycle")]
    Cycle {
        /// A member on the cycle.
        member: String,
    },
}

impl Tree {
    /// The tree in which member i sends to `children[i]`, in that order. The members are `0..children.len()`.
    ///
    /// # Errors
    ///
    /// The first rule broken, naming the member.
    pub fn new(root: usize, children: Vec<Vec<usize>>) -> Result<Self, TreeError> {
        Self::named(root, children, &|member| format!("member {member}"))
    }

    /// As [`Tree::new`]; errors call member i `name(i)`.
    ///
    /// # Errors
    ///
    /// As [`Tree::new`].
    pub fn named(root: usize, children: Vec<Vec<usize>>, name: &dyn Fn(usize) -> String) -> Result<Self, TreeError> {
        let expected = children.len();
        if let Some(&member) = children.iter().flatten().chain([&root]).find(|&&member| member >= expected) {
            return Err(TreeError::UnknownMember { member: name(member), expected });
        }
        let parents = parents(&children, name)?;
        if let Some(parent) = parents[root] {
            return Err(TreeError::RootHasParent { root: name(root), parent: name(parent) });
        }
        let top_down = top_down(root, &children);
        if top_down.len() < expected {
            return Err(unreached(&parents, &top_down, name));
        }
        Ok(Self { root, parents, children, top_down })
    }

    /// The number of members: at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a tree has a root")]
    pub fn len(&self) -> usize {
        self.parents.len()
    }

    /// The member that a broadcast starts from and a reduction ends in.
    #[must_use]
    pub fn root(&self) -> usize {
        self.root
    }

    /// The children of a member in send order.
    ///
    /// # Panics
    ///
    /// As every method that takes a member: if it is not below [`Tree::len`].
    #[must_use]
    #[track_caller]
    pub fn children(&self, member: usize) -> &[usize] {
        &self.children[member]
    }

    /// The parent of a member; `None` for the root.
    #[must_use]
    #[track_caller]
    pub fn parent(&self, member: usize) -> Option<usize> {
        self.parents[member]
    }

    /// Every member once, each after its parent: the root, its children, theirs, and so on. Reversed, each comes after
    /// all of its children.
    #[must_use]
    pub fn top_down(&self) -> &[usize] {
        &self.top_down
    }

    /// The number of edges between the root and a member.
    #[must_use]
    #[track_caller]
    pub fn depth_of(&self, member: usize) -> usize {
        std::iter::successors(self.parent(member), |&ancestor| self.parent(ancestor)).count()
    }

    /// The largest [`Tree::depth_of`]: 0 for a single member.
    #[must_use]
    pub fn depth(&self) -> usize {
        let deepest = self.top_down.last().expect("a tree has a root");
        self.depth_of(*deepest)
    }

    /// The largest number of children of one member.
    #[must_use]
    pub fn fan_out(&self) -> usize {
        self.children.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Makes `member`, with all below it, the last child of `parent`, which is not below it.
    pub(crate) fn reattach(&mut self, member: usize, parent: usize) {
        let former = self.parents[member].expect("the root is not moved");
        self.children[former].retain(|&child| child != member);
        self.children[parent].push(member);
        self.parents[member] = Some(parent);
        self.top_down = top_down(self.root, &self.children);
        debug_assert_eq!(self.top_down.len(), self.len(), "member {member} was moved below itself");
    }

    /// Sorts the children of every member by descending `key`; equal ones keep their order.
    pub(crate) fn sort_children(&mut self, key: &[f64]) {
        for children in &mut self.children {
            children.sort_by(|&a, &b| key[b].total_cmp(&key[a]));
        }
        self.top_down = top_down(self.root, &self.children);
    }
}

fn parents(children: &[Vec<usize>], name: &dyn Fn(usize) -> String) -> Result<Vec<Option<usize>>, TreeError> {
    let mut parents = vec![None; children.len()];
    for (parent, children) in children.iter().enumerate() {
        for &child in children {
            if let Some(first) = parents[child].replace(parent) {
                return Err(TreeError::TwoParents { member: name(child), first: name(first), second: name(parent) });
            }
        }
    }
    Ok(parents)
}

/// Level by level, so that the last one is a deepest one. Ends, since no member has two parents and the root has none.
fn top_down(root: usize, children: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(children.len());
    order.push(root);
    let mut next = 0;
    while let Some(&member) = order.get(next) {
        order.extend(&children[member]);
        next += 1;
    }
    order
}

/// The fault of the first member that the root does not reach.
#[cold]
fn unreached(parents: &[Option<usize>], reached: &[usize], name: &dyn Fn(usize) -> String) -> TreeError {
    let mut is_reached = vec![false; parents.len()];
    for &member in reached {
        is_reached[member] = true;
    }
    let mut member = is_reached.iter().position(|&reached| !reached).expect("some member is not reached");
    let mut seen = vec![false; parents.len()];
    while let Some(parent) = parents[member] {
        if std::mem::replace(&mut seen[member], true) {
            return TreeError::Cycle { member: name(member) };
        }
        member = parent;
    }
    TreeError::NotReached { member: name(member) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invalid_tree_is_refused_by_name() {
        for (root, children, expected) in [
            (0, vec![], "member 0 is not one of the 0 members"),
            (3, vec![vec![1], vec![]], "member 3 is not one of the 2 members"),
            (0, vec![vec![2], vec![]], "member 2 is not one of the 2 members"),
            (0, vec![vec![1, 2], vec![2], vec![]], "member 2 has two parents, member 0 and member 1"),
            (0, vec![vec![1, 1], vec![]], "member 1 has two parents, member 0 and member 0"),
            (0, vec![vec![1], vec![0]], "the root member 0 is a child of member 1"),
            (0, vec![vec![0]], "the root member 0 is a child of member 0"),
            (0, vec![vec![1], vec![], vec![]], "member 2 has no parent"),
            (0, vec![vec![], vec![2], vec![1]], "member 1 is its own ancestor"),
            (0, vec![vec![], vec![1, 2], vec![]], "member 1 is its own ancestor"),
        ] {
            let error = Tree::new(root, children).expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn depth_and_order_follow_the_edges() {
        let tree = Tree::new(1, vec![vec![], vec![2, 0], vec![3], vec![]]).expect("a tree");
        assert_eq!(tree.top_down(), [1, 2, 0, 3]);
        assert_eq!((tree.depth(), tree.depth_of(0), tree.depth_of(1), tree.fan_out()), (2, 1, 0, 2));
        assert_eq!(Tree::new(0, vec![vec![]]).expect("one member").depth(), 0);
    }

    #[test]
    fn reattaching_moves_a_whole_subtree() {
        let mut tree = Tree::new(0, vec![vec![1, 2], vec![], vec![3], vec![]]).expect("a tree");
        tree.reattach(2, 1);
        assert_eq!(tree, Tree::new(0, vec![vec![1], vec![2], vec![3], vec![]]).expect("a tree"));
    }
}
