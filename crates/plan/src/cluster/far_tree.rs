//! The tree of a message from one node to all others, tier by tier.
//!
//! The leader of every unit of the largest tier takes part in a [`PostalTree`] among these leaders, then sends on within its
//! unit in the same way, and so down to the nodes. So the message enters each unit once. A member of a unit's tree stands for
//! all that is below it: the longest work left comes first, which is best for any shape of tree. A leader sends to the larger
//! tier first, as there is more work left behind those messages.
//!
//! Everything follows from the runs of the model, so that each node can derive its own neighbours from them. What a tree costs is
//! computed from the counts of [`PostalTree`], too; `events` computes the same node by node.
//!
//! A reduction is the same tree in reversed time: with the time for which a *receiver* is busy as the step, and the time before
//! a node has its value in the place of the work that it has left.

use super::layout::{Layout, Unit, Units};
use super::postal::{Hop, PostalTree};

/// Where a node stands in a tree of nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Neighbours {
    /// The node that it receives from; `None` for the root. In a reduction it sends to that one.
    pub parent: Option<u64>,
    /// The nodes that it sends to, in this order. In a reduction it receives from them, in the reversed order.
    pub children: Vec<u64>,
}

/// The tree.
#[derive(Clone, Debug)]
pub(super) struct FarTree {
    layout: Layout,
    /// By tier.
    hops: Vec<Hop>,
    /// By kind: the work that a node has left when it has the message and has sent it on.
    tails_ps: Vec<u64>,
    /// The position of the root, if that is given.
    root: Option<u64>,
}

/// The time of a unit from the message's arrival there until all are done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Span {
    pub(super) duration_ps: u64,
    /// How many nodes are how many messages away from the unit's leader.
    pub(super) depths: Vec<f64>,
}

/// A member of a unit's tree: equal units with the time that they take.
struct Member {
    units: Units,
    span: Span,
}

impl FarTree {
    /// The tree over the nodes of a layout.
    pub(super) fn new(layout: Layout, hops: Vec<Hop>, tails_ps: Vec<u64>, root: Option<u64>) -> Self {
        let root = root.map(|rank| layout.position(rank));
        Self { layout, hops, tails_ps, root }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(super) fn hop(&self, tier: usize) -> Hop {
        self.hops[tier]
    }

    /// The work that the node at a position has left.
    pub(super) fn tail_ps(&self, position: u64) -> u64 {
        self.tails_ps[self.layout.kind(position)]
    }

    /// True if the root is in that unit.
    pub(super) fn has_root(&self, unit: Unit) -> bool {
        self.root.is_some_and(|root| self.layout.unit_at(unit.level, root) == unit)
    }

    /// The whole cluster's time, from counts.
    pub(super) fn span(&self) -> Span {
        self.span_of(self.layout.whole())
    }

    fn span_of(&self, unit: Unit) -> Span {
        if unit.level == 0 {
            return Span { duration_ps: self.tail_ps(unit.first), depths: vec![1.0] };
        }
        let members = self.members(unit);
        let tree = PostalTree::new(self.hops[unit.level - 1], count(&members));
        let mut span = Span { duration_ps: 0, depths: Vec::new() };
        let mut members = members.iter().map(|member| (member.units.count, &member.span)).peekable();
        for class in tree.classes() {
            let mut left = class.count;
            while left > 0 {
                let (there, inner) = members.peek_mut().expect("the tree has as many slots as members");
                let both = left.min(*there);
                span.duration_ps = span.duration_ps.max(class.free_ps + inner.duration_ps);
                add_product(&mut span.depths, class.depths, &inner.depths, both as f64 / class.of as f64);
                (left, *there) = (left - both, *there - both);
                if *there == 0 {
                    members.next();
                }
            }
        }
        span
    }

    /// The members of a unit's tree, in the order of their slots: the root's, then those with the longest work left.
    fn members(&self, unit: Unit) -> Vec<Member> {
        let inside = self.layout.inside(unit, self.root.filter(|_| self.has_root(unit)));
        let mut members: Vec<Member> =
            inside.into_iter().map(|units| Member { units, span: self.span_of(units.first) }).collect();
        members.sort_by_key(|member| {
            let is_root = self.has_root(member.units.first);
            (!is_root, std::cmp::Reverse(member.span.duration_ps), member.units.first.first)
        });
        members
    }

    /// The position of the node that a unit is entered by.
    fn leader(&self, unit: Unit) -> u64 {
        let mut unit = unit;
        while unit.level > 0 {
            unit = self.members(unit)[0].units.first;
        }
        unit.first
    }

    /// The neighbours of a node, by ranks.
    pub(super) fn neighbours(&self, rank: u64) -> Neighbours {
        let position = self.layout.position(rank);
        let mut neighbours = Neighbours::default();
        for level in (1..=self.layout.tiers()).rev() {
            let own = self.layout.unit_at(level - 1, position);
            if self.leader(own) != position {
                continue;
            }
            let members = self.members(self.layout.unit_at(level, position));
            let tree = PostalTree::new(self.hops[level - 1], count(&members));
            let slot = self.slot(&members, own);
            let leader_of = |slot| self.layout.rank(self.leader(self.unit(&members, slot)));
            neighbours.parent = neighbours.parent.or_else(|| tree.parent(slot).map(leader_of));
            neighbours.children.extend(tree.children(slot).into_iter().map(leader_of));
        }
        neighbours
    }

    /// The time for which a node is busy with the messages to its children.
    pub(super) fn busy_ps(&self, rank: u64) -> u64 {
        let position = self.layout.position(rank);
        let step = |child: u64| self.hops[self.layout.tier_between(position, self.layout.position(child))].step_ps;
        self.neighbours(rank).children.into_iter().map(step).sum()
    }

    /// The slot of a unit among the members of the one above.
    fn slot(&self, members: &[Member], unit: Unit) -> u64 {
        let size = self.layout.size(unit.level);
        let mut before = 0;
        for Member { units: Units { first, count }, .. } in members {
            let beyond = unit.first.checked_sub(first.first).map(|distance| distance / size);
            if let Some(beyond) = beyond.filter(|beyond| beyond < count) {
                return before + beyond;
            }
            before += count;
        }
        unreachable!("a unit is among the members of the one above")
    }

    /// The unit of a slot.
    fn unit(&self, members: &[Member], slot: u64) -> Unit {
        let mut beyond = slot;
        for Member { units: Units { first, count }, .. } in members {
            if beyond < *count {
                return Unit { first: first.first + beyond * self.layout.size(first.level), ..*first };
            }
            beyond -= count;
        }
        unreachable!("the tree has as many slots as members")
    }
}

fn count(members: &[Member]) -> u64 {
    members.iter().map(|member| member.units.count).sum()
}

/// Adds the distribution of the sum of two depths, by `factor`.
fn add_product(sum: &mut Vec<f64>, outer: &[f64], inner: &[f64], factor: f64) {
    sum.resize(sum.len().max(outer.len() + inner.len()), 0.0);
    for (i, a) in outer.iter().enumerate() {
        for (j, b) in inner.iter().enumerate() {
            sum[i + j] += factor * a * b;
        }
    }
}
