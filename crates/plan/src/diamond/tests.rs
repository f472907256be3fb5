//! Rings checked against one built as a table, and against the promises of the paper.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::*;

fn all() -> impl Iterator<Item = Diamond> {
    let sizes = (1..=4).flat_map(|arity| (1..=80).map(move |nodes| (nodes, arity)));
    sizes
        .flat_map(|(nodes, arity)| [Diamond::new(nodes, arity), Diamond::with_companion(nodes, arity)])
        .map(|ring| ring.expect("in range"))
}

/// Predecessors by the successors of all.
fn table(ring: &Diamond) -> Vec<Vec<usize>> {
    let mut table = vec![Vec::new(); ring.nodes()];
    for from in 0..ring.nodes() {
        ring.successors(from).into_iter().for_each(|edge| table[edge.to].push(from));
    }
    table
}

#[test]
fn predecessors_are_those_whose_successor_a_node_is() {
    for arity in 1..=7 {
        for nodes in 2..=299 {
            let ring = Diamond::new(nodes, arity).expect("in range");
            for (node, expected) in table(&ring).iter().enumerate() {
                assert_eq!(&ring.predecessors(node), expected, "node {node} of the {ring}");
            }
        }
    }
    for ring in all() {
        for (node, expected) in table(&ring).iter().enumerate() {
            assert_eq!(&ring.predecessors(node), expected, "node {node} of the {ring}");
        }
    }
}

#[test]
fn a_message_reaches_all_and_the_root_hears_last() {
    for ring in all().filter(|ring| ring.nodes() > 1) {
        let mut waits: Vec<usize> = (0..ring.nodes()).map(|node| ring.predecessors(node).len()).collect();
        let mut reached = BTreeSet::from([0]);
        let mut ready = VecDeque::from([0]);
        while let Some(node) = ready.pop_front() {
            for edge in ring.successors(node) {
                waits[edge.to] -= 1;
                reached.insert(edge.to);
                if waits[edge.to] == 0 && edge.to != 0 {
                    ready.push_back(edge.to);
                }
            }
        }
        assert_eq!(reached.len(), ring.nodes(), "{ring}");
        assert!(waits.iter().all(|&left| left == 0), "{ring}: somebody waits for ever");
    }
}

#[test]
fn slots_of_a_receiver_differ_and_degrees_are_bounded() {
    for ring in all() {
        let mut slots: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for node in 0..ring.nodes() {
            for edge in ring.successors(node) {
                assert!(edge.slot < ring.arity(), "{ring}");
                assert!(
                    slots.entry(edge.to).or_default().insert(edge.slot),
                    "{ring}: two edges into one slot of {}",
                    edge.to
                );
            }
            let degree = ring.successors(node).len() + ring.predecessors(node).len();
            let most =
                if ring.role(node) == Role::Root && !ring.has_companion { 2 * ring.arity() } else { ring.arity() + 1 };
            assert!(degree <= most, "node {node} of the {ring} has {degree} edges");
        }
    }
}

/// The fewest and the most messages on the ways from a node to the root.
fn ways(ring: &Diamond, node: usize, known: &mut BTreeMap<usize, (usize, usize)>) -> (usize, usize) {
    if let Some(&way) = known.get(&node) {
        return way;
    }
    let next = ring.successors(node).into_iter().map(|edge| match edge.to {
        0 => (1, 1),
        to => {
            let (least, most) = ways(ring, to, known);
            (least + 1, most + 1)
        }
    });
    let way = next.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).expect("everybody passes it on");
    known.insert(node, way);
    way
}

#[test]
fn the_ways_are_as_long_as_told() {
    for ring in all().filter(|ring| ring.nodes() > 1) {
        assert_eq!(ways(&ring, 0, &mut BTreeMap::new()), ring.hops(), "{ring}");
    }
    // The paper's: 93 nodes of arity 2 take 124 messages, where a tree and its acknowledgements take 184.
    assert_eq!(Diamond::new(93, 2).expect("in range").messages(), 124);
}

#[test]
fn nonsense_is_refused_by_name() {
    assert_eq!(
        Diamond::new(0, 2).map_err(|error| error.to_string()),
        Err("a diamond ring has 1 to 4096 nodes, not 0".to_owned())
    );
    assert_eq!(Diamond::new(9, 0), Err(DiamondError::Arity { arity: 0 }));
    assert_eq!(Diamond::with_companion(MAX_NODES + 1, 2), Err(DiamondError::Nodes { nodes: 4097 }));
    assert_eq!(Diamond::new(1, 2).map(|ring| (ring.messages(), ring.role(0))), Ok((0, Role::Root)));
}
