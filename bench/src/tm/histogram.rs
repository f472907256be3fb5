//! The map-reduce: how often each letter is in a file, whose chunks clients take in turn by a transaction, and whose counts they
//! add up by another.
//!
//! Once all chunks are taken they begin anew, until the block is over, so that a block has work for as long as it lasts.

use std::sync::Arc;

use corecast::base::Clock;

use super::host::{Block, Player, Setting};
use super::session::goes_on;
use super::tally::Tally;
use corecast_race::failure::Failure;

/// The bytes of a chunk, as in the paper.
pub(super) const CHUNK: usize = 4096;
/// Letters, and all other bytes.
pub(super) const COUNTERS: usize = 27;

pub(super) type Counts = [u64; COUNTERS];

/// A client's way to the shared counters.
pub(super) trait Histogram: Send {
    /// The number of the next chunk, which nobody else has.
    ///
    /// # Errors
    /// A failure of the memory.
    fn next_chunk(&mut self) -> Result<u64, Failure>;

    /// Adds counts to those of all.
    ///
    /// # Errors
    /// A failure of the memory.
    fn add(&mut self, counts: &Counts) -> Result<(), Failure>;

    /// The counts of all.
    ///
    /// # Errors
    /// A failure of the memory.
    fn counts(&mut self) -> Result<Counts, Failure>;

    /// Attempts so far that were not the last of their transaction.
    fn aborts(&self) -> u64 {
        0
    }
}

/// Adds the letters of a text.
fn count(text: &[u8], counts: &mut Counts) {
    for byte in text {
        let lower = byte.to_ascii_lowercase();
        let at = if lower.is_ascii_lowercase() { usize::from(lower - b'a') } else { COUNTERS - 1 };
        counts[at] += 1;
    }
}

/// A client that counts.
pub(super) struct Counter<H> {
    histogram: H,
    text: Arc<Vec<u8>>,
}

impl<H: Histogram> Counter<H> {
    pub(super) fn new(histogram: H, setting: &Setting<'_>) -> Self {
        Self { histogram, text: Arc::clone(&setting.text) }
    }

    /// Of a chunk that was taken; chunks behind the last are the first ones again.
    fn chunk(&self, number: u64) -> &[u8] {
        let chunks = self.text.len().div_ceil(CHUNK).max(1) as u64;
        let start = (number % chunks) as usize * CHUNK;
        &self.text[start.min(self.text.len())..(start + CHUNK).min(self.text.len())]
    }
}

impl<H: Histogram> Player for Counter<H> {
    fn record(&mut self, _block: &Block<'_>) -> Result<Vec<i64>, Failure> {
        let (mut counts, chunks) = ([0; COUNTERS], self.text.len().div_ceil(CHUNK).min(64) as u64);
        let mut taken = Vec::new();
        loop {
            let number = self.histogram.next_chunk()?;
            taken.push(number as i64);
            if number >= chunks {
                break;
            }
            count(self.chunk(number), &mut counts);
        }
        self.histogram.add(&counts)?;
        Ok(taken)
    }

    fn verify(&mut self, recorded: &[Vec<i64>]) -> Result<(), Failure> {
        let mut taken: Vec<i64> = recorded.iter().flatten().copied().collect();
        taken.sort_unstable();
        if taken.iter().enumerate().any(|(at, number)| at as i64 != *number) {
            return Err(Failure::Wrong(format!("chunks that were taken, of all clients: {taken:?}")));
        }
        let mut expected = [0; COUNTERS];
        count(&self.text[..self.text.len().min(64 * CHUNK)], &mut expected);
        let found = self.histogram.counts()?;
        if found == expected { Ok(()) } else { Err(Failure::Wrong(format!("{found:?} letters, not {expected:?}"))) }
    }

    fn play(&mut self, block: &Block<'_>) -> Result<Tally, Failure> {
        let clock = Clock::get();
        let (before, mut tally) = (self.histogram.aborts(), Tally { start: clock.ticks(), ..Tally::default() });
        let mut counts = [0; COUNTERS];
        while goes_on(block) {
            let number = self.histogram.next_chunk()?;
            count(self.chunk(number), &mut counts);
            tally.commits += 1;
        }
        self.histogram.add(&counts)?;
        tally.end = clock.ticks();
        tally.aborts = self.histogram.aborts() - before;
        Ok(tally)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_counted_whatever_their_case_and_the_rest_together() {
        let mut counts = [0; COUNTERS];
        count(b"Abba 7!\xff", &mut counts);
        assert_eq!((counts[0], counts[1], counts[2], counts[COUNTERS - 1]), (2, 2, 0, 4));
    }
}
