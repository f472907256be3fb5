//! Cases of one participant: instructions that touch no line, and loads that depend on each other.
//!
//! Work that takes less than the timer is done 64 times within a sample, and the sample is divided by 64.

use std::hint::black_box;

use corecast::base::sync::{AtomicU64, Ordering, spin_hint};
use corecast::base::{CacheLine, Clock};
use fastrand::Rng;

use super::group::Group;
use super::instruction;
use super::operation::timed;
use corecast_race::failure::Failure;

/// How often something is done in one sample.
pub(super) const REPEATS: usize = 64;
/// Words of one line.
const LINE_WORDS: usize = 8;

/// Instructions that touch no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Instruction {
    LoadFence,
    StoreFence,
    FullFence,
    /// The timer, with nothing taken off.
    Empty,
    Pause,
    Nop,
}

impl Instruction {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::LoadFence => "load-fence",
            Self::StoreFence => "store-fence",
            Self::FullFence => "full-fence",
            Self::Empty => "empty-timer",
            Self::Pause => "pause",
            Self::Nop => "nop",
        }
    }

    pub(super) fn about(self) -> &'static str {
        match self {
            Self::LoadFence => "a fence for loads, one of 64 in a row",
            Self::StoreFence => "a fence for stores, one of 64 in a row",
            Self::FullFence => "a full fence, one of 64 in a row",
            Self::Empty => "nothing between two looks at the clock: what is taken off all other cases",
            Self::Pause => "the hint that this is a spin loop, one of 64 in a row",
            Self::Nop => "an instruction that does nothing, one of 64 in a loop",
        }
    }

    /// The ticks of one sample, the timer's own included.
    fn ticks(self) -> u64 {
        match self {
            Self::LoadFence => repeated(instruction::load_fence),
            Self::StoreFence => repeated(instruction::store_fence),
            Self::FullFence => repeated(instruction::full_fence),
            Self::Empty => timed(|| ()).0,
            Self::Pause => repeated(spin_hint),
            Self::Nop => repeated(instruction::nop),
        }
    }
}

#[inline(always)]
fn repeated(work: impl Fn()) -> u64 {
    timed(|| (0..REPEATS).for_each(|_| work())).0
}

/// The ticks of every sample of an instruction, on the first CPU of `group`.
pub(super) fn instruction_ticks(what: Instruction, group: &Group, samples: usize) -> Result<Vec<u64>, Failure> {
    let done =
        group.run(&|rank, _| Ok(if rank == 0 { (0..samples).map(|_| what.ticks()).collect() } else { Vec::new() }));
    Ok(done?.into_iter().flatten().collect())
}

/// The ticks of every sample of [`REPEATS`] looks at the clock, each with a pause behind it, on the first CPU of `group`: a loop
/// that waits for a time.
pub(super) fn look_ticks(group: &Group, samples: usize) -> Result<Vec<u64>, Failure> {
    let look = || {
        black_box(Clock::get().ticks());
        spin_hint();
    };
    let done = group.run(&|rank, _| {
        let samples = if rank == 0 { samples } else { 0 };
        Ok((0..samples).map(|_| repeated(look)).collect::<Vec<u64>>())
    });
    Ok(done?.into_iter().flatten().collect())
}

/// The ticks of every sample of [`REPEATS`] increments of one line, on the first CPU of `group`.
pub(super) fn increment_ticks(group: &Group, samples: usize) -> Result<Vec<u64>, Failure> {
    let own = |rank: usize| {
        let line = CacheLine::new(AtomicU64::new(0));
        let increment = || {
            // ORDERING: Relaxed, nobody else has seen the line
            line.fetch_add(1, Ordering::Relaxed);
        };
        let samples = if rank == 0 { samples } else { 0 };
        let ticks: Vec<u64> = (0..samples).map(|_| repeated(increment)).collect();
        // ORDERING: Relaxed, nobody else has seen the line
        let found = line.load(Ordering::Relaxed);
        let wrong = || Failure::Wrong(format!("{} increments have counted to {found}", samples * REPEATS));
        if found == (samples * REPEATS) as u64 { Ok(ticks) } else { Err(wrong()) }
    };
    let done = group.run(&|rank, _| own(rank))?;
    Ok(done.into_iter().flatten().collect())
}

