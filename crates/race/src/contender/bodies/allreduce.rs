//! The loop around a reduction whose result all participants get, and the check of every sum.

use std::hint::black_box;

use super::{contribution, expect_sum};
use crate::failure::Failure;
use crate::harness::Body;

/// One participant's end of an all-reduction by wrapping addition.
pub trait AllreduceEnd: Send + 'static {
    /// Contributes, and returns the sum.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn allreduce(&mut self, value: u64) -> Result<u64, Failure>;
}

struct AllreduceBody<E> {
    rank: usize,
    members: usize,
    end: E,
    /// Reductions so far; equal at all participants between blocks.
    round: u64,
}

/// A body for each end, by rank.
pub fn allreduce_bodies<E: AllreduceEnd>(ends: Vec<E>) -> Vec<Box<dyn Body>> {
    let members = ends.len();
    ends.into_iter().enumerate().map(|(rank, end)| allreduce_body((rank, members), end)).collect()
}

/// The body of the participant of this rank, of `members`.
pub fn allreduce_body<E: AllreduceEnd>((rank, members): (usize, usize), end: E) -> Box<dyn Body> {
    Box::new(AllreduceBody { rank, members, end, round: 0 })
}

impl<E: AllreduceEnd> AllreduceBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<u64, Failure> {
        let sum = self.end.allreduce(contribution(self.rank, self.round))?;
        self.round += 1;
        Ok(sum)
    }
}

impl<E: AllreduceEnd> Body for AllreduceBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            black_box(self.next()?);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let round = self.round;
            let sum = self.next()?;
            expect_sum(sum, self.members, round)?;
        }
        Ok(())
    }
}
