//! In round r every member signals the one 2^r places further on and waits for the one 2^r places back.
//!
//! The places are those of the planned order, in which near members talk in many rounds and far ones in few.
//! After ceil(log2 n) rounds everybody has heard, directly or through others, from everybody; for two members it is the
//! bare exchange of two flags. Each member and round has a line of its own with one writer and one reader, which holds
//! the number of the last operation signalled: it only grows, so nothing is ever reset and a member that is one barrier
//! ahead does no harm.
//!
//! Source: D. Hensgen, R. Finkel, U. Manber, Two Algorithms for Barrier Synchronization, 1988; J. Mellor-Crummey,
//! M. Scott, Algorithms for Scalable Synchronization on Shared-Memory Multiprocessors, 1991.

use corecast_base::CacheLine;
use corecast_base::sync::{Arc, AtomicU64, Ordering};

use super::{Family, Setup};
use crate::core::Core;
use crate::error::Error;

/// `lines[place * rounds + round]`: the last operation for which the member at that place of the order was signalled in
/// that round. Written by the member 2^round places back, read by the one at `place`.
type Lines = Arc<Box<[CacheLine<AtomicU64>]>>;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Dissemination {
    lines: Lines,
    rounds: Vec<Round>,
}

#[derive(Debug)]
struct Round {
    /// The rank to signal.
    to: usize,
    /// The line to signal it on.
    theirs: usize,
    /// The line to be signalled on.
    own: usize,
}

impl Family for Dissemination {
    const NAME: &'static str = "dissemination";
    const ABOUT: &'static str = "everybody signals the member 1, 2, 4, .. places further on; log2 n rounds";

    fn all(setup: &Setup<'_>) -> Vec<Self> {
        let mut parts = Self::among(&setup.order);
        parts.sort_by_key(|(rank, _)| *rank);
        parts.into_iter().map(|(_, part)| part).collect()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let operation = core.operation;
        for round in &self.rounds {
            // ORDERING: Release, pairs with the Acquire below at the member signalled [arrived]
            self.lines[round.theirs].store(operation, Ordering::Release);
            core.roll.bell(round.to).notify();
            let own = &self.lines[round.own];
            // ORDERING: Acquire, pairs with the Release above at the member that signals [arrived]
            core.wait_at_own_bell(|| (own.load(Ordering::Acquire) >= operation).then_some(()))?;
        }
        Ok(())
    }
}

impl Dissemination {
    /// The parts of these members, in this order, who disseminate among themselves.
    pub(super) fn among(order: &[usize]) -> Vec<(usize, Self)> {
        let n = order.len();
        let rounds = n.next_power_of_two().ilog2() as usize;
        let lines: Lines = Arc::new((0..n * rounds).map(|_| CacheLine::new(AtomicU64::new(0))).collect());
        let round = |place: usize, round: usize| {
            let to = (place + (1 << round)) % n;
            Round { to: order[to], theirs: to * rounds + round, own: place * rounds + round }
        };
        let part = |place| Self { lines: Arc::clone(&lines), rounds: (0..rounds).map(|r| round(place, r)).collect() };
        order.iter().enumerate().map(|(place, &rank)| (rank, part(place))).collect()
    }
}
