//! A list of freed blocks as words in shared memory: a stack that any participant takes from and gives to.
//!
//! The head is {tag: 32, index + 1: 32}; the tag changes with every change, so that a block which went and came back is noticed.
//! The link of a block is a word beside its values, which doomed readers may still look at.
//!
//! **Progress:** lock-free. **Source:** R. K. Treiber, Systems Programming: Coping with Parallelism, 1986.

use corecast_base::sync::{AtomicU64, Ordering};

/// A list of free blocks of one size.
#[derive(Debug, Clone, Copy)]
pub struct FreeList<'a> {
    head: &'a AtomicU64,
    /// By the index of a block.
    links: &'a [AtomicU64],
}

impl<'a> FreeList<'a> {
    /// The list with this head. Zero is an empty one.
    #[must_use]
    pub fn of(head: &'a AtomicU64, links: &'a [AtomicU64]) -> Self {
        Self { head, links }
    }

    /// Takes a block; `None` if there is none. What its last owner did to it has happened before.
    #[must_use]
    pub fn pop(self) -> Option<u32> {
        // ORDERING: Acquire, pairs with the Release in push: the link is visible, and the last owner's work [free-list]
        let mut seen = self.head.load(Ordering::Acquire);
        loop {
            let index = (seen as u32).checked_sub(1)?;
            // A stranger may have written any index.
            let link = self.links.get(index as usize)?;
            // ORDERING: Relaxed, ordered by the head; a link that is stale fails the exchange
            let next = link.load(Ordering::Relaxed) as u32;
            let wanted = (seen >> 32).wrapping_add(1) << 32 | u64::from(next);
            // ORDERING: Relaxed, the value that it replaces was read with Acquire;
            // ORDERING: Acquire where it fails, pairs with the Release in push: it is tried anew [free-list]
            match self.head.compare_exchange(seen, wanted, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => return Some(index),
                Err(now) => seen = now,
            }
        }
    }

    /// Gives a block back, which is one of those that have links.
    ///
    /// # Panics
    /// If it has none.
    pub fn push(self, index: u32) {
        // ORDERING: Relaxed, the exchange decides
        let mut seen = self.head.load(Ordering::Relaxed);
        loop {
            // ORDERING: Relaxed, released by the head
            self.links[index as usize].store(u64::from(seen as u32), Ordering::Relaxed);
            let wanted = (seen >> 32).wrapping_add(1) << 32 | u64::from(index + 1);
            // ORDERING: Release, pairs with the Acquire in pop; Relaxed where it fails, it is tried anew [free-list]
            match self.head.compare_exchange(seen, wanted, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}
