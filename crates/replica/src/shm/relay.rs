//! Whom a node watches for decisions, and whom it wakes: the acceptor and all, or its neighbours in a learn tree.
//!
//! A relay only *notifies*. It publishes the count that it has seen committed and wakes its children, which then look at the
//! acceptor's own count and log as everybody does. So nothing that a relay says, or fails to say, can be learned wrongly. When
//! the acceptor was found ahead and the parent has said nothing of it for [`SILENCE`], the child looks at the acceptor by
//! itself, until the parent has caught up.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;

use super::Peers;
use crate::placement::LearnTree;
use crate::system::Members;
use crate::{Index, NodeId};

/// The time after which a parent counts as silent: that of eight hops, each a wake-up of a thread.
const SILENCE: Duration = Duration::from_micros(100);

/// A node's place in the tree, and what it has heard there.
#[derive(Debug)]
pub(crate) struct Relay {
    tree: Option<Arc<LearnTree>>,
    /// The acceptor for which the fields below hold.
    acceptor: Option<NodeId>,
    /// The node to watch; `None` for the acceptor itself.
    parent: Option<NodeId>,
    /// By slot: whether this node wakes it. Slots beyond are woken by the acceptor.
    wakes: Vec<bool>,
    /// The count that this node has relayed.
    pub(super) relayed: Index,
    /// When it last looked at the acceptor while the parent said nothing new, in ticks.
    looked: u64,
    /// Since when the acceptor is known to be ahead of what the parent says, in ticks.
    ahead_since: Option<u64>,
    is_parent_silent: bool,
    /// The number of counts it has relayed, and of times that its parent was silent.
    pub(crate) relays: u64,
    pub(crate) silences: u64,
}

impl Relay {
    /// A node that learns directly.
    pub(crate) fn new() -> Self {
        Self {
            tree: None,
            acceptor: None,
            parent: None,
            wakes: Vec::new(),
            relayed: 0,
            looked: 0,
            ahead_since: None,
            is_parent_silent: false,
            relays: 0,
            silences: 0,
        }
    }

    /// Goes by this tree once [`rewire`](Self::rewire) is called; `None`: learns directly.
    pub(crate) fn set_tree(&mut self, tree: Option<Arc<LearnTree>>) {
        self.tree = tree;
        self.acceptor = None;
    }

    /// True if it goes by a tree.
    pub(crate) fn is_in_use(&self) -> bool {
        self.tree.is_some()
    }

    /// Finds this node's neighbours: members or roles have changed.
    pub(crate) fn rewire(&mut self, me: NodeId, members: &Members, acceptor: NodeId) {
        self.wakes.clear();
        (self.parent, self.ahead_since, self.is_parent_silent) = (None, None, false);
        self.acceptor = Some(acceptor);
        let Some(tree) = self.tree.as_ref().filter(|tree| tree.has(acceptor.slot)) else { return };
        for node in members.iter().filter(|node| tree.has(node.slot)) {
            let parent = living_parent(tree, members, node.slot, acceptor.slot);
            if node == me {
                self.parent = parent.filter(|&slot| slot != acceptor.slot).and_then(|slot| members.at(slot));
            }
            let slot = usize::from(node.slot);
            if self.wakes.len() <= slot {
                self.wakes.resize(slot + 1, me == acceptor);
            }
            self.wakes[slot] = parent == Some(me.slot);
        }
    }

    /// True if the acceptor may have committed something beyond `from`, and it is time to look there.
    pub(super) fn has_news(&mut self, peers: &Peers, acceptor: NodeId, from: Index) -> bool {
        let Some(parent) = self.parent.filter(|_| self.acceptor == Some(acceptor)) else { return true };
        let Some(parent) = peers.get(parent) else { return true };
        if parent.segment.relayed() > from {
            (self.ahead_since, self.is_parent_silent) = (None, false);
            return true;
        }
        self.is_parent_silent || self.looks_itself(peers, acceptor, from)
    }

