//! The loop around a dealing out of the root's words, as many to each, and the check of each of them.

use std::hint::black_box;

use super::contribution;
use super::slice::{expect_words, fill};
use crate::contender::bodies::SliceTask;
use crate::failure::Failure;
use crate::harness::Body;

/// One participant's end of a dealing out.
pub trait ScatterEnd: Send + 'static {
    /// Gets its own words, of the words of all by rank, which only the root has.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn scatter(&mut self, all: &[u64], own: &mut [u64]) -> Result<(), Failure>;
}

struct ScatterBody<E> {
    task: SliceTask,
    rank: usize,
    end: E,
    own: Vec<u64>,
    /// Of the root; empty elsewhere.
    all: Vec<u64>,
    /// Operations so far; equal at all participants between blocks.
    number: u64,
}

/// The body of one participant.
pub fn scatter_body<E: ScatterEnd>(task: SliceTask, rank: usize, end: E) -> Box<dyn Body> {
    let all = if rank == task.root { vec![0; task.members * task.words] } else { Vec::new() };
    Box::new(ScatterBody { task, rank, end, own: vec![0; task.words], all, number: 0 })
}

impl<E: ScatterEnd> ScatterBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<(), Failure> {
        let parts = self.all.chunks_exact_mut(self.task.words.max(1));
        parts.enumerate().for_each(|(rank, part)| fill(part, contribution(rank, self.number)));
        self.end.scatter(&self.all, &mut self.own)?;
        self.number += 1;
        Ok(())
    }
}

impl<E: ScatterEnd> Body for ScatterBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.next()?;
            black_box(&mut self.own);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let number = self.number;
            self.own.fill(0);
            self.next()?;
            expect_words(&self.own, self.task.words, contribution(self.rank, number), number)?;
        }
        Ok(())
    }
}
