//! The loop around a barrier, and the check that nobody leaves it before all have entered.

use std::sync::Arc;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering, spin_hint, yield_now};

use super::Body;
use crate::failure::Failure;

/// One participant's end of a barrier.
pub(crate) trait BarrierEnd: Send + 'static {
    fn wait(&mut self) -> Result<(), Failure>;
}

struct BarrierBody<E> {
    rank: usize,
    end: E,
    witness: Arc<Witness>,
}

/// How often each participant has come to the barrier while it was checked; written by that participant, read by all.
struct Witness(Vec<CacheLine<AtomicU64>>);

/// A body for each end, by rank.
pub(crate) fn barrier_bodies<E: BarrierEnd>(ends: Vec<E>) -> Vec<Box<dyn Body>> {
    let witness = Arc::new(Witness(ends.iter().map(|_| CacheLine::default()).collect()));
    let body = |(rank, end)| Box::new(BarrierBody { rank, end, witness: Arc::clone(&witness) }) as Box<dyn Body>;
    ends.into_iter().enumerate().map(body).collect()
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
