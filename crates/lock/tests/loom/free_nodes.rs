//! The stack of free nodes: no node is taken by two threads, and what was done with it before is seen by the next one.

use corecast_base::sync::{Arc, AtomicU32, UnsafeCell};
use corecast_lock::FreeNodes;
use loom::thread;

const NODES: usize = 3;

struct Pool {
    free: FreeNodes,
    links: [AtomicU32; NODES],
    /// Written by a thread that has the node.
    used: [UnsafeCell<u32>; NODES],
}

// SAFETY: a cell is reached by the thread that has popped its node, which the model checks.
unsafe impl Sync for Pool {}
// SAFETY: as above.
unsafe impl Send for Pool {}

impl Pool {
    fn full() -> Self {
        let [links, used] = [(), ()].map(|()| [0, 1, 2]);
        let pool = Self {
            free: FreeNodes::new(),
            links: links.map(AtomicU32::new),
            used: used.map(|_: u32| UnsafeCell::new(0)),
        };
        (0..2).for_each(|number| pool.free.push(number, |number| &pool.links[number as usize]));
        pool
    }

    fn take_and_give(&self) {
        let Some(number) = self.free.pop(|number| &self.links[number as usize]) else { return };
        // SAFETY: the node is this thread's.
        self.used[number as usize].with_mut(|used| unsafe { *used += 1 });
        self.free.push(number, |number| &self.links[number as usize]);
    }
}

#[test]
fn a_free_node_goes_to_one_thread_with_all_that_was_done_to_it() {
    loom::model(|| {
        let pool = Arc::new(Pool::full());
        let shared = Arc::clone(&pool);
        let other = thread::spawn(move || {
            shared.take_and_give();
            shared.take_and_give();
        });
        pool.take_and_give();
        // Two at once: a node that is popped twice would be found here.
        let taken = [(); 2].map(|()| pool.free.pop(|number| &pool.links[number as usize]));
        for number in taken.into_iter().flatten() {
            // SAFETY: the node is this thread's.
            pool.used[number as usize].with_mut(|used| unsafe { *used += 1 });
        }
        assert!(taken[0].is_none() || taken[0] != taken[1]);
        other.join().expect("it takes and gives");
    });
}
