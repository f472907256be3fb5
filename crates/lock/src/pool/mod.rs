//! Nodes that go round among threads, each alone on its lines, known by number.
//!
//! A queue in which a thread adopts the node of the one before cannot keep nodes in frames. These lie in slabs that are
//! never unmapped, so that a late look at one hits live memory. Each thread keeps some; at its end they go to all.

#[allow(unreachable_pub, reason = "reachable for its model")]
#[cfg_attr(loom, allow(dead_code, reason = "the pool of a model is a list; this part has a model of its own"))]
mod free_nodes;
#[allow(unreachable_pub, reason = "reachable for its model")]
#[cfg_attr(loom, allow(dead_code, reason = "the pool of a model is a list; this part has a model of its own"))]
mod node_table;
#[cfg_attr(loom, path = "model.rs")]
#[cfg_attr(not(loom), path = "native.rs")]
mod slabs;
#[cfg(feature = "hierarchical")]
mod stay;

use corecast_base::CacheLine;
use corecast_base::sync::AtomicU32;
#[cfg(feature = "hierarchical")]
use corecast_base::sync::AtomicU64;

#[cfg(loom)]
pub use free_nodes::FreeNodes;
#[cfg(loom)]
pub use node_table::NodeTable;
pub(crate) use slabs::{give, node, node_before, take};
#[cfg(feature = "hierarchical")]
pub(crate) use stay::{Stay, StayWord};

/// A node's thread waits or holds the lock, or the node is in no queue.
pub(crate) const BUSY: u32 = 1;

/// One node.
#[derive(Debug)]
pub(crate) struct PoolNode {
    /// Whether its thread waits or holds the lock; of a node in no queue, that it does. Written by that thread, polled by the one
    /// behind.
    pub(crate) is_busy: AtomicU32,
    /// How often it has been in a queue. Written by its thread.
    #[cfg(feature = "hierarchical")]
    rounds: AtomicU32,
    /// The name of the node behind, 0 if there is none yet. Written by its thread, and by that of the node behind.
    pub(crate) next: AtomicU32,
    /// How its thread waits, and whether it is the head or was handed the lock. Written by that thread and by the ones before,
    /// for `qword` also when the node is out of their queue again.
    pub(crate) state: AtomicU32,
    /// How far a request for combined data is. Written by its thread and by the one that runs it, and by one that calls it, also
    /// when the node serves another request.
    pub(crate) request: AtomicU32,
    /// Whether its thread sleeps in the table of `parking`. Written by that thread, and by the one that wakes it.
    pub(crate) sleep: AtomicU32,
    /// While it is free: the one behind it in its batch. Written by the thread that gives it back.
    #[cfg(not(loom))]
    pub(crate) free: AtomicU32,
    /// While it is the first of a free batch: the batch below in the stack of batches. Written by the thread that gives it back.
    #[cfg(not(loom))]
    pub(crate) batch: AtomicU32,
    /// The stay it is in, whether its thread waits or holds the lock, and whether it was the last of those that were spliced
    /// together. Written by its thread, and by the one that splices.
    #[cfg(feature = "hierarchical")]
    pub(crate) splice: AtomicU64,
}

impl PoolNode {
    fn new() -> CacheLine<Self> {
        CacheLine::new(Self {
            is_busy: AtomicU32::new(BUSY),
            #[cfg(feature = "hierarchical")]
            rounds: AtomicU32::new(0),
            next: AtomicU32::new(0),
            state: AtomicU32::new(0),
            request: AtomicU32::new(0),
            sleep: AtomicU32::new(0),
            #[cfg(not(loom))]
            free: AtomicU32::new(0),
            #[cfg(not(loom))]
            batch: AtomicU32::new(0),
            #[cfg(feature = "hierarchical")]
            splice: AtomicU64::new(0),
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn no_node_is_taken_twice() {
        let taken: Vec<u32> = (0..1000).map(|_| take()).collect();
        let mut distinct = taken.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), taken.len());
        taken.into_iter().for_each(give);
    }

    #[test]
    fn a_thread_takes_what_it_gave_back() {
        let taken: Vec<u32> = (0..20).map(|_| take()).collect();
        taken.iter().for_each(|&number| give(number));
        let again: Vec<u32> = (0..20).map(|_| take()).collect();
        assert!(again.iter().all(|number| taken.contains(number)));
        again.into_iter().for_each(give);
    }

    #[test]
    fn the_nodes_of_a_thread_that_has_ended_go_to_others() {
        let given = std::thread::spawn(|| {
            let taken: Vec<u32> = (0..200).map(|_| take()).collect();
            taken.iter().for_each(|&number| give(number));
            taken
        });
        let given = given.join().expect("it takes and gives");
        let taken: Vec<u32> = (0..10_000).map(|_| take()).collect();
        assert!(given.iter().any(|number| taken.contains(number)));
        taken.into_iter().for_each(give);
    }
}
