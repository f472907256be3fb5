//! A tree of places without members, and the assignment of members to them.
//!
//! The programmes over classes and hierarchies plan for members that are all alike. Their result is a sketch: it says
//! when a member of one kind sends to a member of another. The members of a real machine are nearly alike, so each
//! place of the sketch goes to the one that suits it best, places that are informed early first.

use super::costs::Costs;
use super::order::{Ordered, ordered};

/// The most roots that a sketch is filled in from. One costs 1 %, 64 gain less than half of that.
const ROOTS: usize = 8;

/// A tree of places; the first is the root's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sketch {
    places: Vec<Place>,
}

/// A place other than the root's is one that the parent's member sends to.
#[derive(Clone, Copy, Debug)]
struct Place {
    parent: usize,
    /// The programme's name for the members that fit here.
    kind: usize,
    /// When the member here is informed, in the programme's ticks.
    arrival: u64,
}

/// The members that may take each place, while a sketch is filled in.
pub(crate) trait Room: Clone {
    /// True if `member` may stand in a place of this kind below `parent`.
    fn has_place_for(&self, member: usize, kind: usize, parent: usize) -> bool;

    /// Records that a member has a place.
    fn place(&mut self, member: usize);
}

impl Sketch {
    /// Adds a place below another one (the root's is its own parent) and returns its number.
    pub(crate) fn add(&mut self, parent: usize, kind: usize, arrival: u64) -> usize {
        self.places.push(Place { parent, kind, arrival });
        self.places.len() - 1
    }

    /// When the member of a place is informed.
    pub(crate) fn arrival(&self, place: usize) -> u64 {
        self.places[place].arrival
    }

    /// The cheapest tree that it becomes with one of these roots. Members that find no place become children of those
    /// that can inform them the soonest.
    ///
    /// # Panics
    ///
    /// If there is no root.
    pub(crate) fn fill(&self, costs: &Costs, roots: &[usize], room: &impl Room) -> Ordered {
        let mut order: Vec<usize> = (0..self.places.len()).collect();
        order.sort_by_key(|&place| self.places[place].arrival);
        let from = |&root: &usize| {
            let children = self.named(costs, root, &order, room.clone());
            ordered(costs, root, with_all(costs, root, children))
        };
        roots.iter().map(from).min_by(|a, b| a.cost.total_cmp(&b.cost)).expect("there is a root")
    }

    /// The children of each member when every place has taken the member that its parent reaches the cheapest.
    fn named(&self, costs: &Costs, root: usize, order: &[usize], mut room: impl Room) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); costs.len()];
        let mut member_at: Vec<Option<usize>> = vec![None; self.places.len()];
        let mut apart: Vec<usize> = (0..costs.len()).filter(|&member| member != root).collect();
        member_at[0] = Some(root);
        room.place(root);
        for &at in order.iter().filter(|&&at| at != 0) {
            let Place { parent, kind, .. } = self.places[at];
            let Some(parent) = member_at[parent] else { continue };
            let fitting = (0..apart.len()).filter(|&at| room.has_place_for(apart[at], kind, parent));
            let weighed = fitting.map(|at| (costs.edge(parent, apart[at]), apart[at], at));
            let nearest = weighed.min_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let Some((_, member, taken)) = nearest else { continue };
            apart.swap_remove(taken);
            room.place(member);
            children[parent].push(member);
            member_at[at] = Some(member);
        }
        children
    }
}

/// The few of these roots that reach all others the cheapest in sum, cheapest first; those that tie ascending.
pub(crate) fn nearest_roots(costs: &Costs, roots: impl Iterator<Item = usize>) -> Vec<usize> {
    let total = |root: usize| (0..costs.len()).map(|other| costs.edge(root, other)).sum::<f64>();
    let mut by_total: Vec<(f64, usize)> = roots.map(|root| (total(root), root)).collect();
    by_total.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    by_total.into_iter().take(ROOTS).map(|(_, root)| root).collect()
}

/// The cost in the middle, or 0 if there is none. The lower one of two, so that it is one of them.
pub(crate) fn median(mut costs: Vec<f64>) -> f64 {
    if costs.is_empty() {
        return 0.0;
    }
    let middle = (costs.len() - 1) / 2;
    *costs.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The tree with every missing member added, each as the child of the member that informs it the soonest.
fn with_all(costs: &Costs, root: usize, mut children: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let mut is_in = vec![false; costs.len()];
    let mut free = vec![0.0; costs.len()];
    let mut top_down = vec![(root, 0.0)];
    while let Some((parent, mut now)) = top_down.pop() {
        is_in[parent] = true;
        for (nth, &child) in children[parent].iter().enumerate() {
            now += costs.nth_send(parent, child, nth);
            top_down.push((child, now + costs.receive(parent, child)));
        }
        free[parent] = now;
    }
    for member in (0..costs.len()).filter(|&member| !is_in[member]).collect::<Vec<_>>() {
        let arrival = |parent: usize| free[parent] + costs.edge(parent, member);
        let informed = (0..costs.len()).filter(|&parent| is_in[parent]);
        let parent = informed.min_by(|&a, &b| arrival(a).total_cmp(&arrival(b))).expect("the root is informed");
        free[member] = arrival(parent);
        free[parent] += costs.send(parent, member);
        is_in[member] = true;
        children[parent].push(member);
    }
    children
}