    /// Now and then looks whether the parent has died, or stands still.
    fn looks_itself(&mut self, peers: &Peers, acceptor: NodeId, from: Index) -> bool {
        let (clock, now) = (Clock::get(), Clock::get().ticks());
        let silence = clock.ticks_in(SILENCE);
        if now.saturating_sub(self.looked) < silence {
            return false;
        }
        self.looked = now;
        if peers.get(acceptor).is_none_or(|acceptor| acceptor.segment.commit() <= from) {
            self.ahead_since = None;
            return false;
        }
        let since = *self.ahead_since.get_or_insert(now);
        self.is_parent_silent = now.saturating_sub(since) >= silence;
        self.silences += u64::from(self.is_parent_silent);
        self.is_parent_silent
    }

    /// True while this node looks after itself, as nobody will wake it.
    pub(crate) fn is_alone(&self) -> bool {
        self.is_parent_silent || self.ahead_since.is_some()
    }

    /// Wakes those that this node, the acceptor, tells that it has committed something: its children, and nodes that are in no
    /// tree.
    pub(super) fn wake_learners(&self, peers: &Peers, me: NodeId) {
        if self.tree.is_none() || self.acceptor != Some(me) {
            return peers.wake_others(me);
        }
        peers.wake_where(|slot| slot != me.slot && self.wakes.get(usize::from(slot)).copied().unwrap_or(true));
    }

    /// Wakes the children.
    pub(super) fn wake_children(&self, peers: &Peers) {
        peers.wake_where(|slot| self.wakes.get(usize::from(slot)).copied().unwrap_or(false));
    }
}

/// The parent of a slot, or the nearest member above it, or the acceptor.
fn living_parent(tree: &LearnTree, members: &Members, slot: u16, acceptor: u16) -> Option<u16> {
    let mut above = std::iter::successors(tree.parent(slot, acceptor), |&at| tree.parent(at, acceptor));
    above.find(|&at| at == acceptor || members.at(at).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(slot: u16) -> NodeId {
        NodeId::new(slot, 1)
    }

    /// The parent and the wakes of a node in the chain 0, 1, 2, 3, whose members are these.
    fn wired(me: u16, members: &[u16], acceptor: u16) -> (Option<u16>, Vec<u16>) {
        let tree = LearnTree::of_parents(&[None, Some(0), Some(1), Some(2)]).expect("a chain");
        let members = Members::founding(members.iter().map(|&slot| (node(slot), u64::from(slot))));
        let mut relay = Relay::new();
        relay.set_tree(Some(Arc::new(tree)));
        relay.rewire(node(me), &members, node(acceptor));
        let woken = relay.wakes.iter().enumerate().filter_map(|(slot, &is_woken)| is_woken.then_some(slot as u16));
        (relay.parent.map(|parent| parent.slot), woken.collect())
    }

    #[test]
    fn the_tree_is_walked_from_the_acceptor() {
        assert_eq!(wired(2, &[0, 1, 2, 3], 0), (Some(1), vec![3]));
        assert_eq!(wired(2, &[0, 1, 2, 3], 3), (None, vec![1]), "the acceptor itself is the parent");
        assert_eq!(wired(0, &[0, 1, 2, 3], 3), (Some(1), vec![]));
        assert_eq!(wired(0, &[0, 1, 2, 3], 0), (None, vec![1]));
    }

    #[test]
    fn who_is_no_member_is_left_out_on_both_sides() {
        assert_eq!(wired(3, &[0, 1, 3], 0), (Some(1), vec![]));
        assert_eq!(wired(1, &[0, 1, 3], 0), (None, vec![3]));
        assert_eq!(wired(2, &[0, 1, 3], 0), (None, vec![]), "a joiner learns directly");
        assert_eq!(wired(1, &[0, 1, 5], 5), (None, vec![]), "the acceptor is not in the tree");
    }

    #[test]
    fn another_acceptor_than_it_is_wired_for_is_watched_directly() {
        let mut relay = Relay::new();
        relay.rewire(node(1), &Members::founding([(node(0), 0), (node(1), 1)]), node(0));
        assert!(relay.parent.is_none() && !relay.is_in_use() && !relay.is_alone());
    }
}
