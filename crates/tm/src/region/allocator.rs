//! Variables that are free: a mark behind which nothing was ever allocated, and a list of freed blocks for each size.
//!
//! Blocks have 1, 2, 4 or 8 words and are aligned to their size, so that none crosses a line. A list is a stack: its head is
//! {tag: 32, index + 1: 32}, and the tag changes with every change, so that a block which went and came back is noticed. The
//! links lie beside the values, which doomed readers may still look at.
//!
//! A participant keeps some freed blocks for itself; those of one that is killed are lost until the instance ends.
//!
//! **Progress:** lock-free. **Source:** R. K. Treiber, Systems Programming: Coping with Parallelism, 1986 (the stack).

use corecast_base::sync::Ordering;

use crate::error::RunError;
use crate::region::layout::{ALLOCATED, HEADS};
use crate::region::memory::Memory;

/// The size class of a block of so many words.
#[inline]
pub(crate) const fn class_of(words: usize) -> usize {
    words.next_power_of_two().trailing_zeros() as usize
}

/// The words of a block of this class.
#[inline]
pub(crate) const fn class_words(class: usize) -> u32 {
    1 << class
}

impl Memory {
    /// A free block of this class. Its words hold what was there before.
    pub(crate) fn allocate(&self, class: usize) -> Result<u32, RunError> {
        match self.pop_free(class) {
            Some(index) => Ok(index),
            None => self.allocate_at_end(class),
        }
    }

    fn pop_free(&self, class: usize) -> Option<u32> {
        let head = &self.header[HEADS + class];
        // ORDERING: Acquire, pairs with the Release in free_block: the link of the block is visible [free-list]
        let mut seen = head.load(Ordering::Acquire);
        loop {
            let index = (seen as u32).checked_sub(1)?;
            // A stranger may have written any index.
            let link = self.free.get(index as usize)?;
            // ORDERING: Relaxed, ordered by the head; a link that is stale fails the exchange
            let next = link.load(Ordering::Relaxed) as u32;
            let wanted = (seen >> 32).wrapping_add(1) << 32 | u64::from(next);
            // ORDERING: Acquire, pairs with the Release in free_block, also where it fails: it is tried anew [free-list]
            match head.compare_exchange(seen, wanted, Ordering::Acquire, Ordering::Acquire) {
                Ok(_) => return Some(index).filter(|&index| index <= self.config.variables - class_words(class)),
                Err(now) => seen = now,
            }
        }
    }

    fn allocate_at_end(&self, class: usize) -> Result<u32, RunError> {
        let variables = self.config.variables;
        let end = &self.header[ALLOCATED];
        // ORDERING: Relaxed, a count; what lies behind it was never used
        let mut seen = end.load(Ordering::Relaxed);
        loop {
            let first = seen.next_multiple_of(class_words(class).into());
            let next = first + u64::from(class_words(class));
            if next > u64::from(variables) {
                return Err(RunError::Full { variables });
            }
            // ORDERING: Relaxed, as above
            match end.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(first as u32),
                Err(now) => seen = now,
            }
        }
    }

    /// Gives a block back that nobody can reach any more but doomed readers.
    pub(crate) fn free_block(&self, index: u32, class: usize) {
        let head = &self.header[HEADS + class];
        // ORDERING: Relaxed, the exchange decides
        let mut seen = head.load(Ordering::Relaxed);
        loop {
            // ORDERING: Relaxed, released by the head
            self.free[index as usize].store(u64::from(seen as u32), Ordering::Relaxed);
            let wanted = (seen >> 32).wrapping_add(1) << 32 | u64::from(index + 1);
            // ORDERING: Release, pairs with the Acquire in pop_free; Relaxed where it fails, it is tried anew [free-list]
            match head.compare_exchange(seen, wanted, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }
}
