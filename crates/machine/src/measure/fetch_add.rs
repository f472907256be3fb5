//! One word that many CPUs increment: the time in which each has had a turn.
//!
//! All increment as fast as they can; a sample lasts for a fixed number of increments of the CPU at position 0, and the
//! others go on until it is over, so that every increment competes with as many rivals as were asked for. **A core that
//! has the line increments several times before it is taken away**, while k CPUs that increment once each hand it on
//! every time. So turns are counted, not increments: a turn begins with an increment that does not follow the same
//! CPU's last one. A single CPU has the line already, and each increment is a turn.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicU64, Ordering};

use super::crew::{Crew, Task};
use super::error::MeasureError;
use super::gauge::Gauge;
use super::halt::Halted;
use super::meeting::{Meeting, Pace};
use super::stats::median;

/// Increments of party 0 in one sample, to be shared by the number of CPUs; at least [`FEWEST`].
const INCREMENTS: u64 = 4096;
const FEWEST: u64 = 256;
/// Increments of the others between two looks whether the sample is over.
const BETWEEN_LOOKS: u64 = 16;
const PACE: Pace = Pace { warm_up: 2, most: 17, limit: Duration::from_millis(10) };

/// The time until `cpus` CPUs have each had a turn, in nanoseconds.
pub(super) fn cost<'env>(crew: &Crew<'env>, gauge: Gauge, cpus: usize) -> Result<f64, MeasureError> {
    let word: Arc<SharedWord<'env>> = Arc::new(SharedWord::new(crew, cpus));
    let tasks = (0..cpus).map(|party| {
        let word = Arc::clone(&word);
        let task: Task<'env, f64> = Box::new(move || match party {
            0 => word.lead(&gauge),
            _ => word.follow(party).map(|()| 0.0),
        });
        (party, task)
    });
    Ok(crew.run(tasks.collect())?[0].max(0.0))
}

/// The word, and the counts of its increments.
#[derive(Debug)]
struct SharedWord<'h> {
    meeting: Meeting<'h>,
    /// Incremented by all.
    word: CacheLine<AtomicU64>,
    /// The last sample that is over, from 1. Written by party 0, read by the others.
    over: CacheLine<AtomicU64>,
    /// The turns of each party in the last sample. Written by that party, read by party 0 after a meeting.
    turns: Box<[CacheLine<AtomicU64>]>,
}

impl<'h> SharedWord<'h> {
    fn new(crew: &Crew<'h>, cpus: usize) -> Self {
        Self {
            meeting: Meeting::new(cpus, crew.halt),
            word: CacheLine::default(),
            over: CacheLine::default(),
            turns: (0..cpus).map(|_| CacheLine::default()).collect(),
        }
    }

    /// Party 0's part.
    fn lead(&self, gauge: &Gauge) -> Result<f64, Halted> {
        let cpus = self.turns.len() as u64;
        let increments = (INCREMENTS / cpus).max(FEWEST);
        let mut sample = 0;
        let samples = self.meeting.seat(0).time(&PACE, |seat| {
            let mut turns = Turns::default();
            let start = gauge.ticks();
            turns.take(&self.word, increments);
            let taken_ns = gauge.ns_since(start);
            sample += 1;
            // ORDERING: Relaxed, nothing is read on the strength of it; the meeting publishes the turns [arrival]
            self.over.store(sample, Ordering::Relaxed);
            seat.meet(true)?;
            let all = if cpus == 1 { increments } else { turns.count + self.turns_of_others() };
            Ok(taken_ns * cpus as f64 / all as f64)
        })?;
        Ok(median(&samples))
    }

    /// Another party's part.
    fn follow(&self, party: usize) -> Result<(), Halted> {
        let mut sample = 0;
        self.meeting.seat(party).accompany(|seat| {
            sample += 1;
            let mut turns = Turns::default();
            seat.halt.until(|| {
                turns.take(&self.word, BETWEEN_LOOKS);
                // ORDERING: Relaxed, as party 0 stores it
                (self.over.load(Ordering::Relaxed) == sample).then_some(())
            })?;
            // ORDERING: Relaxed, made visible by the arrival at the next meeting [arrival]
            self.turns[party].store(turns.count, Ordering::Relaxed);
            seat.meet(true).map(drop)
        })
    }

    fn turns_of_others(&self) -> u64 {
        // ORDERING: Relaxed, their arrival at the meeting was acquired [arrival]
        self.turns.iter().map(|turns| turns.load(Ordering::Relaxed)).sum()
    }
}

/// The turns of one party in one sample.
#[derive(Debug, Default)]
struct Turns {
    count: u64,
    /// The value that the word would have if no other thread had incremented it.
    expected: Option<u64>,
}

impl Turns {
    #[inline(always)]
    fn take(&mut self, word: &AtomicU64, increments: u64) {
        for _ in 0..increments {
            // ORDERING: Relaxed, as for a ticket: only the number counts
            let found = word.fetch_add(1, Ordering::Relaxed);
            self.count += u64::from(self.expected != Some(found));
            self.expected = Some(found.wrapping_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_when_another_party_increments() {
        let (word, mut own, mut other) = (AtomicU64::new(7), Turns::default(), Turns::default());
        own.take(&word, 3);
        assert_eq!(own.count, 1);
        own.take(&word, 1);
        assert_eq!(own.count, 1, "nobody came between");
        other.take(&word, 1);
        own.take(&word, 2);
        other.take(&word, 1);
        assert_eq!((own.count, other.count), (2, 2));
    }
}
