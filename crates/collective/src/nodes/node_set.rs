//! Some of the nodes of a group.

use std::fmt;

/// A set of nodes, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeSet {
    /// A bit for each node, the lowest first.
    words: Vec<u64>,
    /// Nodes that there are; higher bits are 0.
    nodes: usize,
}

impl NodeSet {
    /// None of `nodes` nodes.
    #[must_use]
    pub fn none(nodes: usize) -> Self {
        Self { words: vec![0; nodes.div_ceil(64)], nodes }
    }

    /// All of `nodes` nodes.
    #[must_use]
    pub fn all(nodes: usize) -> Self {
        let mut set = Self::none(nodes);
        (0..nodes).for_each(|node| set.insert(node));
        set
    }

    /// The number of nodes that it may contain.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.nodes
    }

    /// The number of nodes in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// True if it contains none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// True if it contains this node.
    #[must_use]
    pub fn contains(&self, node: usize) -> bool {
        node < self.nodes && self.words[node / 64] >> (node % 64) & 1 == 1
    }

    /// Adds a node.
    ///
    /// # Panics
    /// If there is no such node.
    #[track_caller]
    pub fn insert(&mut self, node: usize) {
        assert!(node < self.nodes, "node {node} of {}", self.nodes);
        self.words[node / 64] |= 1 << (node % 64);
    }

    /// Takes a node out.
    pub fn remove(&mut self, node: usize) {
        if self.contains(node) {
            self.words[node / 64] &= !(1 << (node % 64));
        }
    }

    /// The nodes in it, ascending.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.nodes).filter(|&node| self.contains(node))
    }
}

/// The number of nodes named in a text.
const NAMED: usize = 8;

impl fmt::Display for NodeSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let len = self.len();
        if len == 0 {
            return f.write_str("no node");
        }
        f.write_str(if len == 1 { "node" } else { "nodes" })?;
        for (place, node) in self.iter().take(NAMED).enumerate() {
            write!(f, "{} {node}", if place > 0 { "," } else { "" })?;
        }
        match len.saturating_sub(NAMED) {
            0 => Ok(()),
            others => write!(f, " and {others} others"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_come_and_go() {
        let mut set = NodeSet::all(70);
        assert_eq!((set.len(), set.nodes(), set.contains(69), set.contains(70)), (70, 70, true, false));
        set.remove(64);
        set.remove(99);
        assert_eq!((set.len(), set.contains(64)), (69, false));
        let mut few = NodeSet::none(70);
        assert!(few.is_empty());
        assert_eq!(few.to_string(), "no node");
        few.insert(3);
        assert_eq!(few.to_string(), "node 3");
        few.insert(65);
        assert_eq!((few.to_string(), few.iter().collect::<Vec<_>>()), ("nodes 3, 65".to_owned(), vec![3, 65]));
        assert_eq!(set.to_string(), "nodes 0, 1, 2, 3, 4, 5, 6, 7 and 61 others");
    }
}
