//! Groups over messages: among threads here, among processes in `tests/net_processes`.
#![cfg(not(loom))]

#[path = "net/bytes.rs"]
mod bytes;
#[path = "net/checkpoint.rs"]
mod checkpoint;
#[path = "nodes/counter.rs"]
mod counter;
#[path = "net/death.rs"]
mod death;
#[path = "net/durable.rs"]
mod durable;
#[path = "net/joining.rs"]
mod joining;
#[path = "net/linearizable.rs"]
mod linearizable;
#[path = "net/long.rs"]
mod long;
#[path = "net/messages.rs"]
mod messages;
#[path = "nodes/places.rs"]
mod places;
#[path = "net/returning.rs"]
mod returning;
#[path = "net/threads.rs"]
mod threads;

use std::time::{Duration, Instant};

use corecast_replica::net::{Config, Group, Node, Spread};
use corecast_replica::{NodeId, StateMachine};

use counter::Counter;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// Long enough that no node is held for stuck on a busy machine.
const CALM: Duration = Duration::from_secs(1);

/// All ways to spread what is decided; the tree has its root at the first acceptor, and relays.
fn spreads(nodes: usize) -> Vec<Spread> {
    let parent = |node: usize| match node {
        1 => None,
        0 | 2 => Some(1),
        other => Some(other - 1),
    };
    vec![Spread::Sequential, Spread::Tree((0..nodes).map(parent).collect()), Spread::Ring]
}

/// All nodes of a group.
fn group<S: StateMachine + Default>(config: &Config, nodes: usize) -> Vec<Node<S>> {
    let group = Group::create(config).expect("there is memory");
    (0..nodes).map(|slot| group.join(slot, S::default()).expect("it is free")).collect()
}

/// Waits until all nodes know that living ones vote, as many as this.
fn await_voters(nodes: &[Node<Counter>], count: usize) {
    let until = Instant::now() + PATIENCE;
    let is_living = |voter: &NodeId| nodes.iter().any(|node| node.id() == *voter);
    for node in nodes {
        while node.status().voters.len() != count || !node.status().voters.iter().all(is_living) {
            assert!(Instant::now() < until, "{:?}", node.status());
            std::thread::yield_now();
        }
    }
}
