//! The loop around a two-phase commit, and the check of what was proposed and of what was decided.
//!
//! In rounds that are checked the last member refuses every fourth proposal; in those that are timed nobody does.

use super::slice::{expect_words, fill};
use crate::contender::bodies::SliceTask;
use crate::failure::Failure;
use crate::harness::Body;

/// One participant's end of a commit.
pub trait CommitEnd: Send + 'static {
    /// Takes part in a round: the root proposes `proposal`, the others get it there and vote for it if `is_for`. Tells whether
    /// all have.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn agree(&mut self, proposal: &mut [u64], is_for: bool) -> Result<bool, Failure>;
}

struct CommitBody<E> {
    task: SliceTask,
    rank: usize,
    end: E,
    proposal: Vec<u64>,
    /// Rounds so far; equal at all participants between blocks.
    number: u64,
}

/// The body of one participant.
pub fn commit_body<E: CommitEnd>(task: SliceTask, rank: usize, end: E) -> Box<dyn Body> {
    Box::new(CommitBody { task, rank, end, proposal: vec![0; task.words], number: 0 })
}

impl<E: CommitEnd> CommitBody<E> {
    #[inline(always)]
    fn next(&mut self, is_for: bool) -> Result<bool, Failure> {
        if self.rank == self.task.root {
            fill(&mut self.proposal, self.number.wrapping_mul(8));
        }
        let is_commit = self.end.agree(&mut self.proposal, is_for)?;
        self.number += 1;
        Ok(is_commit)
    }
}

impl<E: CommitEnd> Body for CommitBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            if !self.next(true)? {
                return Err(Failure::Wrong("a proposal that nobody refused was not committed".to_owned()));
            }
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        let SliceTask { root, members, words, .. } = self.task;
        // The root proposes, so it is for it.
        let refuser = if root + 1 == members { 0 } else { members - 1 };
        for _ in 0..rounds {
            let (number, is_refused) = (self.number, self.number % 4 == 3);
            self.proposal.fill(0);
            let is_commit = self.next(!(is_refused && self.rank == refuser))?;
            if is_commit == is_refused {
                let what = format!("operation {number}: committed is {is_commit}, and a member refused: {is_refused}");
                return Err(Failure::Wrong(what));
            }
            expect_words(&self.proposal, words, number.wrapping_mul(8), number)?;
        }
        Ok(())
    }
}
