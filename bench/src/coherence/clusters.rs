//! Increments by all CPUs of some clusters at once, on some lines of one home: what a line, and what a home, can serve.
//!
//! A core that has a line increments it several times before it is taken away, so times alone do not tell how often lines move:
//! an increment that does not follow the same CPU's last one on that line is a hand-over, and these are counted. A sample is
//! many increments, as the look at the clock between two would give the others time. All go on until the last has its samples,
//! so that each sample has as many rivals.

use corecast::base::sync::{AtomicUsize, Ordering};
use corecast::base::{CacheLine, PlaceSlice};
use fastrand::Rng;

use super::alone::REPEATS;
use super::group::{Group, Meeting};
use super::lines::Line;
use super::operation::timed;
use corecast_race::failure::Failure;

/// A sample takes all CPUs many increments: there are fewer of them than of other cases by this factor.
pub(super) const FEWER: usize = 16;

/// The results of all CPUs.
pub(super) struct Increments {
    /// The ticks of each sample of [`REPEATS`] increments, by rank, the timer's own included.
    pub(super) ticks: Vec<Vec<u64>>,
    /// The share of the increments whose line came from another CPU.
    pub(super) handed: f64,
}

/// The increments of one participant.
struct Share {
    ticks: Vec<u64>,
    all: u64,
    handed: u64,
    /// By line: the value that it would have if no other had incremented it.
    expected: Vec<Option<u64>>,
    /// The numbers of lines in the order in which they are taken, over and over.
    order: Vec<usize>,
}

/// Lets the CPUs of `group` increment `lines` lines, which the first one has touched first. Each has a sample for [`FEWER`] of
/// `samples`.
pub(super) fn increments(lines: usize, group: &Group, samples: usize, seed: u64) -> Result<Increments, Failure> {
    let samples = (samples / FEWER).max(1);
    let (memory, done) = (PlaceSlice::<Line>::zeroed(lines), CacheLine::new(AtomicUsize::new(0)));
    let shares = group.run(&|rank, meeting| {
        let mut share = Share::of(lines, &mut Rng::with_seed(seed ^ (rank as u64) << 32));
        share.take(rank, meeting, &memory, &done, samples, group.cpus.len())?;
        Ok(share)
    })?;
    let (all, handed) = shares.iter().fold((0, 0), |sum, share| (sum.0 + share.all, sum.1 + share.handed));
    // ORDERING: Relaxed, the threads have ended
    let found: u64 = memory.iter().map(|line| line[0].load(Ordering::Relaxed)).sum();
    if found != all {
        return Err(Failure::Wrong(format!("{lines} lines hold {found} increments of {all}")));
    }
    let ticks = shares.into_iter().map(|share| share.ticks).collect();
    Ok(Increments { ticks, handed: handed as f64 / all.max(1) as f64 })
}

impl Share {
    fn of(lines: usize, random: &mut Rng) -> Self {
        let order = (0..lines.max(REPEATS)).map(|_| random.usize(..lines)).collect();
        Self { ticks: Vec::new(), all: 0, handed: 0, expected: vec![None; lines], order }
    }

    fn take(
        &mut self,
        rank: usize,
        meeting: &Meeting<'_>,
        memory: &[Line],
        done: &AtomicUsize,
        samples: usize,
        of: usize,
    ) -> Result<(), Failure> {
        self.ticks.reserve(samples);
        if rank == 0 {
            // ORDERING: Relaxed, all meet before anybody else looks
            memory.iter().for_each(|line| line[0].store(0, Ordering::Relaxed));
        }
        meeting.meet()?;
        for _ in 0..samples {
            meeting.go_on()?;
            let ticks = timed(|| self.increment(memory)).0;
            self.ticks.push(ticks);
        }
        // ORDERING: Relaxed, nothing is read on the strength of it
        done.fetch_add(1, Ordering::Relaxed);
        // ORDERING: Relaxed, nothing is read on the strength of it
        while done.load(Ordering::Relaxed) < of {
            meeting.go_on()?;
            self.increment(memory);
        }
        Ok(())
    }

    /// [`REPEATS`] increments.
    #[inline(always)]
    fn increment(&mut self, memory: &[Line]) {
        let begin = self.all as usize;
        for at in begin..begin + REPEATS {
            let line = self.order[at % self.order.len()];
            // ORDERING: Relaxed, the words order nothing
            let found = memory[line][0].fetch_add(1, Ordering::Relaxed);
            self.handed += u64::from(self.expected[line] != Some(found));
            self.expected[line] = Some(found + 1);
        }
        self.all += REPEATS as u64;
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::pin;

    use super::*;
    use corecast_race::cancel::Cancel;

    fn group(cpus: usize) -> Group {
        let allowed = pin::affinity().expect("own mask");
        let cpus = allowed.as_slice().iter().copied().cycle().take(cpus).collect();
        Group { cpus, cancel: Cancel::new() }
    }

    #[test]
    fn nothing_is_lost_and_each_has_its_samples() {
        for lines in [1, 8, 64] {
            let found = increments(lines, &group(3), 20 * FEWER, 5).expect("right");
            assert!(found.ticks.len() == 3 && found.ticks.iter().all(|ticks| ticks.len() == 20));
            assert!(found.handed > 0.0 && found.handed <= 1.0, "{}", found.handed);
        }
    }

    #[test]
    fn one_alone_is_handed_each_line_once() {
        let found = increments(1, &group(1), 10 * FEWER, 5).expect("right");
        assert_eq!(found.handed, 1.0 / (10 * REPEATS) as f64);
    }

    #[test]
    fn an_increment_after_another_ones_is_a_hand_over() {
        let memory = PlaceSlice::<Line>::zeroed(1);
        let [mut own, mut other] = [1, 2].map(|seed| Share::of(1, &mut Rng::with_seed(seed)));
        own.increment(&memory);
        own.increment(&memory);
        other.increment(&memory);
        own.increment(&memory);
        assert_eq!((own.handed, other.handed), (2, 1));
    }
}
