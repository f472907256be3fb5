//! The loop around an operation that carries any number of words, and the check of each of them.
//!
//! Every value is written anew before its operation, by all contenders alike: a broadcast's by the root, with zeroes
//! elsewhere, a reduction's by all. So for long values the time of writing them is in every row.

use std::hint::black_box;

use super::{contribution, expected_sum};
use crate::failure::Failure;
use crate::harness::Body;
use crate::op::Op;

/// One participant's end of a broadcast, a reduction to the root or to all of wrapping sums, word by word.
pub trait SliceEnd: Send + 'static {
    /// Performs it. The root of a broadcast has the values, and each participant that is to get results finds them there.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn perform(&mut self, values: &mut [u64]) -> Result<(), Failure>;
}

/// The task that all participants share.
#[derive(Clone, Copy, Debug)]
pub struct SliceTask {
    /// The operation.
    pub op: Op,
    /// The rank that a rooted operation starts from or ends at.
    pub root: usize,
    /// The number of members.
    pub members: usize,
    /// The values of 8 bytes that each member brings, or gets.
    pub words: usize,
}

impl SliceTask {
    /// That of an operation which carries this number of bytes.
    pub fn carrying(bytes: usize, op: Op, root: usize, members: usize) -> Self {
        Self { op, root, members, words: bytes / size_of::<u64>() }
    }
}

struct SliceBody<E> {
    task: SliceTask,
    rank: usize,
    end: E,
    values: Vec<u64>,
    /// Operations so far; equal at all participants between blocks.
    number: u64,
}

/// The body of one participant.
pub fn slice_body<E: SliceEnd>(task: SliceTask, rank: usize, end: E) -> Box<dyn Body> {
    Box::new(SliceBody { task, rank, end, values: vec![0; task.words], number: 0 })
}

impl<E: SliceEnd> SliceBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<(), Failure> {
        let (is_broadcast, is_root) = (self.task.op == Op::Broadcast, self.rank == self.task.root);
        match (is_broadcast, is_root) {
            (true, false) => self.values.fill(0),
            (true, true) => fill(&mut self.values, self.number.wrapping_mul(8)),
            (false, _) => fill(&mut self.values, contribution(self.rank, self.number)),
        }
        self.end.perform(&mut self.values)?;
        self.number += 1;
        Ok(())
    }

    /// The first word that this participant must find, and by how much each one after is greater; `None` if it gets none.
    fn expected(&self, number: u64) -> Option<(u64, u64)> {
        let SliceTask { op, root, members, .. } = self.task;
        match op {
            Op::Broadcast => Some((number.wrapping_mul(8), 1)),
            Op::Reduce if self.rank != root => None,
            _ => Some((expected_sum(members, number), members as u64)),
        }
    }
}

/// Words that grow by 1.
#[inline(always)]
pub(super) fn fill(values: &mut [u64], first: u64) {
    values.iter_mut().zip(0..).for_each(|(value, i)| *value = first.wrapping_add(i));
}

/// Refuses words that are not those of [`fill`], or not as many.
pub(super) fn expect_words(found: &[u64], words: usize, first: u64, number: u64) -> Result<(), Failure> {
    if found.len() != words {
        return Err(Failure::Wrong(format!("operation {number}: {} words came, expected {words}", found.len())));
    }
    let word = |i: usize| first.wrapping_add(i as u64);
    match (0..words).find(|&i| found[i] != word(i)) {
        None => Ok(()),
        Some(i) => {
            let (found, expected) = (found[i], word(i));
            Err(Failure::Wrong(format!("operation {number}: word {i} is {found}, expected {expected}")))
        }
    }
}

impl<E: SliceEnd> Body for SliceBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.next()?;
            black_box(&mut self.values);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let number = self.number;
            self.next()?;
            let Some((first, step)) = self.expected(number) else { continue };
            let word = |i: usize| first.wrapping_add(step.wrapping_mul(i as u64));
            if let Some(i) = (0..self.values.len()).find(|&i| self.values[i] != word(i)) {
                let (found, expected) = (self.values[i], word(i));
                let what = format!("operation {number}: word {i} is {found}, expected {expected}");
                return Err(Failure::Wrong(what));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Adds this to one word.
    struct Off(u64, usize);

    impl SliceEnd for Off {
        fn perform(&mut self, values: &mut [u64]) -> Result<(), Failure> {
            values[self.1] = values[self.1].wrapping_add(self.0);
            Ok(())
        }
    }

    #[test]
    fn every_word_is_looked_at_by_the_participant_that_gets_it() {
        for op in [Op::Broadcast, Op::Reduce, Op::Allreduce] {
            let task = SliceTask { op, root: 0, members: 1, words: 9 };
            let check = |rank, off, word| slice_body(task, rank, Off(off, word)).check(3);
            assert_eq!(check(0, 0, 0), Ok(()), "{op}");
            for word in 0..9 {
                let found = check(0, 1, word).expect_err("one word is off").to_string();
                assert!(found.contains(&format!("operation 0: word {word} is ")), "{op}: {found}");
            }
            let is_told = check(1, 0, 0).is_err();
            assert_eq!(
                is_told,
                op != Op::Reduce,
                "{op}: nothing was done, which only the root of a reduction can tell"
            );
        }
    }
}
