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

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place, PlaceSlice};

use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::layout::Site;

/// The last operation for which a member was signalled in one round. Written by the member 2^round places back.
type Line = Place<CacheLine<AtomicU64>>;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Dissemination {
    rounds: Vec<Round>,
}

#[derive(Debug)]
struct Round {
    /// The rank to signal.
    to: usize,
    /// The line to signal it on.
    theirs: Line,
    /// The line to be signalled on.
    own: Line,
}

impl Family for Dissemination {
    const NAME: &'static str = "dissemination";
    const ABOUT: &'static str = "everybody signals the member 1, 2, 4, .. places further on; log2 n rounds";
    const WANTS: Wants = Wants::Order;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self::among(&setup.order, site)?.expect("every member is in the order"))
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let operation = core.operation;
        for round in &self.rounds {
            // ORDERING: Release, pairs with the Acquire below at the member signalled [arrived]
            round.theirs.store(operation, Ordering::Release);
            core.roll.bell(round.to).notify();
            let own = &round.own;
            // ORDERING: Acquire, pairs with the Release above at the member that signals [arrived]
            core.wait_at_own_bell(|| (own.load(Ordering::Acquire) >= operation).then_some(()))?;
        }
        Ok(())
    }
}

impl Dissemination {
    /// The part of the member at `site`, if it is one of these members, who disseminate among themselves in this order.
    pub(super) fn among(order: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError> {
        let n = order.len();
        let rounds = n.next_power_of_two().ilog2() as usize;
        let lines: PlaceSlice<CacheLine<AtomicU64>> = site.arena.slice(n * rounds)?;
        let line = |place: usize, round: usize| lines.place(place * rounds + round).expect("one per place and round");
        let part = |place: usize| Self {
            rounds: (0..rounds)
                .map(|round| {
                    let to = (place + (1 << round)) % n;
                    Round { to: order[to], theirs: line(to, round), own: line(place, round) }
                })
                .collect(),
        };
        Ok(order.iter().position(|&rank| rank == site.rank).map(part))
    }
}
