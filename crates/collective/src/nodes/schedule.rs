//! The messages of one node in an operation between nodes, one after the other.
//!
//! **Trees** are binomial: node v of the tree, counted from its root, has the children v + 1, v + 2, v + 4 and so on below its
//! own lowest bit, so that the nodes below it lie side by side. **Recursive doubling** exchanges with the node whose number
//! differs in one bit, the lower one as the left operand; where the number of nodes is no power of two, the first nodes fold in
//! pairs before that. Either way a node combines the values of nodes that lie side by side, in their order: operands never
//! change places.
//!
//! Source of recursive doubling with folding: Thakur, Rabenseifner and Gropp, Optimization of collective communication operations
//! in MPICH, 2005.

/// The next message of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Send the values.
    Send { to: usize },
    /// Receive values that take the place of the own ones.
    Replace { from: usize },
    /// Receive values and combine them, as the right operand.
    Combine { from: usize },
    /// Exchange values and combine them; `is_left` says that the other node's are the left operand.
    Exchange { with: usize, is_left: bool },
}

/// A node among others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) node: usize,
    pub(super) nodes: usize,
}

impl Place {
    /// From the root to all.
    pub(super) fn broadcast(self, root: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let (number, of_number) = self.counted_from(root);
        if number > 0 {
            actions.push(Action::Replace { from: of_number(number & (number - 1)) });
        }
        actions.extend(self.children(number).rev().map(|child| Action::Send { to: of_number(child) }));
        actions
    }

    /// From all to the root, in the order of a tree that begins there.
    pub(super) fn reduce(self, root: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let (number, of_number) = self.counted_from(root);
        actions.extend(self.children(number).map(|child| Action::Combine { from: of_number(child) }));
        if number > 0 {
            actions.push(Action::Send { to: of_number(number & (number - 1)) });
        }
        actions
    }

    /// From all to the root, in the order of nodes: to node 0, which hands it on.
    pub(super) fn reduce_by_rank(self, root: usize) -> Vec<Action> {
        let mut actions = self.reduce(0);
        match (self.node, root) {
            (0, 1..) => actions.push(Action::Send { to: root }),
            (node, 1..) if node == root => actions.push(Action::Replace { from: 0 }),
            _ => {}
        }
        actions
    }

    /// From all to all along a tree that begins at node 0.
    pub(super) fn allreduce_by_tree(self) -> Vec<Action> {
        let mut actions = self.reduce(0);
        actions.extend(self.broadcast(0));
        actions
    }

    /// From all to all by recursive doubling.
    pub(super) fn allreduce_by_doubling(self) -> Vec<Action> {
        let Self { node, nodes } = self;
        let rounds = nodes.ilog2();
        // The first 2 * folded nodes go in pairs, the even one of which goes on for both.
        let folded = nodes - (1 << rounds);
        let is_folded = node < 2 * folded;
        if is_folded && node % 2 == 1 {
            return vec![Action::Send { to: node - 1 }, Action::Replace { from: node - 1 }];
        }
        let number = if is_folded { node / 2 } else { node - folded };
        let of_number = |number: usize| if number < folded { 2 * number } else { number + folded };
        let mut actions = Vec::new();
        if is_folded {
            actions.push(Action::Combine { from: node + 1 });
        }
        actions.extend((0..rounds).map(|round| {
            let partner = number ^ 1 << round;
            Action::Exchange { with: of_number(partner), is_left: partner < number }
        }));
        if is_folded {
            actions.push(Action::Send { to: node + 1 });
        }
        actions
    }

    /// This node's number, counted from the root, and the node of such a number.
    fn counted_from(self, root: usize) -> (usize, impl Fn(usize) -> usize) {
        let nodes = self.nodes;
        ((self.node + nodes - root) % nodes, move |number| (number + root) % nodes)
    }

    /// The children of a number in the tree, the one with the fewest below it first.
    fn children(self, number: usize) -> impl DoubleEndedIterator<Item = usize> {
        let nodes = self.nodes;
        let bits = if number == 0 { usize::BITS - nodes.leading_zeros() } else { number.trailing_zeros() };
        (0..bits).map(move |bit| number + (1 << bit)).filter(move |&child| child < nodes)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;

    /// Lets all nodes act until none can; returns the text at each node, which at first is its number.
    fn played(nodes: usize, of: impl Fn(Place) -> Vec<Action>) -> Vec<String> {
        let mut texts: Vec<String> = (0..nodes).map(|node| format!("{node} ")).collect();
        let mut actions: Vec<VecDeque<Action>> =
            (0..nodes).map(|node| of(Place { node, nodes }).into_iter().collect()).collect();
        let mut messages = vec![VecDeque::new(); nodes * nodes];
        let mut has_sent = vec![false; nodes];
        loop {
            let mut has_moved = false;
            for node in 0..nodes {
                let Some(&action) = actions[node].front() else { continue };
                let text = texts[node].clone();
                let is_done = match action {
                    Action::Send { to } => {
                        messages[node * nodes + to].push_back(text);
                        true
                    }
                    Action::Replace { from } => {
                        messages[from * nodes + node].pop_front().map(|new| texts[node] = new).is_some()
                    }
                    Action::Combine { from } => {
                        messages[from * nodes + node].pop_front().map(|new| texts[node] = text + &new).is_some()
                    }
                    Action::Exchange { with, is_left } => {
                        if !std::mem::replace(&mut has_sent[node], true) {
                            messages[node * nodes + with].push_back(text.clone());
                            has_moved = true;
                        }
                        let new = messages[with * nodes + node].pop_front();
                        new.map(|new| {
                            texts[node] = if is_left { new + &text } else { text + &new };
                            has_sent[node] = false;
                        })
                        .is_some()
                    }
                };
                if is_done {
                    actions[node].pop_front();
                    has_moved = true;
                }
            }
            if !has_moved {
                break;
            }
        }
        assert!(
            actions.iter().all(VecDeque::is_empty) && messages.iter().all(VecDeque::is_empty),
            "{nodes}: {actions:?}"
        );
        texts
    }

    #[test]
    fn all_nodes_get_all_values_once_and_in_order() {
        for nodes in 1..20 {
            let all: String = (0..nodes).map(|node| format!("{node} ")).collect();
            assert_eq!(played(nodes, Place::allreduce_by_doubling), vec![all.clone(); nodes], "{nodes}");
            assert_eq!(played(nodes, Place::allreduce_by_tree), vec![all.clone(); nodes], "{nodes}");
            for root in 0..nodes {
                let broadcast = played(nodes, |place| place.broadcast(root));
                assert_eq!(broadcast, vec![format!("{root} "); nodes], "{nodes}");
                assert_eq!(played(nodes, |place| place.reduce_by_rank(root))[root], all, "{nodes}");
                let mut rotated: Vec<usize> = (0..nodes).collect();
                rotated.rotate_left(root);
                let rotated: String = rotated.iter().map(|node| format!("{node} ")).collect();
                assert_eq!(played(nodes, |place| place.reduce(root))[root], rotated, "{nodes}");
            }
        }
    }
}
