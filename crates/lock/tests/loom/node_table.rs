//! The table of nodes that grows: threads that make nodes of the same slab each get one of their own, whole.

use corecast_base::sync::{Arc, UnsafeCell};
use corecast_lock::NodeTable;
use loom::thread;

/// One node in the first slab, and two in the second.
struct Nodes(NodeTable<UnsafeCell<u32>, 1, 2>);

// SAFETY: a cell is written by the thread that has made its node, which the model checks.
unsafe impl Sync for Nodes {}
// SAFETY: as above.
unsafe impl Send for Nodes {}

impl Nodes {
    fn make(&self) -> u32 {
        let number = self.0.make(1, || UnsafeCell::new(0));
        // SAFETY: the node is this thread's.
        self.0.node(number).with_mut(|node| unsafe { *node += number });
        number
    }
}

#[test]
fn two_threads_make_the_slab_in_which_both_have_a_node() {
    loom::model(|| {
        let nodes = Arc::new(Nodes(NodeTable::new()));
        assert_eq!(nodes.make(), 0);
        let shared = Arc::clone(&nodes);
        let other = thread::spawn(move || shared.make());
        let numbers = [nodes.make(), other.join().expect("it makes a node")];
        assert!(numbers == [1, 2] || numbers == [2, 1]);
        for number in numbers {
            // SAFETY: all threads have ended.
            assert_eq!(nodes.0.node(number).with(|node| unsafe { *node }), number);
        }
    });
}
