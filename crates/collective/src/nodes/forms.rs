//! The way that values take between nodes: the engine's own operation, a tree, or recursive doubling.
//!
//! All nodes have to take the same way, so it follows from what is the same at all of them: the numbers of members, the size of the
//! values, their type, the operation and its order.

use super::ends::Ends;
use super::engine::ValueKind;
use super::exchange::{CHUNK_BYTES, Way};
use super::schedule::Place;
use crate::op::PredefinedOp;
use crate::operation::Order;

/// A kind of values and an operation on them that engines know, and that gives the same bits in any order.
pub(super) type Known = (ValueKind, PredefinedOp);

impl Ends {
    pub(super) fn place(&self) -> Place {
        Place { node: self.numbering.node, nodes: self.numbering.nodes() }
    }

    /// The way of an allreduction of this many bytes. Long slices of one member a node go by the engine's own operation, which
    /// divides them among the nodes; others are messages of up to a chunk, which recursive doubling passes on in the fewest rounds.
    pub(super) fn allreduce_way(&self, bytes: usize, known: Option<Known>) -> Way {
        let has_one_member = self.numbering.most_members() == 1;
        match known.filter(|_| bytes > CHUNK_BYTES && has_one_member && self.numbering.nodes() > 1) {
            Some((kind, op)) => Way::Allreduce(kind, op),
            None => Way::Messages(self.place().allreduce_by_doubling()),
        }
    }

    /// The way of a reduction to a node.
    pub(super) fn reduce_way(&self, order: Order, root: usize) -> Way {
        Way::Messages(match order {
            Order::Rank => self.place().reduce_by_rank(root),
            Order::Plan | Order::Arrival => self.place().reduce(root),
        })
    }

    /// The way of a broadcast from a node.
    pub(super) fn broadcast_way(&self, root: usize) -> Way {
        Way::Messages(self.place().broadcast(root))
    }
}
