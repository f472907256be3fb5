//! Nodes of one process that share no state.

use std::time::Duration;

use corecast_replica::net::{Config, Counters, Group, Node, Spread};
use corecast_replica::{ExecuteError, Level, OpenError, ReadError};

use crate::counter::{Counter, PANIC};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// All ways to spread what is decided; the tree has its root at the first acceptor, and a relay.
fn spreads(nodes: usize) -> Vec<Spread> {
    let parent = |node: usize| match node {
        1 => None,
        0 => Some(1),
        2 => Some(1),
        other => Some(other - 1),
    };
    vec![Spread::Sequential, Spread::Tree((0..nodes).map(parent).collect()), Spread::Ring]
}

fn group(config: &Config, nodes: usize) -> Vec<Node<Counter>> {
    let group = Group::create(config).expect("there is memory");
    (0..nodes).map(|slot| group.join(slot, Counter::default()).expect("it is free")).collect()
}

#[test]
fn one_node_alone_counts() {
    let nodes = group(&Config::new(1), 1);
    let mut session = nodes[0].session().expect("a member");
    for n in 1..=100 {
        assert_eq!(session.execute(&1).expect("done").0, n);
    }
    assert_eq!(nodes[0].read(Level::Linearizable, &()).expect("fresh").0, (100, 100));
}

#[test]
fn all_nodes_write_and_all_see_it() {
    for count in [3, 5] {
        for spread in spreads(count) {
            let nodes = group(&Config::new(count).window(256).spread(spread.clone()), count);
            std::thread::scope(|scope| {
                nodes.iter().for_each(|node| {
                    scope.spawn(|| write_and_read(node, 200));
                });
            });
            let expected = 200 * count as u64;
            for node in &nodes {
                let read = node.read(Level::Linearizable, &());
                let read = read.unwrap_or_else(|error| panic!("{error}: {:#?}", statuses(&nodes)));
                assert_eq!(read.0, (expected, expected), "{spread:?}");
            }
        }
    }
}

/// Each read shows what this thread has written, and what it has read before.
fn write_and_read(node: &Node<Counter>, count: u64) {
    let mut session = node.session().expect("a member");
    let mut last = 0;
    for _ in 0..count {
        let (sum, index) = session.execute_timeout(&1, PATIENCE).expect("done");
        let (seen, shown) = node
            .read_timeout(Level::Linearizable, &(), PATIENCE)
            .unwrap_or_else(|error| panic!("{error}: {:?}", node.status()));
        assert!(sum > last && seen.0 >= sum && shown > index);
        last = seen.0;
    }
}

fn statuses(nodes: &[Node<Counter>]) -> Vec<corecast_replica::net::Status> {
    nodes.iter().map(Node::status).collect()
}
