//! Memory in which members show each other words, with `std::sync::Barrier` between writing and reading.
//!
//! It is plain memory, so that values are copied and added as fast as any. Two sets of slots take turns, so that one barrier for
//! each operation is enough: nobody can be writing a set that somebody still reads, because the barrier of the operation between
//! lies between them.

use std::sync::{Arc, Barrier};

use corecast::base::sync::UnsafeCell;

/// One member's view of the slots of all.
pub(super) struct Slots {
    rank: usize,
    operation: usize,
    shared: Arc<Shared>,
}

struct Shared {
    barrier: Barrier,
    /// `sets[operation % 2][rank]`.
    sets: [Vec<Slot>; 2],
}

/// Written by its member before the barrier of an operation, read by all after it.
struct Slot(UnsafeCell<Vec<u64>>);

// SAFETY: a barrier separates those who write and read, see above.
unsafe impl Sync for Slot {}

impl Slots {
    /// Those of all members, by rank, with room for this number of words.
    pub(super) fn of_all(members: usize, words: usize) -> Vec<Self> {
        let set = || (0..members).map(|_| Slot(UnsafeCell::new(vec![0; words]))).collect();
        let shared = Arc::new(Shared { barrier: Barrier::new(members), sets: [set(), set()] });
        (0..members).map(|rank| Self { rank, operation: 0, shared: Arc::clone(&shared) }).collect()
    }

    /// Shows `values` and returns, when all have come, what all show; a member that shows none has none read.
    pub(super) fn show(&mut self, values: &[u64]) -> Shown<'_> {
        self.operation += 1;
        let set = &self.shared.sets[self.operation % 2];
        // SAFETY: this member alone writes its slot. Those who read it two operations ago have come to the barrier of the
        // last one since, and nobody reads it before the barrier below.
        set[self.rank].0.with_mut(|slot| unsafe { (&mut *slot)[..values.len()].copy_from_slice(values) });
        self.shared.barrier.wait();
        Shown(set)
    }
}

/// The values that all show, until the next operation.
pub(super) struct Shown<'a>(&'a [Slot]);

impl<'a> Shown<'a> {
    /// The number of members.
    pub(super) fn members(&self) -> usize {
        self.0.len()
    }

    /// The slot of this member, which begins with its values.
    pub(super) fn of(&self, rank: usize) -> &'a [u64] {
        // SAFETY: all have written their slots. The next to write them comes from the barrier of the next operation, to which
        // this member comes when it no longer borrows these.
        self.0[rank].0.with(|slot| unsafe { &**slot })
    }
}
