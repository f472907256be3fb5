//! The loop around a barrier, and the check that no participant leaves it before all have entered.

use corecast::base::sync::{AtomicU64, Ordering, spin_hint, yield_now};
use corecast::base::{Arena, ArenaError, CacheLine, PlaceSlice};

use crate::failure::Failure;
use crate::harness::Body;

/// One participant's end of a barrier.
pub trait BarrierEnd: Send + 'static {
    /// Waits until all participants have called it.
    ///
    /// # Errors
    /// Whatever stops the operation; the contender is then out of the race.
    fn wait(&mut self) -> Result<(), Failure>;
}

struct BarrierBody<E> {
    rank: usize,
    end: E,
    witness: Witness,
}

/// How often each participant has come to the barrier while it was checked; written by that participant, read by all.
#[derive(Clone, Debug)]
pub struct Witness(PlaceSlice<CacheLine<AtomicU64>>);

/// A body for each end, by rank.
pub fn barrier_bodies<E: BarrierEnd>(ends: Vec<E>) -> Vec<Box<dyn Body>> {
    let witness = Witness::new(ends.len());
    ends.into_iter().enumerate().map(|(rank, end)| barrier_body(rank, end, witness.clone())).collect()
}

/// The body of one participant; all have the same witness.
pub fn barrier_body<E: BarrierEnd>(rank: usize, end: E, witness: Witness) -> Box<dyn Body> {
    Box::new(BarrierBody { rank, end, witness })
}

impl<E: BarrierEnd> Body for BarrierBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.end.wait()?;
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        let mut delays = fastrand::Rng::with_seed(self.rank as u64);
        for round in 1..=rounds {
            dawdle(&mut delays);
            // ORDERING: Relaxed, to order it is what the barrier under test is for
            self.witness.0[self.rank].store(round, Ordering::Relaxed);
            self.end.wait()?;
            self.witness.all_came(round)?;
        }
        Ok(())
    }
}

impl Witness {
    /// For the threads of this process.
    pub fn new(members: usize) -> Self {
        Self::lay_out(&mut Arena::heap(), members).expect("the heap has room")
    }

    /// In memory that all members lay out alike.
    ///
    /// # Errors
    /// An `ArenaError` if the memory has no room for it.
    pub fn lay_out(arena: &mut Arena, members: usize) -> Result<Self, ArenaError> {
        arena.slice(members).map(Self)
    }

    fn all_came(&self, round: u64) -> Result<(), Failure> {
        for (rank, came) in self.0.iter().enumerate() {
            // ORDERING: Relaxed, to order it is what the barrier under test is for
            let came = came.load(Ordering::Relaxed);
            if came < round {
                let what = format!("a member left round {round} before member {rank}, at round {came}, had come");
                return Err(Failure::Wrong(what));
            }
            if came > round + 1 {
                return Err(Failure::Wrong(format!(
                    "member {rank} is at round {came} while one has just left {round}"
                )));
            }
        }
        Ok(())
    }
}

/// Comes late by nothing, a little, or long enough for others to wait properly.
fn dawdle(delays: &mut fastrand::Rng) {
    match delays.u32(0..8) {
        0 => yield_now(),
        1..4 => (0..delays.u32(1..64)).for_each(|_| spin_hint()),
        _ => {}
    }
}
