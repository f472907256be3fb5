//! The dissemination barrier as published, with each flag on a cache line of its own.
//!
//! In round r member i signals member i + 2^r and waits for member i - 2^r (modulo n); after ceil(log2 n) rounds everybody
//! has heard of everybody. Flags carry the number of the episode, so that they are never reset.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988; J. Mellor-Crummey,
//! M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991.

use std::sync::Arc;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};

use super::bodies::{BarrierEnd, barrier_bodies};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Patience};

pub(super) struct Dissemination;

/// The episode that has been signalled; written by the member 2^r before, polled by the owner.
type Flag = CacheLine<AtomicU64>;

struct End {
    rank: usize,
    episode: u64,
    /// `flags[member][round]`.
    flags: Arc<Vec<Vec<Flag>>>,
    patience: Patience,
    abort: Arc<Abort>,
}

impl Contender for Dissemination {
    fn name(&self) -> String {
        "dissemination".to_owned()
    }

    fn about(&self) -> String {
        "plain dissemination barrier, flags padded; yields after 50 us, at once if oversubscribed".to_owned()
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let members = setting.participants();
        let rounds = members.next_power_of_two().trailing_zeros();
        let flags = (0..members).map(|_| (0..rounds).map(|_| Flag::default()).collect()).collect();
        let flags: Arc<Vec<Vec<Flag>>> = Arc::new(flags);
        let end = |rank| End {
            rank,
            episode: 0,
            flags: Arc::clone(&flags),
            patience: setting.patience(),
            abort: Arc::clone(abort),
        };
        Ok(barrier_bodies((0..members).map(end).collect()))
    }
}

impl BarrierEnd for End {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        self.episode += 1;
        let members = self.flags.len();
        let mut distance = 1;
        for (round, flag) in self.flags[self.rank].iter().enumerate() {
            let next = self.rank + distance;
            let partner = if next >= members { next - members } else { next };
            // ORDERING: Release, pairs with the Acquire of the partner below [dissemination]
            self.flags[partner][round].store(self.episode, Ordering::Release);
            // ORDERING: Acquire, pairs with the Release of the member before above [dissemination]
            self.patience.until(&self.abort, || flag.load(Ordering::Acquire) >= self.episode)?;
            distance *= 2;
        }
        Ok(())
    }
}
