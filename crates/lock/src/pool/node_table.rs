//! The nodes that were ever made: a table that grows, without a lock.
//!
//! Its slabs are never freed: a node stays where it is, and a late look at one hits live memory. Each slab has twice as many
//! nodes as the one before, so that a number tells its slab. Two threads may make the same slab at once; one of the two is
//! dropped.
//!
//! **Progress:** lock-free. **Memory ordering:** a node is new to the thread that makes it; a thread to which its number is
//! passed on sees it whole, also where nothing else orders the two.

use std::ptr;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicPtr, AtomicU32, Ordering};

/// A table of nodes, known by number: `FIRST` of them in the first slab, `SLABS` slabs at most.
#[derive(Debug)]
pub struct NodeTable<N, const FIRST: u32, const SLABS: usize> {
    /// Null before a node of the slab is made. Written once, by a thread that makes one.
    slabs: [AtomicPtr<N>; SLABS],
    /// Nodes that were made. Written by every thread that makes some, so it is not on a line of the slabs, which all read.
    made: CacheLine<AtomicU32>,
}

const fn slab_of(number: u32, first: u32) -> usize {
    (number / first + 1).ilog2() as usize
}

impl<N, const FIRST: u32, const SLABS: usize> NodeTable<N, FIRST, SLABS> {
    /// No nodes.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { slabs: [const { AtomicPtr::new(ptr::null_mut()) }; SLABS], made: CacheLine::new(AtomicU32::new(0)) }
    }

    /// No nodes.
    #[cfg(loom)]
    #[must_use]
    #[allow(clippy::new_without_default, reason = "the machine's side has a constant function of this name")]
    pub fn new() -> Self {
        let slabs = std::array::from_fn(|_| AtomicPtr::new(ptr::null_mut()));
        Self { slabs, made: CacheLine::new(AtomicU32::new(0)) }
    }

    /// The node with this number, which [`make`](Self::make) has returned.
    #[inline]
    pub fn node(&self, number: u32) -> &N {
        let slab = slab_of(number, FIRST);
        // ORDERING: Acquire, pairs with the Release in make_slab [pool-slab]
        let nodes = self.slabs[slab].load(Ordering::Acquire);
        debug_assert!(!nodes.is_null(), "a number is made with its slab");
        // SAFETY: the slab has the nodes with these numbers, and is never freed.
        let node = unsafe { nodes.add((number - FIRST * ((1 << slab) - 1)) as usize) };
        // SAFETY: as above.
        unsafe { &*node }
    }

    /// Makes `count` nodes with numbers in a row, of which it returns the first one, for the caller alone; `new` makes those of a
    /// slab. All calls make as many, a number that divides `FIRST`: so the nodes are of one slab.
    pub fn make(&self, count: u32, new: fn() -> N) -> u32 {
        assert!(FIRST % count == 0, "nodes that are made at once are of one slab");
        // ORDERING: Relaxed, each number is drawn once, and its slab comes on its own
        let number = self.made.fetch_add(count, Ordering::Relaxed);
        let slab = slab_of(number, FIRST);
        let place = self.slabs.get(slab).expect("fewer than 2^22 threads wait, or closures that were given up");
        // ORDERING: Relaxed, node looks at it again
        if place.load(Ordering::Relaxed).is_null() {
            make_slab(place, (FIRST << slab) as usize, new);
        }
        number
    }
}

#[cold]
fn make_slab<N>(place: &AtomicPtr<N>, len: usize, new: fn() -> N) {
    let nodes: Box<[N]> = (0..len).map(|_| new()).collect();
    let made = Box::into_raw(nodes);
    // ORDERING: Release, pairs with the Acquire in node; Relaxed where it fails, as node looks at it again [pool-slab]
    let put = place.compare_exchange(ptr::null_mut(), made.cast(), Ordering::Release, Ordering::Relaxed);
    if put.is_err() {
        // SAFETY: from a box above, and another thread's slab is there.
        drop(unsafe { Box::from_raw(made) });
    }
}
