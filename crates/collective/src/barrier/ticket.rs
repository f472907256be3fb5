//! Everybody takes a ticket; who takes the last one of a round opens the gate for all.
//!
//! The only barrier in which nobody waits for a particular member: whoever comes last releases the rest, at once and with
//! one store. That makes it the best one when arrivals lie far apart, above all when members share CPUs. Its price is one
//! atomic addition per member on a line that all want. Both words only grow, so nothing is reset.
//!
//! Source: the counter barrier of Mellor-Crummey and Scott 1991, with a ticket instead of a sense.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place};

use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::layout::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// Tickets taken so far, by everybody.
    taken: Place<CacheLine<AtomicU64>>,
    /// Rounds completed so far. Written by the last member of each round, read by all.
    open: Place<CacheLine<AtomicU64>>,
    members: u64,
    /// The last round of which this member has taken a ticket.
    round: u64,
    /// The operation in which it did.
    operation: u64,
}

impl Family for Ticket {
    const NAME: &'static str = "ticket";
    const ABOUT: &'static str = "everybody takes a ticket, the last one opens the gate for all";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Self::among(setup.members, site)
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        times.take_turns(&(0..setup.members).collect::<Vec<_>>());
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let is_new = self.operation != core.operation;
        self.enter(core, self.round + u64::from(is_new))
    }
}

impl Ticket {
    /// The part of any who may take one of so many tickets.
    pub(super) fn among(members: usize, site: &mut Site) -> Result<Self, ArenaError> {
        let (taken, open) = (site.arena.place()?, site.arena.place()?);
        Ok(Self { taken, open, members: members as u64, round: 0, operation: 0 })
    }

    /// Takes a ticket of a round, counted from 1, and returns when all of it are taken. Called again for the same operation it
    /// takes no other.
    #[inline]
    pub(super) fn enter(&mut self, core: &mut Core, round: u64) -> Result<(), Error> {
        if self.operation == core.operation {
            return self.pass(core, round);
        }
        (self.round, self.operation) = (round, core.operation);
        // ORDERING: AcqRel, pairs with itself at the other members: the last one has heard from all [taken]
        let ticket = self.taken.fetch_add(1, Ordering::AcqRel) + 1;
        if ticket == round * self.members {
            // ORDERING: Release, pairs with the Acquire in pass at the others [gate]
            self.open.store(round, Ordering::Release);
            core.roll.common.notify();
            return Ok(());
        }
        self.pass(core, round)
    }

    #[inline]
    fn pass(&self, core: &mut Core, round: u64) -> Result<(), Error> {
        let open = &self.open;
        // ORDERING: Acquire, pairs with the Release in enter at the last member [gate]
        core.wait_at_common_bell(|| (open.load(Ordering::Acquire) >= round).then_some(()))
    }
}
