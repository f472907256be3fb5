//! Blocks that one participant has at hand: taken and freed by its transactions, and undone with them.

use std::sync::Arc;

use crate::error::RunError;
use crate::region::{CLASSES, Memory};

/// The most free blocks of one size that a participant keeps for itself.
const MOST: usize = 32;

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Spare {
    memory: Arc<Memory>,
    /// Free blocks, by class.
    free: [Vec<u32>; CLASSES],
    /// Blocks that the running attempt has taken, with their class.
    taken: Vec<(u32, usize)>,
    /// Blocks that the running attempt gives back if it commits.
    leaving: Vec<(u32, usize)>,
}

impl Spare {
    pub(crate) fn new(memory: Arc<Memory>) -> Self {
        Self { memory, free: Default::default(), taken: Vec::new(), leaving: Vec::new() }
    }

    /// A block for the running attempt.
    pub(crate) fn take(&mut self, class: usize) -> Result<u32, RunError> {
        let index = match self.free[class].pop() {
            Some(index) => index,
            None => self.memory.allocate(class)?,
        };
        self.taken.push((index, class));
        Ok(index)
    }

    /// The running attempt gives a block back, whose write lock it has.
    pub(crate) fn give(&mut self, index: u32, class: usize) {
        self.leaving.push((index, class));
    }

    /// The attempt has committed, and given back its locks.
    #[inline]
    pub(crate) fn keep(&mut self) {
        self.taken.clear();
        while let Some((index, class)) = self.leaving.pop() {
            self.put(index, class);
        }
    }

    /// The attempt has ended otherwise.
    pub(crate) fn undo(&mut self) {
        self.leaving.clear();
        while let Some((index, class)) = self.taken.pop() {
            self.put(index, class);
        }
    }

    fn put(&mut self, index: u32, class: usize) {
        if self.free[class].len() < MOST {
            self.free[class].push(index);
        } else {
            self.memory.free_block(index, class);
        }
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        // In a forked child the blocks are the parent's.
        if self.memory.region.check_fork().is_err() {
            return;
        }
        for (class, blocks) in self.free.iter().enumerate() {
            blocks.iter().for_each(|&index| self.memory.free_block(index, class));
        }
    }
}
