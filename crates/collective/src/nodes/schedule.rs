//! The messages of one node in an operation between nodes, one after the other.
//!
//! **Trees** are binomial: node v of the tree, counted from its root, has the children v + 1, v + 2, v + 4 and so on below its
//! own lowest bit, so that the nodes below it lie side by side. **Recursive doubling** exchanges with the node whose number
//! differs in one bit, the lower one as the left operand; where the number of nodes is no power of two, the first nodes fold in
//! pairs before that. **Recursive halving** is for long values: in each round a node keeps half of the part that it has, gets the
//! other node's values of that half and gives it those of the other one, so that messages get shorter from round to round; then
//! the parts come back in the same exchanges, the last one first. In every way a node combines the values of nodes that lie side
//! by side, in their order: operands never change places.
//!
//! Source of recursive doubling with folding and of halving: Thakur, Rabenseifner and Gropp, Optimization of collective
//! communication operations in MPICH, 2005.

use std::ops::Range;

use corecast_base::sync::Arc;

/// The messages of one node in an operation.
pub(super) type Actions = Arc<[Action]>;

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
    /// Give a share of the values, and combine another one with the other node's, which are the left operand if `is_left`.
    Halve { with: usize, gives: Share, keeps: Share, is_left: bool },
    /// Give a share of the values, and take the other node's of another one in the place of the own.
    Regain { with: usize, gives: Share, takes: Share },
}

/// One of `of` shares of the values, as equal as may be, which lie one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Share {
    number: usize,
    of: usize,
}

impl Share {
    /// All of them.
    pub(super) const ALL: Self = Self { number: 0, of: 1 };

    /// The places of its values among this number of them.
    pub(super) fn range(self, len: usize) -> Range<usize> {
        len * self.number / self.of..len * (self.number + 1) / self.of
    }
}

/// An operation between nodes, and the way of its messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pattern {
    Broadcast(usize),
    Reduce(usize),
    ReduceByRank(usize),
    AllreduceByTree,
    AllreduceByDoubling,
    AllreduceByHalving,
}

/// The most patterns that are kept: more than a program with a few roots has.
const MOST_KEPT: usize = 16;

/// The messages of one node in the operations that it has taken part in, so that not each of them makes them anew.
#[derive(Debug, Default)]
pub(super) struct Schedules {
    kept: Vec<(Place, Pattern, Actions)>,
}

impl Schedules {
    /// The messages of a node in an operation.
    pub(super) fn actions(&mut self, place: Place, pattern: Pattern) -> Actions {
        if let Some((.., actions)) = self.kept.iter().find(|kept| (kept.0, kept.1) == (place, pattern)) {
            return Arc::clone(actions);
        }
        if self.kept.len() == MOST_KEPT {
            self.kept.remove(0);
        }
        let actions = Actions::from(place.actions(pattern));
        self.kept.push((place, pattern, Arc::clone(&actions)));
        actions
    }
}

/// A node among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) node: usize,
    pub(super) nodes: usize,
}

impl Place {
    fn actions(self, pattern: Pattern) -> Vec<Action> {
        match pattern {
            Pattern::Broadcast(root) => self.broadcast(root),
            Pattern::Reduce(root) => self.reduce(root),
            Pattern::ReduceByRank(root) => self.reduce_by_rank(root),
            Pattern::AllreduceByTree => self.allreduce_by_tree(),
            Pattern::AllreduceByDoubling => self.allreduce_by_doubling(),
            Pattern::AllreduceByHalving => self.allreduce_by_halving(),
        }
    }

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
    fn reduce(self, root: usize) -> Vec<Action> {
        let mut actions = Vec::new();
        let (number, of_number) = self.counted_from(root);
        actions.extend(self.children(number).map(|child| Action::Combine { from: of_number(child) }));
        if number > 0 {
            actions.push(Action::Send { to: of_number(number & (number - 1)) });
        }
        actions
    }

    /// From all to the root, in the order of nodes: to node 0, which hands it on.
    fn reduce_by_rank(self, root: usize) -> Vec<Action> {
        let mut actions = self.reduce(0);
        match (self.node, root) {
            (0, 1..) => actions.push(Action::Send { to: root }),
            (node, 1..) if node == root => actions.push(Action::Replace { from: 0 }),
            _ => {}
        }
        actions
    }

    /// From all to all along a tree that begins at node 0.
    fn allreduce_by_tree(self) -> Vec<Action> {
        let mut actions = self.reduce(0);
        actions.extend(self.broadcast(0));
        actions
    }

    /// From all to all by recursive doubling.
    fn allreduce_by_doubling(self) -> Vec<Action> {
        self.folded(|number, rounds, of_number| {
            let exchange = |round| {
                let partner = number ^ (1_usize << round);
                Action::Exchange { with: of_number(partner), is_left: partner < number }
            };
            (0..rounds).map(exchange).collect()
        })
    }

    /// From all to all by recursive halving.
    fn allreduce_by_halving(self) -> Vec<Action> {
        self.folded(|number, rounds, of_number| {
            let mut part = 0;
            let (mut down, mut up) = (Vec::new(), Vec::new());
            for round in 0..rounds {
                let (partner, half) = (number ^ (1_usize << round), number >> round & 1);
                let share = |half: usize| Share { number: 2 * part + half, of: 2 << round };
                let (with, keeps, gives) = (of_number(partner), share(half), share(1 - half));
                down.push(Action::Halve { with, gives, keeps, is_left: partner < number });
                up.push(Action::Regain { with, gives: keeps, takes: gives });
                part = 2 * part + half;
            }
            down.extend(up.into_iter().rev());
            down
        })
    }

