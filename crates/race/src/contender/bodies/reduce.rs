//! The loop around a reduction to the root, and the check of every sum.

use std::hint::black_box;

use super::{contribution, expect_sum};
use crate::failure::Failure;
use crate::harness::Body;

/// One participant's end of a reduction by wrapping addition.
pub trait ReduceEnd: Send + 'static {
    /// Contributes; the sum at the root, `None` elsewhere.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn reduce(&mut self, value: u64) -> Result<Option<u64>, Failure>;
}

struct ReduceBody<E> {
    rank: usize,
    root: usize,
    members: usize,
    end: E,
    /// Reductions so far; equal at all participants between blocks.
    round: u64,
}

/// A body for each end, by rank.
pub fn reduce_bodies<E: ReduceEnd>(ends: Vec<E>, root: usize) -> Vec<Box<dyn Body>> {
    let members = ends.len();
    ends.into_iter().enumerate().map(|(rank, end)| reduce_body((rank, members), root, end)).collect()
}

/// The body of the participant of this rank, of `members`.
pub fn reduce_body<E: ReduceEnd>((rank, members): (usize, usize), root: usize, end: E) -> Box<dyn Body> {
    Box::new(ReduceBody { rank, root, members, end, round: 0 })
}

impl<E: ReduceEnd> ReduceBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<Option<u64>, Failure> {
        let sum = self.end.reduce(contribution(self.rank, self.round))?;
        self.round += 1;
        Ok(sum)
    }
}

impl<E: ReduceEnd> Body for ReduceBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            black_box(self.next()?);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let round = self.round;
            match self.next()? {
                Some(sum) => expect_sum(sum, self.members, round)?,
                None if self.rank == self.root => return Err(Failure::Wrong("the root got no sum".to_owned())),
                None => {}
            }
        }
        Ok(())
    }
}
