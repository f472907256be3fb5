//! The partners of each round: the circle method, in which every two nodes meet once in n - 1 rounds.

/// The rounds that are played among this many nodes: all, or `most` that are spread evenly where there are more than twice as
/// many.
pub(super) fn rounds(nodes: usize, most: usize) -> Vec<usize> {
    let all = seats(nodes) - 1;
    if all <= 2 * most {
        return (0..all).collect();
    }
    (0..most).map(|round| round * all / most).collect()
}

/// Nodes, and one empty seat if their number is odd.
fn seats(nodes: usize) -> usize {
    (nodes + nodes % 2).max(2)
}

/// The partner of a node in a round; `None` if it has none.
pub(super) fn partner(nodes: usize, round: usize, node: usize) -> Option<usize> {
    let circle = seats(nodes) - 1;
    // The last seat stays; the others sit in a circle that turns by one seat a round.
    let partner = if node == circle {
        round % circle
    } else {
        let opposite = (2 * round + circle - node) % circle;
        // One node has nobody opposite: it meets the last seat.
        if opposite == node { circle } else { opposite }
    };
    (partner < nodes).then_some(partner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_two_nodes_meet_once_and_nobody_meets_two() {
        for nodes in 1..20 {
            let mut met = BTreeSet::new();
            for round in rounds(nodes, 100) {
                for node in 0..nodes {
                    let Some(other) = partner(nodes, round, node) else { continue };
                    assert!(other != node && partner(nodes, round, other) == Some(node), "{nodes} {round} {node}");
                    assert!(node > other || met.insert((node, other)), "{nodes} {round} {node}");
                }
            }
            assert_eq!(met.len(), nodes * (nodes - 1) / 2, "{nodes}");
        }
    }

    #[test]
    fn many_nodes_play_some_rounds_only() {
        assert_eq!(rounds(40, 20).len(), 39);
        let some = rounds(100_000, 20);
        assert_eq!((some.len(), some[0], some[19]), (20, 0, 94_999));
    }
}
