//! The cheapest barrier of two participants: each writes a flag of its own and polls the other's.

use std::sync::Arc;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};

use super::bodies::{BarrierEnd, barrier_bodies};
use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Patience};

pub(super) struct TwoFlags;

struct End {
    round: u64,
    /// Written by this participant, polled by the other: the round it has come to.
    mine: Arc<CacheLine<AtomicU64>>,
    /// Written by the other participant.
    theirs: Arc<CacheLine<AtomicU64>>,
    patience: Patience,
    abort: Arc<Abort>,
}

impl Contender for TwoFlags {
    fn name(&self) -> String {
        "two-flags".to_owned()
    }

    fn about(&self) -> String {
        "bare exchange of two flags on lines of their own; polls for 50 us".to_owned()
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        let flags: [Arc<CacheLine<AtomicU64>>; 2] = Default::default();
        let end = |rank: usize| End {
            round: 0,
            mine: Arc::clone(&flags[rank]),
            theirs: Arc::clone(&flags[1 - rank]),
            patience: setting.patience(),
            abort: Arc::clone(abort),
        };
        Ok(barrier_bodies(vec![end(0), end(1)]))
    }
}

impl BarrierEnd for End {
    #[inline]
    fn wait(&mut self) -> Result<(), Failure> {
        self.round += 1;
        // ORDERING: Release, pairs with the Acquire of the other participant below [two-flags]
        self.mine.store(self.round, Ordering::Release);
        // ORDERING: Acquire, pairs with the Release of the other participant above [two-flags]
        self.patience.until(&self.abort, || self.theirs.load(Ordering::Acquire) >= self.round)
    }
}
