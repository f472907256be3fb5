//! The same tree of nodes as `far_tree` has, built and timed node by node: the check of what counts say.
//!
//! Each unit is simulated on a queue of senders, in O(n log n) for n nodes. The tests run a reduction from its begin, too,
//! against the time that the reversed broadcast has.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::far_tree::FarTree;
use super::layout::Unit;

/// A node of a simulation. Times are from the message's arrival at the leader of the unit that is simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SimulatedNode {
    pub(super) position: u64,
    /// The position of the node that it receives from; its own for the leader.
    pub(super) parent: u64,
    /// When that node begins with the message to it.
    pub(super) sent_ps: u64,
    /// Messages from the leader.
    pub(super) depth: u32,
}

/// A unit with all its nodes, the leader first.
#[derive(Clone, Debug)]
pub(super) struct NodeSimulation {
    pub(super) nodes: Vec<SimulatedNode>,
    /// Until all nodes have done the work that they have left.
    pub(super) duration_ps: u64,
}

/// A member of a unit's tree.
#[derive(Clone, Copy)]
struct Slot {
    parent: usize,
    sent_ps: u64,
    free_ps: u64,
    depth: u32,
}

impl NodeSimulation {
    /// Simulates the whole tree.
    pub(super) fn new(tree: &FarTree) -> Self {
        Self::of_unit(tree, tree.layout().whole())
    }

    fn of_unit(tree: &FarTree, unit: Unit) -> Self {
        if unit.level == 0 {
            let position = unit.first;
            let node = SimulatedNode { position, parent: position, sent_ps: 0, depth: 0 };
            return Self { nodes: vec![node], duration_ps: tree.tail_ps(position) };
        }
        let members = Self::members(tree, unit);
        let slots = slots(tree, unit.level - 1, members.len());
        let leaders: Vec<u64> = members.iter().map(|member| member.nodes[0].position).collect();
        let mut whole = Self { nodes: Vec::new(), duration_ps: 0 };
        for (slot, member) in slots.iter().zip(members) {
            // A leader tells the other units first, and its own when it is free.
            whole.duration_ps = whole.duration_ps.max(slot.free_ps + member.duration_ps);
            let shifted = |node: SimulatedNode| SimulatedNode {
                sent_ps: node.sent_ps + slot.free_ps,
                depth: node.depth + slot.depth,
                ..node
            };
            let first = whole.nodes.len();
            whole.nodes.extend(member.nodes.into_iter().map(shifted));
            whole.nodes[first].parent = leaders[slot.parent];
            whole.nodes[first].sent_ps = slot.sent_ps;
        }
        whole
    }

    /// The simulations of the units inside, in the order of their slots.
    fn members(tree: &FarTree, unit: Unit) -> Vec<Self> {
        let layout = tree.layout();
        let mut members = Vec::new();
        for units in layout.inside(unit, None) {
            let size = layout.size(units.first.level);
            let inside = (0..units.count).map(|i| Unit { first: units.first.first + i * size, ..units.first });
            members.extend(inside.map(|member| (!tree.has_root(member), Self::of_unit(tree, member))));
        }
        // Equal ones stay in the order of their positions.
        members.sort_by_key(|(is_other, unit)| (*is_other, Reverse(unit.duration_ps)));
        members.into_iter().map(|(_, unit)| unit).collect()
    }
}

