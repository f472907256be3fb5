//! Commands of a megabyte, many of them under way at a time: the nodes are busy for long, and none of them is stuck.

use corecast_replica::Level;
use corecast_replica::net::{Config, Node, Status};

use crate::bytes::Bytes;
use crate::{PATIENCE, group};

const LEN: usize = 1 << 20;
const UNDER_WAY: usize = 15;
const ROUNDS: usize = 4;

/// A busy machine makes nodes hold each other for stuck a few times. A group that outdoes itself does so hundreds of times.
const FEW_ROLE_CHANGES: u64 = 12;
const FEW_SUSPICIONS: u64 = 100;
/// Messages that found no room. Nodes that answer the same question again and again give up all of their answers.
const FEW_LOST: u64 = 100;

#[test]
fn many_long_commands_under_way_are_few_role_changes_and_few_lost_messages() {
    for (count, at) in [(2, 0), (2, 1), (3, 2)] {
        let nodes = group::<Bytes>(&Config::new(count).link_bytes(64 << 10), count);
        write_at(&nodes, at);
        for status in statuses(&nodes) {
            let counters = status.counters;
            assert!(counters.role_changes <= FEW_ROLE_CHANGES, "{count} nodes, client at {at}: {status:#?}");
            assert!(counters.suspicions <= FEW_SUSPICIONS, "{count} nodes, client at {at}: {status:#?}");
            assert!(counters.lost <= FEW_LOST, "{count} nodes, client at {at}: {status:#?}");
        }
    }
}

/// A client at node `at` has as many requests under way at a time; then all nodes have the same state.
fn write_at(nodes: &[Node<Bytes>], at: usize) {
    let mut session = nodes[at].session().expect("a member");
    let op = vec![1; LEN];
    let mut sum = 0;
    for _ in 0..ROUNDS {
        let rids: Vec<_> = (0..UNDER_WAY).map(|_| session.start(&op).expect("room")).collect();
        for rid in rids {
            sum += LEN as u64;
            let done = session.wait_timeout(rid, PATIENCE);
            let done = done.unwrap_or_else(|error| panic!("{error}: {:#?}", statuses(nodes)));
            assert_eq!(done.0, sum, "in the order in which they were begun");
        }
    }
    for node in nodes {
        let read = node.read_timeout(Level::Linearizable, &(), PATIENCE);
        let read = read.unwrap_or_else(|error| panic!("{error}: {:#?}", statuses(nodes)));
        assert_eq!(read.0, sum);
    }
}

fn statuses(nodes: &[Node<Bytes>]) -> Vec<Status> {
    nodes.iter().map(Node::status).collect()
}
