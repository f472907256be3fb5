//! Groups whose nodes are processes: how they find each other, and what happens to the others when some are killed, stopped,
//! panic or fork.
//!
//! A test starts this very program several times with a role (`roles.rs`); the process of the test is a node too, and never dies.
#![cfg(not(loom))]

mod death;
mod forming;
mod panics;
mod relays;
mod roles;
mod sum;

use std::time::{Duration, Instant};

use corecast_base::rendezvous::SocketDir;
use corecast_replica::placement::LearnTree;
use corecast_replica::{Config, Learning, Level, Node, Placement, Replicated, Session};

use crate::sum::Sum;

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);
/// The name of each group, which has a folder to itself.
const NAME: &str = "sum";

/// A small group: its log is short, so that nodes that stand still fall out of it.
fn config(placement: Placement) -> Config {
    Config::default().slots(8).window(256).bulk_bytes(1 << 16).placement(placement).joining(PATIENCE)
}

/// The same, learning over the chain 0, 1, 2, 3: between any two of these all others relay.
fn in_chain(config: Config) -> Config {
    let chain = LearnTree::of_parents(&[None, Some(0), Some(1), Some(2)]).expect("a chain");
    config.learning(Learning::Tree(chain))
}

fn sockets(folder: &tempfile::TempDir) -> SocketDir {
    SocketDir::at(folder.path().join("names"))
}

/// This process as a member of the group in the folder.
fn attach(folder: &tempfile::TempDir, placement: Placement) -> Node<Sum> {
    Replicated::attach(&config(placement), &sockets(folder), NAME).expect("the group lives")
}

/// Adds one `count` times. Each answer shows all that were answered before, and no addition twice.
#[track_caller]
fn add(session: &mut Session<Sum>, sum: &mut u64, count: u64) {
    for _ in 0..count {
        *sum += 1;
        let (found, _) = session.execute_timeout(&1, PATIENCE).expect("a survivor orders it");
        assert_eq!(found, *sum, "nothing was lost, and nothing done twice");
    }
}

/// Reads and writes until it is so.
#[track_caller]
fn write_until(node: &Node<Sum>, session: &mut Session<Sum>, sum: &mut u64, is_so: impl Fn() -> bool) {
    let until = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < until, "{:?}", node.status());
        add(session, sum, 1);
        let (read, _) = node.read(Level::Linearizable, &()).expect("fresh");
        assert_eq!(read, *sum);
    }
}
