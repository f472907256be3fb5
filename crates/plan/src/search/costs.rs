//! The costs that every search works on: those of a broadcast whose senders are never idle.
//!
//! A reduction is a broadcast in reversed time in which sending costs what the parent pays to receive, and the other
//! way round: the makespans of the two agree tree by tree, if the broadcast sends to the largest tail first and the
//! reduction receives in order of arrival. So one search serves both.

use crate::operation::Direction;
use crate::problem::Problem;

/// Costs of a broadcast between all pairs of members, in the problem's unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Costs {
    len: usize,
    /// `send[parent * len + child]`: how long the parent is busy.
    send: Vec<f64>,
    /// `receive[parent * len + child]`: from then on until the child is informed.
    receive: Vec<f64>,
    /// The extra cost of a parent's i-th send: see [`crate::Terms::undrained_sends`].
    undrained: Vec<f64>,
}

impl Costs {
    /// The costs of a phase in this direction.
    pub(crate) fn of(problem: &Problem, direction: Direction) -> Self {
        let len = problem.len();
        let dense = |cost: &dyn Fn(usize, usize) -> f64| {
            (0..len * len).map(|at| if at / len == at % len { 0.0 } else { cost(at / len, at % len) }).collect()
        };
        let (send, receive, undrained) = match direction {
            Direction::Down => (
                dense(&|parent, child| problem.send(parent, child)),
                dense(&|parent, child| problem.receive(parent, child)),
                problem.terms().undrained_sends.clone(),
            ),
            Direction::Up => (
                dense(&|parent, child| problem.occupancy(child, parent)),
                dense(&|parent, child| problem.message(child, parent) - problem.occupancy(child, parent)),
                Vec::new(),
            ),
        };
        Self { len, send, receive, undrained }
    }

    /// The costs among some of the members, numbered as in this list.
    pub(crate) fn among(&self, members: &[usize]) -> Self {
        let dense = |cost: &[f64]| {
            let row = |&from: &usize| members.iter().map(move |&to| cost[from * self.len + to]);
            members.iter().flat_map(row).collect()
        };
        Self {
            len: members.len(),
            send: dense(&self.send),
            receive: dense(&self.receive),
            undrained: self.undrained.clone(),
        }
    }

    /// Made-up costs; those from a member to itself do not count.
    #[cfg(test)]
    pub(crate) fn of_fn(len: usize, send: impl Fn(usize, usize) -> f64, receive: impl Fn(usize, usize) -> f64) -> Self {
        let dense = |cost: &dyn Fn(usize, usize) -> f64| (0..len * len).map(|at| cost(at / len, at % len)).collect();
        Self { len, send: dense(&send), receive: dense(&receive), undrained: Vec::new() }
    }

    /// The number of members: at least 1.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// How long `parent` is busy sending to `child`.
    #[inline]
    pub(crate) fn send(&self, parent: usize, child: usize) -> f64 {
        self.send[parent * self.len + child]
    }

    /// How long it then takes until `child` is informed.
    #[inline]
    pub(crate) fn receive(&self, parent: usize, child: usize) -> f64 {
        self.receive[parent * self.len + child]
    }

    /// The cost of a message from `parent` to `child` from start to end.
    #[inline]
    pub(crate) fn edge(&self, parent: usize, child: usize) -> f64 {
        self.send(parent, child) + self.receive(parent, child)
    }

    /// How long the `nth` send of a parent, counted from 0, keeps it busy.
    #[inline]
    pub(crate) fn nth_send(&self, parent: usize, child: usize, nth: usize) -> f64 {
        match self.undrained.get(nth) {
            Some(more) => (self.send(parent, child) + more).max(0.0),
            None => self.send(parent, child),
        }
    }

    /// The extra costs of a parent's sends over the pairwise send, in order; nothing beyond the list. A search that
    /// does not count it must say so.
    pub(crate) fn undrained(&self) -> &[f64] {
        &self.undrained
    }
}
