//! The nodes of acquisitions: pthread's callers bring none along.
//!
//! A thread keeps a few blocks, each large enough for a node of any lock; they go back to the allocator when it ends. As with the
//! pool of `corecast-lock`, there is no destructor of Rust's.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::ptr;

use corecast_base::ThreadEnd;

/// Room for a node, on lines of its own.
#[repr(C, align(128))]
struct Block([u8; 256]);

/// Blocks that a thread keeps.
const MOST: usize = 8;

static AT_END: ThreadEnd = ThreadEnd::new(give_up);

/// The free blocks of a thread.
struct Own {
    blocks: [Cell<*mut Block>; MOST],
    len: Cell<usize>,
    /// Whether they are freed at its end; it keeps none where they are not.
    keeps: Cell<bool>,
    has_asked: Cell<bool>,
}

thread_local! {
    static OWN: Own = const {
        Own {
            blocks: [const { Cell::new(ptr::null_mut()) }; MOST],
            len: Cell::new(0),
            keeps: Cell::new(false),
            has_asked: Cell::new(false),
        }
    };
}

impl Own {
    fn take(&self) -> Option<*mut Block> {
        let len = self.len.get().checked_sub(1)?;
        self.len.set(len);
        Some(self.blocks[len].get())
    }

    /// False if the caller has to free it.
    fn keep(&self, block: *mut Block) -> bool {
        if !self.has_asked.replace(true) {
            self.keeps.set(AT_END.ask());
        }
        let len = self.len.get();
        if len == MOST || !self.keeps.get() {
            return false;
        }
        self.blocks[len].set(block);
        self.len.set(len + 1);
        true
    }
}

/// A new node for the caller alone.
#[inline]
pub(crate) fn take<N: Default>() -> *mut N {
    const {
        assert!(size_of::<N>() <= size_of::<Block>() && align_of::<N>() <= align_of::<Block>());
        assert!(!std::mem::needs_drop::<N>());
    }
    let node = OWN.with(Own::take).unwrap_or_else(make).cast::<N>();
    // SAFETY: a block has room for a node.
    unsafe { node.write(N::default()) };
    node
}

/// Ends a node that [`take`] has returned, and which nobody uses any more.
#[inline]
pub(crate) fn give<N>(node: *mut N) {
    let block = node.cast::<Block>();
    if !OWN.with(|own| own.keep(block)) {
        free(block);
    }
}

#[cold]
fn make() -> *mut Block {
    // SAFETY: a block has a size.
    let block = unsafe { alloc(Layout::new::<Block>()) };
    if block.is_null() {
        handle_alloc_error(Layout::new::<Block>());
    }
    block.cast()
}

#[cold]
fn free(block: *mut Block) {
    // SAFETY: allocated by make, and used no more.
    unsafe { dealloc(block.cast(), Layout::new::<Block>()) };
}

/// The end of a thread.
fn give_up() {
    OWN.with(|own| {
        own.keeps.set(false);
        while let Some(block) = own.take() {
            free(block);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_uses_its_blocks_again() {
        let nodes = [(); 20].map(|()| take::<[u64; 4]>());
        nodes.iter().for_each(|&node| give(node));
        let again = [(); 8].map(|()| take::<[u64; 4]>());
        assert!(again.iter().all(|node| nodes.contains(node)));
        // SAFETY: a node that was taken.
        assert_eq!(unsafe { again[0].read() }, [0; 4]);
        again.iter().for_each(|&node| give(node));
    }
}
