//! A contender of the standard library alone at gathering, scattering, commits and atomic broadcasts: shared slots, and
//! `std::sync::Barrier` between writing and reading.
//!
//! Two sets of slots take turns, as in [`slot_barrier`](super::slot_barrier).

use std::sync::{Arc, Barrier};

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};

use super::bodies::{
    AtomicStreamEnd, CommitEnd, GatherEnd, Round, ScatterEnd, atomic_stream_body, commit_body, gather_body,
    scatter_body,
};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body};
use crate::op::Op;

pub(super) struct SlotExchange(pub(super) Op);

/// The words that a member shows in one operation; written by that member before a barrier, read by others after it.
struct Slot {
    words: Box<[AtomicU64]>,
    /// 1 if it votes for what is proposed.
    vote: CacheLine<AtomicU64>,
}

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

impl Contender for SlotExchange {
    fn name(&self) -> String {
        "slots+std-barrier".to_owned()
    }

    fn about(&self) -> String {
        "shared slots with std::sync::Barrier between writing and reading".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, _abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let task = setting.slice_task();
        let words = if task.op == Op::Scatter { task.words * task.members } else { task.words };
        let slot = |_| Slot { words: (0..words).map(|_| AtomicU64::new(0)).collect(), vote: CacheLine::default() };
        let set = || (0..task.members).map(slot).collect();
        let shared = Arc::new(Shared { barrier: Barrier::new(task.members), sets: [set(), set()] });
        let body = |rank| {
            let end = End { rank, root: task.root, operation: 0, shared: Arc::clone(&shared) };
            match self.0 {
                Op::Gather => gather_body(task, rank, end),
                Op::Scatter => scatter_body(task, rank, end),
                Op::Commit => commit_body(task, rank, end),
                _ => atomic_stream_body(task, rank, end),
            }
        };
        Ok((0..task.members).map(body).collect())
    }
}

impl End {
    fn begin(&mut self) {
        self.operation += 1;
    }

    fn slot(&self, rank: usize) -> &Slot {
        &self.shared.sets[self.operation % 2][rank]
    }

    fn show(&self, values: &[u64]) {
        // ORDERING: Relaxed, the barrier that follows publishes it
        self.slot(self.rank).words.iter().zip(values).for_each(|(word, value)| word.store(*value, Ordering::Relaxed));
    }

    fn read(&self, rank: usize, first: usize) -> impl Iterator<Item = u64> {
        // ORDERING: Relaxed, written before the barrier that this member has passed
        self.slot(rank).words[first..].iter().map(|word| word.load(Ordering::Relaxed))
    }

    fn copy(&self, rank: usize, first: usize, into: &mut [u64]) {
        into.iter_mut().zip(self.read(rank, first)).for_each(|(into, word)| *into = word);
    }

    fn meet(&self) {
        self.shared.barrier.wait();
    }
}

impl GatherEnd for End {
    fn gather(&mut self, own: &[u64], all: &mut Vec<Vec<u64>>) -> Result<(), Failure> {
        self.begin();
        self.show(own);
        self.meet();
        all.iter_mut().enumerate().for_each(|(rank, part)| self.copy(rank, 0, part));
        Ok(())
    }
}

impl ScatterEnd for End {
    fn scatter(&mut self, all: &[u64], own: &mut [u64]) -> Result<(), Failure> {
        self.begin();
        if self.rank == self.root {
            self.show(all);
        }
        self.meet();
        self.copy(self.root, self.rank * own.len(), own);
        Ok(())
    }
}

impl CommitEnd for End {
    fn agree(&mut self, proposal: &mut [u64], is_for: bool) -> Result<bool, Failure> {
        self.begin();
        if self.rank == self.root {
            self.show(proposal);
        }
        self.meet();
        if self.rank != self.root {
            self.copy(self.root, 0, proposal);
        }
        // ORDERING: Relaxed, the barrier that follows publishes it
        self.slot(self.rank).vote.store(u64::from(is_for), Ordering::Relaxed);
        self.meet();
        let set = &self.shared.sets[self.operation % 2];
        // ORDERING: Relaxed, written before the barrier that this member has passed
        Ok(set.iter().all(|slot| slot.vote.load(Ordering::Relaxed) == 1))
    }
}

impl AtomicStreamEnd for End {
    fn exchange(&mut self, own: &[u64], round: &mut Round) -> Result<(), Failure> {
        self.begin();
        self.show(own);
        self.meet();
        (0..round.events.len()).for_each(|rank| round.deliver(rank, self.read(rank, 0)));
        Ok(())
    }
}
