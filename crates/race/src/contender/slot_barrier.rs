//! A contender of the standard library alone: shared slots, and `std::sync::Barrier` between writing and reading.
//!
//! Two sets of slots take turns, so that one barrier per operation is enough: nobody can be writing a set that somebody
//! still reads, because the barrier of the operation between lies between them.

use std::sync::{Arc, Barrier};

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};

use super::bodies::{
    AllreduceEnd, BroadcastEnd, ReduceEnd, SliceEnd, allreduce_bodies, broadcast_bodies, reduce_bodies, slice_bodies,
};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body};
use crate::message::Message;
use crate::op::Op;

pub(super) struct SlotBarrier(pub(super) Op);

/// A member's slot of one set; written by that member before the barrier, read by others after it.
type Slot = CacheLine<[AtomicU64; 7]>;

struct Shared {
    barrier: Barrier,
    /// `sets[operation % 2][rank]`.
    sets: [Vec<Slot>; 2],
}

struct End {
    rank: usize,
    root: usize,
    operation: usize,
    shared: Arc<Shared>,
}

/// A member's slot of one set, of as many words as values have; written and read as those above.
type LongSlot = Box<[AtomicU64]>;

struct LongShared {
    barrier: Barrier,
    sets: [Vec<LongSlot>; 2],
}

struct LongEnd {
    op: Op,
    rank: usize,
    root: usize,
    operation: usize,
    shared: Arc<LongShared>,
}

impl Contender for SlotBarrier {
    fn name(&self) -> String {
        "slots+std-barrier".to_owned()
    }

    fn about(&self) -> String {
        "shared slots with std::sync::Barrier between writing and reading".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        if !setting.is_usual() {
            return Ok(long_bodies(setting));
        }
        let (members, root) = (setting.participants(), setting.root);
        let set = || (0..members).map(|_| Slot::default()).collect();
        let shared = Arc::new(Shared { barrier: Barrier::new(members), sets: [set(), set()] });
        let ends = (0..members).map(|rank| End { rank, root, operation: 0, shared: Arc::clone(&shared) }).collect();
        Ok(match self.0 {
            Op::Broadcast => broadcast_bodies(ends, root),
            Op::Reduce => reduce_bodies(ends, root),
            _ => allreduce_bodies(ends),
        })
    }
}

impl End {
    /// The slots of the coming operation.
    fn next_set(&mut self) -> &[Slot] {
        self.operation += 1;
        &self.shared.sets[self.operation % 2]
    }

    fn contribute(&mut self, value: u64) {
        let rank = self.rank;
        let slot = &self.next_set()[rank][0];
        // ORDERING: Relaxed, the barrier that follows publishes it
        slot.store(value, Ordering::Relaxed);
        self.shared.barrier.wait();
    }

    fn sum(&self) -> u64 {
        let slots = self.shared.sets[self.operation % 2].iter();
        // ORDERING: Relaxed, written before the barrier that this member has passed
        slots.map(|slot| slot[0].load(Ordering::Relaxed)).fold(0, u64::wrapping_add)
    }
}

impl BroadcastEnd for End {
    fn broadcast(&mut self, value: &mut Message) -> Result<(), Failure> {
        let (rank, root) = (self.rank, self.root);
        let slot = &self.next_set()[root];
        if rank == root {
            // ORDERING: Relaxed, the barrier that follows publishes it
            slot.iter().zip(*value).for_each(|(word, value)| word.store(value, Ordering::Relaxed));
        }
        self.shared.barrier.wait();
        if rank != root {
            let slot = &self.shared.sets[self.operation % 2][root];
            // ORDERING: Relaxed, written before the barrier that this member has passed
            *value = std::array::from_fn(|word| slot[word].load(Ordering::Relaxed));
        }
        Ok(())
    }
}

impl ReduceEnd for End {
    fn reduce(&mut self, value: u64) -> Result<Option<u64>, Failure> {
        self.contribute(value);
        Ok((self.rank == self.root).then(|| self.sum()))
    }
}

impl AllreduceEnd for End {
    fn allreduce(&mut self, value: u64) -> Result<u64, Failure> {
        self.contribute(value);
        Ok(self.sum())
    }
}

fn long_bodies(setting: &Setting<'_>) -> Vec<Box<dyn Body>> {
    let task = setting.slice_task();
    let slot = || (0..task.words).map(|_| AtomicU64::new(0)).collect();
    let set = || (0..task.members).map(|_| slot()).collect();
    let shared = Arc::new(LongShared { barrier: Barrier::new(task.members), sets: [set(), set()] });
    let end = |rank| {
        let shared = Arc::clone(&shared);
        LongEnd { op: task.op, rank, root: task.root, operation: 0, shared }
    };
    slice_bodies(task, (0..task.members).map(end).collect())
}

impl SliceEnd for LongEnd {
    fn perform(&mut self, values: &mut [u64]) -> Result<(), Failure> {
        let (is_broadcast, is_root) = (self.op == Op::Broadcast, self.rank == self.root);
        self.operation += 1;
        let set = &self.shared.sets[self.operation % 2];
        if !is_broadcast || is_root {
            // ORDERING: Relaxed, the barrier that follows publishes it
            set[self.rank].iter().zip(&*values).for_each(|(word, value)| word.store(*value, Ordering::Relaxed));
        }
        self.shared.barrier.wait();
        if is_broadcast && !is_root {
            // ORDERING: Relaxed, written before the barrier that this member has passed
            values.iter_mut().zip(&set[self.root]).for_each(|(value, word)| *value = word.load(Ordering::Relaxed));
        }
        if self.op == Op::Allreduce || (self.op == Op::Reduce && is_root) {
            for slot in set.iter().enumerate().filter(|(rank, _)| *rank != self.rank).map(|(_, slot)| slot) {
                // ORDERING: Relaxed, written before the barrier that this member has passed
                let add = |value: &mut u64, word: &AtomicU64| *value = value.wrapping_add(word.load(Ordering::Relaxed));
                values.iter_mut().zip(slot).for_each(|(value, word)| add(value, word));
            }
        }
        Ok(())
    }
}