/// The ticks of every sample of [`REPEATS`] loads along a random chain over `bytes` bytes, on the first CPU of `group`.
pub(super) fn chain_ticks(bytes: usize, group: &Group, samples: usize, seed: u64) -> Result<Vec<u64>, Failure> {
    let walk = |rank: usize| {
        if rank != 0 {
            return Ok(Vec::new());
        }
        let mut chain = Chain::over(bytes, &mut Rng::with_seed(seed));
        chain.walk(chain.order.len().div_ceil(REPEATS));
        let ticks = chain.walk(samples);
        chain.check().map(|()| ticks)
    };
    let done = group.run(&|rank, _| walk(rank))?;
    Ok(done.into_iter().flatten().collect())
}

/// Lines of which each names the next, in one round through all.
struct Chain {
    /// The first word of each line is the number of the next.
    words: Vec<[u64; LINE_WORDS]>,
    /// The lines in the order of the round.
    order: Vec<usize>,
    at: u64,
    steps: usize,
}

impl Chain {
    fn over(bytes: usize, random: &mut Rng) -> Self {
        let lines = bytes / size_of::<[u64; LINE_WORDS]>();
        let mut order: Vec<usize> = (0..lines).collect();
        random.shuffle(&mut order);
        let mut words = vec![[0; LINE_WORDS]; lines];
        for (place, &line) in order.iter().enumerate() {
            words[line][0] = order[(place + 1) % lines] as u64;
        }
        let at = order[0] as u64;
        Self { words, order, at, steps: 0 }
    }

    fn walk(&mut self, samples: usize) -> Vec<u64> {
        let mut ticks = Vec::with_capacity(samples);
        for _ in 0..samples {
            let (sample, at) = timed(|| (0..REPEATS).fold(self.at, |at, _| self.words[at as usize][0]));
            self.at = at;
            self.steps += REPEATS;
            ticks.push(sample);
        }
        ticks
    }

    /// The walk must have come to the place where its steps lead.
    fn check(&self) -> Result<(), Failure> {
        let expected = self.order[self.steps % self.order.len()] as u64;
        let wrong = || Failure::Wrong(format!("a chain of loads has come to line {}, not {expected}", self.at));
        if self.at == expected { Ok(()) } else { Err(wrong()) }
    }
}

#[cfg(test)]
mod tests {
    use corecast::machine::pin;

    use super::*;
    use corecast_race::cancel::Cancel;

    #[test]
    fn a_walk_comes_where_its_steps_lead_and_elsewhere_is_wrong() {
        for bytes in [64, 4096, 100 << 10] {
            let mut chain = Chain::over(bytes, &mut Rng::with_seed(5));
            assert_eq!(chain.walk(7).len(), 7);
            assert_eq!(chain.check(), Ok(()));
            chain.at += 1;
            assert!(chain.check().is_err());
        }
    }

    #[test]
    fn increments_of_one_line_are_counted() {
        let here = pin::affinity().expect("own mask").as_slice()[0];
        let group = Group { cpus: vec![here], cancel: Cancel::new() };
        assert_eq!(increment_ticks(&group, 9).map(|ticks| ticks.len()), Ok(9));
    }

    #[test]
    fn samples_come_from_the_first_participant_alone() {
        let here = pin::affinity().expect("own mask").as_slice()[0];
        let group = Group { cpus: vec![here, here], cancel: Cancel::new() };
        assert_eq!(instruction_ticks(Instruction::Pause, &group, 9).map(|ticks| ticks.len()), Ok(9));
        assert_eq!(look_ticks(&group, 9).map(|ticks| ticks.len()), Ok(9));
        assert_eq!(chain_ticks(4096, &group, 9, 1).map(|ticks| ticks.len()), Ok(9));
    }
}
