//! The loop around an atomic broadcast in which every member publishes an event a round, and the check that all members
//! deliver the same events in the same order.
//!
//! A round ends for a member when it has delivered the events of all, its own too. In rounds that are checked an event names
//! the order that its publisher has seen so far, which each member compares with its own.

use std::hint::black_box;

use super::contribution;
use super::slice::{expect_words, fill};
use crate::contender::bodies::SliceTask;
use crate::failure::Failure;
use crate::harness::Body;

/// The events of a round as one member has delivered them.
#[derive(Debug, Clone, Default)]
pub struct Round {
    /// The publishers, in the order of delivery.
    pub order: Vec<usize>,
    /// The words of each, by rank.
    pub events: Vec<Vec<u64>>,
}

impl Round {
    /// Room for the events of this number of members, of this number of words each.
    pub fn of(members: usize, words: usize) -> Self {
        Self { order: Vec::with_capacity(members), events: vec![vec![0; words]; members] }
    }

    /// Delivers an event.
    #[inline]
    pub fn deliver(&mut self, origin: usize, words: impl Iterator<Item = u64>) {
        self.order.push(origin);
        self.events[origin].iter_mut().zip(words).for_each(|(word, value)| *word = value);
    }
}

/// One participant's end of an atomic broadcast.
pub trait AtomicStreamEnd: Send + 'static {
    /// Publishes its event, and delivers those of all members in the common order; `round` has room for them, and none in it.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn exchange(&mut self, own: &[u64], round: &mut Round) -> Result<(), Failure>;
}

struct AtomicStreamBody<E> {
    task: SliceTask,
    rank: usize,
    end: E,
    own: Vec<u64>,
    round: Round,
    /// Rounds so far; equal at all participants between blocks.
    number: u64,
    /// The order so far in rounds that were checked.
    seen: u64,
}

/// The body of one participant.
pub fn atomic_stream_body<E: AtomicStreamEnd>(task: SliceTask, rank: usize, end: E) -> Box<dyn Body> {
    let round = Round::of(task.members, task.words);
    Box::new(AtomicStreamBody { task, rank, end, own: vec![0; task.words], round, number: 0, seen: 0 })
}

impl<E: AtomicStreamEnd> AtomicStreamBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<(), Failure> {
        fill(&mut self.own, contribution(self.rank, self.number).wrapping_add(self.seen));
        self.round.order.clear();
        self.end.exchange(&self.own, &mut self.round)?;
        self.number += 1;
        Ok(())
    }
}

impl<E: AtomicStreamEnd> Body for AtomicStreamBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.next()?;
            black_box(&mut self.round);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let (number, seen) = (self.number, self.seen);
            self.next()?;
            let mut publishers = self.round.order.clone();
            publishers.sort_unstable();
            if !publishers.iter().copied().eq(0..self.task.members) {
                return Err(Failure::Wrong(format!("round {number} delivered events of {publishers:?}")));
            }
            for (rank, words) in self.round.events.iter().enumerate() {
                let first = contribution(rank, number).wrapping_add(seen);
                expect_words(words, self.task.words, first, number)?;
            }
            let mix = |seen: u64, &origin: &usize| (seen ^ origin as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.seen = self.round.order.iter().fold(seen, mix);
        }
        Ok(())
    }
}
