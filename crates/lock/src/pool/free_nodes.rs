//! The nodes that no thread has: a stack, without a lock.
//!
//! The head names a node and counts how often it has changed, so that an exchange fails if the node has been away meanwhile:
//! its link may be another one then. Nodes are never unmapped, so a late look at the link of one is harmless.
//!
//! **Progress:** lock-free. **Memory ordering:** what a thread did with a node before it pushed it happens before what the
//! one does that pops it. Source: R. Treiber, Systems Programming: Coping with Parallelism, 1986; IBM System/370 Principles
//! of Operation, 1983, for the count.

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};

/// A stack of node numbers; `link` says where a node has room for the number of another.
#[derive(Debug)]
pub struct FreeNodes {
    /// The count in the upper half; in the lower one the number of the first node plus one, 0 if there is none. Written by every
    /// thread that pushes or pops.
    head: AtomicU64,
}

fn first(head: u64) -> u32 {
    head as u32
}

fn changed(head: u64, first: u32) -> u64 {
    (head >> 32).wrapping_add(1) << 32 | u64::from(first)
}

impl FreeNodes {
    /// No nodes.
    #[cfg(not(loom))]
    pub(crate) const fn new() -> Self {
        Self { head: AtomicU64::new(0) }
    }

    /// No nodes.
    #[cfg(loom)]
    #[must_use]
    #[allow(clippy::new_without_default, reason = "the machine's side has a constant function of this name")]
    pub fn new() -> Self {
        Self { head: AtomicU64::new(0) }
    }

    /// Puts a node on it, which is the caller's.
    pub fn push<'a>(&self, number: u32, link: impl Fn(u32) -> &'a AtomicU32) {
        // ORDERING: Relaxed, the exchange looks again
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // ORDERING: Relaxed, released by the exchange
            link(number).store(first(head), Ordering::Relaxed);
            let next = changed(head, number + 1);
            // ORDERING: Release, pairs with the Acquire in pop; Relaxed where it fails, as nothing was read [free-head]
            match self.head.compare_exchange(head, next, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(seen) => head = seen,
            }
        }
    }

    /// Takes a node off it, for the caller alone.
    pub fn pop<'a>(&self, link: impl Fn(u32) -> &'a AtomicU32) -> Option<u32> {
        // ORDERING: Acquire, pairs with the Release in push: the link is there [free-head]
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let number = first(head).checked_sub(1)?;
            // ORDERING: Relaxed, read behind the head; where the node was taken meanwhile the exchange fails
            let next = changed(head, link(number).load(Ordering::Relaxed));
            // ORDERING: Relaxed where it succeeds, as the head was acquired, and an exchange passes on what pushes have released;
            // Acquire where it fails, as above [free-head]
            match self.head.compare_exchange(head, next, Ordering::Relaxed, Ordering::Acquire) {
                Ok(_) => return Some(number),
                Err(seen) => head = seen,
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn what_was_pushed_last_is_popped_first() {
        let links = [const { AtomicU32::new(0) }; 3];
        let free = FreeNodes::new();
        let link = |number: u32| &links[number as usize];
        assert_eq!(free.pop(link), None);
        for number in 0..3 {
            free.push(number, link);
        }
        assert_eq!([free.pop(link), free.pop(link)], [Some(2), Some(1)]);
        free.push(2, link);
        assert_eq!([free.pop(link), free.pop(link), free.pop(link)], [Some(2), Some(0), None]);
    }
}
