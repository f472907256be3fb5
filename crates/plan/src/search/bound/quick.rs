//! Lower bounds that are cheap to compute, and far from the optimum.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::costs::Costs;

/// A lower bound for trees from `root`, or from any root, in O(n^2).
///
/// The farthest member by shortest paths is informed no earlier, even if the root had no other member to serve; and
/// members become informed no faster than if every message cost what the cheapest send and the cheapest message cost.
pub(crate) fn quick_bound(costs: &Costs, root: Option<usize>) -> f64 {
    let dearest_child = root.map_or_else(|| dearest_entry(costs), |root| farthest(costs, root));
    dearest_child.max(postal(costs))
}

/// The costs of the cheapest send and the cheapest message of all, whatever was sent before.
fn cheapest(costs: &Costs) -> (f64, f64) {
    let pairs = || (0..costs.len()).flat_map(|p| (0..costs.len()).map(move |c| (p, c))).filter(|(p, c)| p != c);
    let send = pairs().map(|(p, c)| costs.send(p, c)).fold(f64::INFINITY, f64::min);
    let edge = pairs().map(|(p, c)| costs.edge(p, c)).fold(f64::INFINITY, f64::min);
    (lowered(costs, send), lowered(costs, edge))
}

/// A cost that has a send in it, less what undrained sends may take off.
pub(super) fn lowered(costs: &Costs, cost: f64) -> f64 {
    let cheaper = costs.undrained().iter().copied().fold(0.0, f64::min);
    (cost + cheaper).max(0.0)
}

/// The longest shortest path from `root` (Dijkstra's).
fn farthest(costs: &Costs, root: usize) -> f64 {
    let mut distance = vec![f64::INFINITY; costs.len()];
    let mut open: Vec<usize> = (0..costs.len()).collect();
    distance[root] = 0.0;
    let mut last: f64 = 0.0;
    while let Some(at) = (0..open.len()).min_by(|&a, &b| distance[open[a]].total_cmp(&distance[open[b]])) {
        let nearest = open.swap_remove(at);
        last = last.max(distance[nearest]);
        for &other in &open {
            let by_nearest = distance[nearest] + lowered(costs, costs.edge(nearest, other));
            distance[other] = distance[other].min(by_nearest);
        }
    }
    last
}

/// The cheapest message to the member that costs most to inform; the root, which may be that one, needs none.
fn dearest_entry(costs: &Costs) -> f64 {
    let entry = |c: usize| (0..costs.len()).filter(|&p| p != c).map(|p| costs.edge(p, c)).fold(f64::INFINITY, f64::min);
    let mut entries: Vec<f64> = (0..costs.len()).map(entry).collect();
    entries.sort_by(f64::total_cmp);
    entries.iter().rev().nth(1).map_or(0.0, |&entry| lowered(costs, entry))
}

/// When all are informed if every pair costs what the cheapest one does.
fn postal(costs: &Costs) -> f64 {
    let (send, edge) = cheapest(costs);
    let mut last = 0.0;
    // The times of the next possible messages; times are not negative, so their bits order them.
    let mut next = BinaryHeap::from([Reverse(edge.to_bits())]);
    for _ in 1..costs.len() {
        let Reverse(bits) = next.pop().expect("a member that has sent can send again");
        last = f64::from_bits(bits);
        next.push(Reverse((last + send).to_bits()));
        next.push(Reverse((last + edge).to_bits()));
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_costs_are_bounded_exactly() {
        let costs = Costs::of_fn(13, |_, _| 1.0, |_, _| 1.0);
        assert_eq!(quick_bound(&costs, None), 6.0);
        assert_eq!(quick_bound(&costs, Some(4)), 6.0);
    }

    #[test]
    fn the_farthest_member_bounds_a_fixed_root_and_not_a_free_one() {
        let far = |p: usize, c: usize| if p == 3 || c == 3 { 50.0 } else { 1.0 };
        let costs = Costs::of_fn(4, far, |_, _| 0.0);
        assert_eq!(quick_bound(&costs, Some(0)), 50.0);
        assert_eq!(quick_bound(&costs, Some(3)), 50.0);
        assert!(quick_bound(&costs, None) <= 50.0);
        let relayed = Costs::of_fn(3, |p, c| if (p, c) == (0, 2) { 9.0 } else { 2.0 }, |_, _| 0.0);
        assert_eq!(quick_bound(&relayed, Some(0)), 4.0, "by way of member 1");
    }

    #[test]
    fn degenerate_costs_are_bounded() {
        assert_eq!(quick_bound(&Costs::of_fn(1, |_, _| 1.0, |_, _| 1.0), Some(0)), 0.0);
        assert_eq!(quick_bound(&Costs::of_fn(5, |_, _| 0.0, |_, _| 0.0), None), 0.0);
        assert_eq!(quick_bound(&Costs::of_fn(3, |_, _| f64::INFINITY, |_, _| 1.0), None), f64::INFINITY);
    }
}