/// Simulates the messages among the leaders of a unit.
fn slots(tree: &FarTree, tier: usize, members: usize) -> Vec<Slot> {
    let hop = tree.hop(tier);
    let mut slots = vec![Slot { parent: 0, sent_ps: 0, free_ps: 0, depth: 0 }];
    let mut ready = BinaryHeap::from([Reverse((0, 0_usize))]);
    while slots.len() < members {
        let Reverse((sent_ps, sender)) = ready.pop().expect("a sender can always send again");
        let received_ps = sent_ps + hop.latency_ps;
        slots[sender].free_ps = sent_ps + hop.step_ps;
        ready.extend([Reverse((sent_ps + hop.step_ps, sender)), Reverse((received_ps, slots.len()))]);
        slots.push(Slot { parent: sender, sent_ps, free_ps: received_ps, depth: slots[sender].depth + 1 });
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::super::far_tree::Neighbours;
    use super::super::layout::Layout;
    use super::super::model::ClusterModel;
    use super::super::planted::{cluster, runs};
    use super::super::postal::Hop;
    use super::*;
    use std::collections::BTreeMap;

    const HOPS: [(u64, u64); 3] = [(250, 1100), (260, 1400), (300, 2000)];

    fn tree(model: &ClusterModel, root: Option<u64>) -> FarTree {
        let hops = HOPS.map(|(step_ps, latency_ps)| Hop { step_ps, latency_ps }).to_vec();
        FarTree::new(Layout::new(model), hops, vec![700, 2500], root)
    }

    /// Even and uneven clusters, of one kind and of two.
    fn models() -> Vec<ClusterModel> {
        let mut models: Vec<ClusterModel> = [1, 2, 15, 16, 17, 64, 200, 333].map(|n| cluster(n, &[4, 32])).to_vec();
        for nodes in [
            &[("a", 5, None), ("b", 3, None)][..],
            &[("b", 3, Some(2)), ("a", 40, Some(30)), ("b", 100, None)],
            &[("a", 70, None), ("b", 1, None), ("a", 3, Some(96)), ("b", 64, Some(128))],
        ] {
            models.push(ClusterModel { nodes: runs(nodes), ..cluster(1, &[4, 32]) });
        }
        models
    }

    #[test]
    fn counts_say_what_a_simulation_of_all_nodes_says() {
        for model in models() {
            for root in [None, Some(0), Some(model.len() / 2), Some(model.len() - 1)] {
                let tree = tree(&model, root);
                let (span, simulation) = (tree.span(), NodeSimulation::new(&tree));
                assert_eq!(span.duration_ps, simulation.duration_ps, "{:?} {root:?}", model.nodes);
                let nodes: f64 = span.depths.iter().sum();
                assert!((nodes - model.len() as f64).abs() < 1e-6 * nodes, "{nodes}");
                let depth = |depths: f64, (depth, count): (usize, &f64)| depths + depth as f64 * count;
                let by_counts = span.depths.iter().enumerate().fold(0.0, depth);
                let by_nodes: u32 = simulation.nodes.iter().map(|node| node.depth).sum();
                assert!((by_counts - f64::from(by_nodes)).abs() <= 0.02 * by_counts, "{by_counts} {by_nodes}");
            }
        }
    }

    #[test]
    fn each_node_derives_the_neighbours_that_the_simulation_gives_it() {
        for model in models() {
            for root in [None, Some(model.len() / 3)] {
                let tree = tree(&model, root);
                let simulation = NodeSimulation::new(&tree);
                let mut expected: BTreeMap<u64, Neighbours> = BTreeMap::new();
                let mut nodes = simulation.nodes.clone();
                nodes.sort_by_key(|node| node.sent_ps);
                for node in nodes {
                    let (own, parent) = (tree.layout().rank(node.position), tree.layout().rank(node.parent));
                    let is_root = own == parent;
                    expected.entry(own).or_default().parent = (!is_root).then_some(parent);
                    if !is_root {
                        expected.entry(parent).or_default().children.push(own);
                    }
                }
                let found = (0..model.len()).map(|rank| (rank, tree.neighbours(rank)));
                assert_eq!(found.collect::<BTreeMap<_, _>>(), expected, "{:?} {root:?}", model.nodes);
                assert_eq!(
                    root.unwrap_or_default(),
                    root.map_or(0, |_| tree.layout().rank(simulation.nodes[0].position))
                );
            }
        }
    }

    /// The time of a reduction over a simulated tree, from its begin on: a node is ready when its own work is done, and takes its
    /// children one at a time in the order of their arrival.
    fn reduced_ps(tree: &FarTree, simulation: &NodeSimulation) -> u64 {
        let layout = tree.layout();
        let mut children: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
        for node in simulation.nodes.iter().filter(|node| node.parent != node.position) {
            let tier = layout.tier_between(node.position, node.parent);
            children.entry(node.parent).or_default().push((node.position, tier));
        }
        fn done(tree: &FarTree, children: &BTreeMap<u64, Vec<(u64, usize)>>, node: u64) -> u64 {
            let of = children.get(&node).map_or(&[][..], Vec::as_slice);
            // A message is on its way until its receiver begins to take it; the receiver then is busy for a step.
            let arrival = |&(child, tier): &(u64, usize)| {
                let hop = tree.hop(tier);
                (done(tree, children, child) + hop.latency_ps - hop.step_ps, hop.step_ps)
            };
            let mut arrivals: Vec<(u64, u64)> = of.iter().map(arrival).collect();
            arrivals.sort_unstable();
            arrivals.into_iter().fold(tree.tail_ps(node), |busy, (at, step)| busy.max(at) + step)
        }
        done(tree, &children, simulation.nodes[0].position)
    }

    #[test]
    fn a_reduction_takes_no_longer_than_the_reversed_broadcast() {
        for model in models() {
            let tree = tree(&model, None);
            let simulation = NodeSimulation::new(&tree);
            let forwards = reduced_ps(&tree, &simulation);
            assert!(forwards <= simulation.duration_ps, "{:?}: {forwards} {}", model.nodes, simulation.duration_ps);
            assert!(
                forwards + 2 * 300 >= simulation.duration_ps,
                "{:?}: {forwards} {}",
                model.nodes,
                simulation.duration_ps
            );
        }
    }
}
