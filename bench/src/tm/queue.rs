//! A queue: every client puts a value in and takes one out, in turns, each a transaction of its own.

use corecast::base::Clock;
use fastrand::Rng;

use super::host::{Block, Player, Setting};
use super::session::goes_on;
use super::tally::Tally;
use corecast_race::failure::Failure;

/// Operations of each client in the check.
pub(super) const CHECKED: usize = 300;

/// A client's way to the queue.
pub(super) trait Queue: Send {
    /// Puts a value in, at the end.
    ///
    /// # Errors
    /// A failure of the memory.
    fn push(&mut self, value: u64) -> Result<(), Failure>;

    /// Takes the first value out; `None` if there is none.
    ///
    /// # Errors
    /// A failure of the memory.
    fn pop(&mut self) -> Result<Option<u64>, Failure>;

    /// Attempts so far that were not the last of their transaction.
    fn aborts(&self) -> u64 {
        0
    }
}

/// A client that works at the queue.
pub(super) struct Passer<Q> {
    queue: Q,
    random: Rng,
    /// The next value that it puts in: no other client has it.
    next: u64,
}

impl<Q: Queue> Passer<Q> {
    /// The client of this number.
    pub(super) fn new(queue: Q, setting: &Setting<'_>, rank: usize) -> Self {
        let random = Rng::with_seed(setting.seed ^ (rank as u64) << 32);
        Self { queue, random, next: (rank as u64) << 32 }
    }

    #[inline]
    fn push(&mut self) -> Result<u64, Failure> {
        self.queue.push(self.next)?;
        self.next += 1;
        Ok(self.next - 1)
    }
}

impl<Q: Queue> Player for Passer<Q> {
    /// Values that were put in, as they are, and those that were taken out, less than 0.
    fn record(&mut self, _block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        let mut recorded = Vec::new();
        for _ in 0..CHECKED {
            if self.random.bool() {
                recorded.push(self.push()? as i64);
            } else {
                recorded.extend(self.queue.pop()?.map(|value| -1 - value as i64));
            }
        }
        Ok(recorded)
    }

    /// Each value that was put in comes out once, those of a client in their order.
    fn verify(&mut self, recorded: &[Vec<i64>]) -> Result<(), Failure> {
        let all = || recorded.iter().flatten().copied();
        let mut put: Vec<i64> = all().filter(|value| *value >= 0).collect();
        let mut taken: Vec<i64> = all().filter(|value| *value < 0).map(|value| -1 - value).collect();
        let mut rest = Vec::new();
        while let Some(value) = self.queue.pop()? {
            rest.push(value as i64);
        }
        for rank in 0..recorded.len() as i64 {
            let of_client = rest.iter().filter(|value| **value >> 32 == rank);
            if !of_client.is_sorted() {
                return Err(Failure::Wrong(format!("the values of client {rank} come out of their order")));
            }
        }
        taken.append(&mut rest);
        put.sort_unstable();
        taken.sort_unstable();
        if put == taken {
            return Ok(());
        }
        Err(Failure::Wrong(format!("{} values were put in, and {} came out, or not the same", put.len(), taken.len())))
    }

    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        let clock = Clock::get();
        let (before, mut tally) = (self.queue.aborts(), Tally { start: clock.ticks(), ..Tally::default() });
        while goes_on(block) {
            self.push()?;
            std::hint::black_box(self.queue.pop()?);
            tally.commits += 2;
        }
        tally.end = clock.ticks();
        tally.aborts = self.queue.aborts() - before;
        Ok(tally)
    }
}
