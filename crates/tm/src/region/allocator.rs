//! Variables that are free: a mark behind which nothing was ever allocated, and a list of freed blocks for each size.
//!
//! Blocks have 1, 2, 4 or 8 words and are aligned to their size, so that none crosses a line.
//!
//! A participant keeps some freed blocks for itself; those of one that is killed are lost until the instance ends.
//!
//! **Progress:** lock-free.

use corecast_base::sync::Ordering;

use crate::error::RunError;
use crate::free_list::FreeList;
use crate::region::layout::{ALLOCATED, HEADS};
use crate::region::memory::Memory;

/// The size class of a block with this number of words.
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
        // A stranger may have written an index in the last words, where no block of this class begins.
        self.free_list(class).pop().filter(|&index| index <= self.config.variables - class_words(class))
    }

    fn free_list(&self, class: usize) -> FreeList<'_> {
        FreeList::of(&self.header[HEADS + class], &self.free)
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
            // ORDERING: Relaxed, a count as well: nothing lies behind it yet
            match end.compare_exchange(seen, next, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(first as u32),
                Err(now) => seen = now,
            }
        }
    }

    /// The number of variables from the first on that were ever allocated: nobody has a link to those behind them.
    pub(super) fn ever_allocated(&self) -> usize {
        // ORDERING: Relaxed, a count: one that has a link to a variable, or has met such a one, knows of its allocation
        let end = self.header[ALLOCATED].load(Ordering::Relaxed);
        end.min(self.config.variables.into()) as usize
    }

    /// Gives a block back that nobody can reach any more but doomed readers.
    pub(crate) fn free_block(&self, index: u32, class: usize) {
        self.free_list(class).push(index);
    }
}
