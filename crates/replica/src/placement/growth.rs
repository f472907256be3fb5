//! A tree that grows member by member, none of which may be busier than a limit.

use corecast_plan::{Problem, Tree};

use super::costs::Costs;
use super::roles::{Roles, compare};

/// The edge that is taken next of those that keep within the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Greed {
    /// The one whose message arrives first: short responses.
    Soonest,
    /// The one that costs its two ends least: room for others.
    Cheapest,
}

/// The tree so far.
struct Growth<'a> {
    problem: &'a Problem,
    greed: Greed,
    limit: f64,
    /// By rank: the time for which each member is busy.
    busy: Vec<f64>,
    /// By rank: when a member in the tree is free to send.
    free_at: Vec<Option<f64>>,
    children: Vec<Vec<usize>>,
    /// By rank: the best edge to a member that is not in the tree; `None` if there is none, and for members in it.
    best: Vec<Option<Edge>>,
}

/// An edge to a member that is not in the tree, and how much it is wanted: less is more.
#[derive(Debug, Clone, Copy)]
struct Edge {
    parent: usize,
    cost: (f64, f64),
}

/// A tree from the acceptor in which no member is busier than `limit`; `None` if this greed finds none.
pub(super) fn grow(costs: Costs<'_>, roles: Roles, limit: f64, greed: Greed) -> Option<Tree> {
    let problem = costs.problem;
    let members = problem.len();
    let mut growth = Growth {
        problem,
        greed,
        limit,
        busy: roles.duties(costs),
        free_at: vec![None; members],
        children: vec![Vec::new(); members],
        best: vec![None; members],
    };
    if growth.busy[roles.acceptor] > limit {
        return None;
    }
    growth.enter(roles.acceptor, 0.0);
    for _ in 1..members {
        let (child, edge) = growth.next()?;
        growth.attach(child, edge.parent);
    }
    Some(Tree::new(roles.acceptor, growth.children).expect("each member was attached once, from the root on"))
}

impl Growth<'_> {
    /// The edge that is wanted most, to the lowest rank of equals.
    fn next(&self) -> Option<(usize, Edge)> {
        let edges = self.best.iter().enumerate().filter_map(|(child, edge)| Some((child, (*edge)?)));
        edges.min_by(|a, b| compare(a.1.cost, b.1.cost))
    }

    fn attach(&mut self, child: usize, parent: usize) {
        let sent = self.problem.nth_send(parent, child, self.children[parent].len());
        let received = self.problem.receive(parent, child);
        let free_at = self.free_at[parent].expect("a parent is in the tree") + sent;
        self.children[parent].push(child);
        self.busy[parent] += sent;
        self.busy[child] += received;
        self.free_at[parent] = Some(free_at);
        for other in 0..self.best.len() {
            if other != child && self.best[other].is_some_and(|edge| edge.parent == parent) {
                self.best[other] = self.best_edge(other);
            }
        }
        self.enter(child, free_at + received);
    }

    /// A member is in the tree from now on, and may have children.
    fn enter(&mut self, member: usize, at: f64) {
        self.free_at[member] = Some(at);
        self.best[member] = None;
        for other in 0..self.best.len() {
            if self.free_at[other].is_none() {
                let edge = self.edge(member, other);
                self.best[other] = better(self.best[other], edge);
            }
        }
    }

    fn best_edge(&self, child: usize) -> Option<Edge> {
        let parents = (0..self.best.len()).filter(|&parent| self.free_at[parent].is_some());
        parents.fold(None, |best, parent| better(best, self.edge(parent, child)))
    }

    /// The edge from a member in the tree to one that is not, if both keep within the limit.
    fn edge(&self, parent: usize, child: usize) -> Option<Edge> {
        let sent = self.problem.nth_send(parent, child, self.children[parent].len());
        let received = self.problem.receive(parent, child);
        if self.busy[parent] + sent > self.limit || self.busy[child] + received > self.limit {
            return None;
        }
        let free_at = self.free_at[parent].expect("a parent is in the tree");
        let cost = match self.greed {
            Greed::Soonest => (free_at + sent + received, sent),
            Greed::Cheapest => (sent + received, free_at),
        };
        Some(Edge { parent, cost })
    }
}

/// The edge that is wanted more, the first of equals.
fn better(one: Option<Edge>, other: Option<Edge>) -> Option<Edge> {
    match (one, other) {
        (Some(one), Some(other)) if compare(other.cost, one.cost).is_lt() => Some(other),
        (Some(one), _) => Some(one),
        (None, other) => other,
    }
}
