//! A contender of the standard library alone: shared slots, and `std::sync::Barrier` between writing and reading.
//!
//! Usual values go through atomic words of a line, all others through [`Slots`]; as there, two sets take turns.

use std::sync::{Arc, Barrier};

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};

use super::bodies::{
    AllreduceEnd, AtomicStreamEnd, BroadcastEnd, CommitEnd, GatherEnd, ReduceEnd, Round, ScatterEnd, SliceEnd,
    allreduce_bodies, atomic_stream_body, broadcast_bodies, commit_body, gather_body, reduce_bodies, scatter_body,
    slice_body,
};
use super::slots::Slots;
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

/// The end of an operation that carries any number of words.
struct LongEnd {
    op: Op,
    rank: usize,
    root: usize,
    slots: Slots,
}

impl Contender for SlotBarrier {
    fn name(&self) -> String {
        "slots+std-barrier".to_owned()
    }

    fn about(&self) -> String {
        "shared slots with std::sync::Barrier between writing and reading".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        if !setting.is_usual() || Op::EXCHANGES.contains(&self.0) {
            return Ok(long_bodies(self.0, setting));
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

fn long_bodies(op: Op, setting: &Setting<'_>) -> Vec<Box<dyn Body>> {
    let task = setting.slice_task();
    let words = if op == Op::Scatter { task.words * task.members } else { task.words };
    let all = Slots::of_all(task.members, words.max(1)).into_iter().enumerate();
    let body = |(rank, slots)| {
        let end = LongEnd { op, rank, root: task.root, slots };
        match op {
            Op::Gather => gather_body(task, rank, end),
            Op::Scatter => scatter_body(task, rank, end),
            Op::Commit => commit_body(task, rank, end),
            Op::AtomicStream => atomic_stream_body(task, rank, end),
            _ => slice_body(task, rank, end),
        }
    };
    all.map(body).collect()
}

impl LongEnd {
    fn is_root(&self) -> bool {
        self.rank == self.root
    }
}

impl SliceEnd for LongEnd {
    fn perform(&mut self, values: &mut [u64]) -> Result<(), Failure> {
        let (is_broadcast, is_root) = (self.op == Op::Broadcast, self.is_root());
        let shown = self.slots.show(if is_broadcast && !is_root { &[] } else { values });
        if is_broadcast && !is_root {
            values.copy_from_slice(&shown.of(self.root)[..values.len()]);
        }
        if self.op == Op::Allreduce || (self.op == Op::Reduce && is_root) {
            for rank in (0..shown.members()).filter(|&rank| rank != self.rank) {
                values.iter_mut().zip(shown.of(rank)).for_each(|(value, word)| *value = value.wrapping_add(*word));
            }
        }
        Ok(())
    }
}

impl GatherEnd for LongEnd {
    fn gather(&mut self, own: &[u64], all: &mut Vec<Vec<u64>>) -> Result<(), Failure> {
        let shown = self.slots.show(own);
        all.iter_mut().enumerate().for_each(|(rank, part)| part.copy_from_slice(&shown.of(rank)[..own.len()]));
        Ok(())
    }
}

impl ScatterEnd for LongEnd {
    fn scatter(&mut self, all: &[u64], own: &mut [u64]) -> Result<(), Failure> {
        let shown = self.slots.show(if self.rank == self.root { all } else { &[] });
        own.copy_from_slice(&shown.of(self.root)[self.rank * own.len()..][..own.len()]);
        Ok(())
    }
}

impl CommitEnd for LongEnd {
    fn agree(&mut self, proposal: &mut [u64], is_for: bool) -> Result<bool, Failure> {
        let is_root = self.is_root();
        let shown = self.slots.show(if is_root { proposal } else { &[] });
        if !is_root {
            proposal.copy_from_slice(&shown.of(self.root)[..proposal.len()]);
        }
        let votes = self.slots.show(&[u64::from(is_for)]);
        Ok((0..votes.members()).all(|rank| votes.of(rank)[0] == 1))
    }
}

impl AtomicStreamEnd for LongEnd {
    fn exchange(&mut self, own: &[u64], round: &mut Round) -> Result<(), Failure> {
        let shown = self.slots.show(own);
        (0..round.events.len()).for_each(|rank| round.deliver(rank, shown.of(rank)[..own.len()].iter().copied()));
        Ok(())
    }
}
