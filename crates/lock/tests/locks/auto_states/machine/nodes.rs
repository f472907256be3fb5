//! The nodes of the queue, which outlast the threads that have left them there.

/// More than threads: one that has left its node behind waits to enter again if there is no other.
const NODES: usize = 4;

/// The message that a node's thread has got from the one before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Told {
    #[default]
    Nothing,
    /// It is the first.
    Head,
    /// It has the lock.
    Holds,
    /// None: it has left.
    Gone,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Node {
    pub(super) is_used: bool,
    pub(super) next: Option<u8>,
    pub(super) told: Told,
    /// Whether its thread stays until it is told something: the one before reads it in the link.
    pub(super) stays: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Nodes([Node; NODES]);

impl Nodes {
    pub(super) fn of(&self, node: u8) -> &Node {
        &self.0[usize::from(node)]
    }

    pub(super) fn of_mut(&mut self, node: u8) -> &mut Node {
        &mut self.0[usize::from(node)]
    }

    /// A node that nobody uses, in which this is set; `None` if there is none.
    pub(super) fn take(&mut self, stays: bool, told: Told) -> Option<u8> {
        let free = self.0.iter().position(|node| !node.is_used)?;
        self.0[free] = Node { is_used: true, next: None, told, stays };
        u8::try_from(free).ok()
    }

    pub(super) fn give(&mut self, node: u8) {
        *self.of_mut(node) = Node::default();
    }

    pub(super) fn names(&self) -> Names<'_> {
        Names { old: self, names: [None; NODES], len: 0 }
    }
}

/// Other names, in the order in which they are asked for.
pub(super) struct Names<'a> {
    old: &'a Nodes,
    names: [Option<u8>; NODES],
    len: u8,
}

impl Names<'_> {
    pub(super) fn name(&mut self, node: u8) -> u8 {
        *self.names[usize::from(node)].get_or_insert_with(|| {
            self.len += 1;
            self.len - 1
        })
    }

    /// The nodes by their new names: those that were asked for, those behind them, and others.
    pub(super) fn renamed(mut self) -> Nodes {
        let mut nodes = Nodes::default();
        let mut named = 0;
        while named < self.len {
            let old = (0..NODES as u8).find(|&node| self.names[usize::from(node)] == Some(named)).expect("it is named");
            let node = *self.old.of(old);
            *nodes.of_mut(named) = Node { next: node.next.map(|behind| self.name(behind)), ..node };
            named += 1;
            // Nodes that nobody knows: behind a link that is still to come there is none.
            if named == self.len {
                let unnamed = |&node: &u8| self.names[usize::from(node)].is_none() && self.old.of(node).is_used;
                if let Some(other) = (0..NODES as u8).find(unnamed) {
                    self.name(other);
                }
            }
        }
        nodes
    }
}