    /// The messages of a way that is made for a power of two of nodes. `rounds` makes them from a node's number among these
    /// nodes, the logarithm of their count, and the node of each number. Further nodes take part in pairs with the first
    /// ones: the odd one of a pair hands its values to the even one before these messages, and gets the result behind them.
    fn folded(self, rounds: impl FnOnce(usize, u32, &dyn Fn(usize) -> usize) -> Vec<Action>) -> Vec<Action> {
        let Self { node, nodes } = self;
        let log = nodes.ilog2();
        // The first 2 * folded nodes go in pairs, the even one of which goes on for both.
        let folded = nodes - (1 << log);
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
        actions.extend(rounds(number, log, &of_number));
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

    /// The values at a node: texts.
    type Texts = Vec<String>;

    /// The values of each of two nodes, one after the other.
    fn joined(left: &[String], right: &[String]) -> Texts {
        left.iter().zip(right).map(|(left, right)| left.clone() + right).collect()
    }

    /// One action of a node, whose message, if it sends one, is handed to `send`; false if one that it waits for has not come.
    fn done(
        action: Action,
        texts: &mut [String],
        has_sent: &mut bool,
        mut send: impl FnMut(usize, Texts),
        mut receive: impl FnMut(usize) -> Option<Texts>,
    ) -> bool {
        let len = texts.len();
        let (gives, takes) = match action {
            Action::Halve { gives, keeps: takes, .. } | Action::Regain { gives, takes, .. } => {
                (gives.range(len), takes.range(len))
            }
            _ => (0..len, 0..len),
        };
        let (to, from) = match action {
            Action::Send { to } => (Some(to), None),
            Action::Replace { from } | Action::Combine { from } => (None, Some(from)),
            Action::Exchange { with, .. } | Action::Halve { with, .. } | Action::Regain { with, .. } => {
                (Some(with), Some(with))
            }
        };
        if let Some(to) = to.filter(|_| !std::mem::replace(has_sent, true)) {
            send(to, texts[gives].to_vec());
        }
        let Some(from) = from else { return true };
        let Some(new) = receive(from) else { return false };
        let own = &mut texts[takes];
        let combined = match action {
            Action::Exchange { is_left: true, .. } | Action::Halve { is_left: true, .. } => joined(&new, own),
            Action::Replace { .. } | Action::Regain { .. } => new,
            _ => joined(own, &new),
        };
        own.clone_from_slice(&combined);
        true
    }

    /// Lets all nodes act until none can; returns the text at each node, which at first is its number. All values of a node are
    /// equal.
    fn played(nodes: usize, of: impl Fn(Place) -> Vec<Action>) -> Vec<String> {
        const VALUES: usize = 11;
        let mut texts: Vec<Texts> = (0..nodes).map(|node| vec![format!("{node} "); VALUES]).collect();
        let mut actions: Vec<VecDeque<Action>> =
            (0..nodes).map(|node| of(Place { node, nodes }).into_iter().collect()).collect();
        let mut messages = vec![VecDeque::new(); nodes * nodes];
        let mut has_sent = vec![false; nodes];
        loop {
            let mut has_moved = false;
            for node in 0..nodes {
                let Some(&action) = actions[node].front() else { continue };
                let (had_sent, mut sent) = (has_sent[node], None);
                let send = |to, texts| sent = Some((to, texts));
                let receive = |from: usize| messages[from * nodes + node].pop_front();
                let is_done = done(action, &mut texts[node], &mut has_sent[node], send, receive);
                sent.into_iter().for_each(|(to, texts)| messages[node * nodes + to].push_back(texts));
                has_moved |= is_done || has_sent[node] != had_sent;
                if is_done {
                    has_sent[node] = false;
                    actions[node].pop_front();
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
        let text = |texts: Texts| {
            assert!(texts.iter().all(|text| *text == texts[0]), "{nodes}: {texts:?}");
            texts[0].clone()
        };
        texts.into_iter().map(text).collect()
    }

    #[test]
    fn messages_get_shorter_by_halving() {
        let sent = |action: &Action| match *action {
            Action::Halve { gives, .. } | Action::Regain { gives, .. } => gives.range(64).len(),
            _ => panic!("{action:?} among a power of two of nodes"),
        };
        for node in 0..8 {
            let lengths: Vec<usize> = Place { node, nodes: 8 }.allreduce_by_halving().iter().map(sent).collect();
            assert_eq!(lengths, [32, 16, 8, 8, 16, 32]);
        }
    }

    #[test]
    fn all_nodes_get_all_values_once_and_in_order() {
        for nodes in 1..20 {
            let all: String = (0..nodes).map(|node| format!("{node} ")).collect();
            assert_eq!(played(nodes, Place::allreduce_by_doubling), vec![all.clone(); nodes], "{nodes}");
            assert_eq!(played(nodes, Place::allreduce_by_halving), vec![all.clone(); nodes], "{nodes}");
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
