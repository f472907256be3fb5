//! The loop around a gathering of everybody's words at the root, and the check of each of them.

use std::hint::black_box;

use super::contribution;
use super::slice::{expect_words, fill};
use crate::contender::bodies::SliceTask;
use crate::failure::Failure;
use crate::harness::Body;

/// One participant's end of a gathering.
pub trait GatherEnd: Send + 'static {
    /// Brings its own words. The root finds those of all in `all`, by rank, which is as the root left it the last time.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn gather(&mut self, own: &[u64], all: &mut Vec<Vec<u64>>) -> Result<(), Failure>;
}

struct GatherBody<E> {
    task: SliceTask,
    rank: usize,
    end: E,
    own: Vec<u64>,
    all: Vec<Vec<u64>>,
    /// Operations so far; equal at all participants between blocks.
    number: u64,
}

/// The body of one participant.
pub fn gather_body<E: GatherEnd>(task: SliceTask, rank: usize, end: E) -> Box<dyn Body> {
    let all = if rank == task.root { vec![vec![0; task.words]; task.members] } else { Vec::new() };
    Box::new(GatherBody { task, rank, end, own: vec![0; task.words], all, number: 0 })
}

impl<E: GatherEnd> GatherBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<(), Failure> {
        fill(&mut self.own, contribution(self.rank, self.number));
        self.end.gather(&self.own, &mut self.all)?;
        self.number += 1;
        Ok(())
    }
}

impl<E: GatherEnd> Body for GatherBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.next()?;
            black_box(&mut self.all);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let number = self.number;
            self.next()?;
            if self.rank != self.task.root {
                continue;
            }
            if self.all.len() != self.task.members {
                return Err(Failure::Wrong(format!("operation {number}: {} parts were gathered", self.all.len())));
            }
            for (rank, words) in self.all.iter().enumerate() {
                expect_words(words, self.task.words, contribution(rank, number), number)?;
            }
        }
        Ok(())
    }
}
