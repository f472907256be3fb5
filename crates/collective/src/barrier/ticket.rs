//! Every member takes a ticket; the one that takes the last ticket of a round opens the gate for all.
//!
//! It is the only barrier in which no member waits for a particular other one: the last to come releases the rest, at once
//! and with one store. So it is the best one when arrivals lie far apart, above all when members share CPUs. Its price is
//! one atomic addition per member on a line that all of them want. Nothing is reset.
//!
//! A ticket is a share of the operation's stamp, and the tickets of a complete round add up to a known sum. If a member
//! calls another operation, or called one before, no member finds that sum (except with a chance of one in 2^39), and the
//! gate stays closed.
//!
//! Source: the counter barrier of Mellor-Crummey and Scott 1991, with a ticket instead of a sense.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place};

use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Ticket {
    /// The sum of the tickets that all members have taken so far.
    taken: Place<CacheLine<AtomicU64>>,
    /// Rounds completed so far. Written by the last member of each round, read by all.
    open: Place<CacheLine<AtomicU64>>,
    members: u64,
    /// The current round, from 1.
    round: u64,
    /// The sum of all tickets when it is complete.
    complete: u64,
    /// The operation of the current round.
    operation: u64,
    /// The last round of which this member has taken a ticket.
    entered: u64,
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
        self.meet(core)
    }
}

impl Ticket {
    /// Returns when all have come to the operation at hand.
    #[inline]
    pub(crate) fn meet(&mut self, core: &mut Core) -> Result<(), Error> {
        self.turn_to(core);
        self.enter(core)
    }

    /// A member's part, where this number of tickets makes a round.
    pub(crate) fn among(members: usize, site: &mut Site) -> Result<Self, ArenaError> {
        let (taken, open) = (site.arena.place()?, site.arena.place()?);
        Ok(Self { taken, open, members: members as u64, round: 0, complete: 0, operation: 0, entered: 0 })
    }

    /// Turns to the round of the current operation. Every member does so in each operation, whether or not it takes a
    /// ticket.
    #[inline]
    pub(super) fn turn_to(&mut self, core: &Core) {
        if self.operation != core.operation {
            (self.round, self.operation) = (self.round + 1, core.operation);
            self.complete = self.complete.wrapping_add(self.members.wrapping_mul(core.stamp.share()));
        }
    }

    /// Takes a ticket of the current round and returns when all of its tickets are taken. A second call in that round takes
    /// no other ticket.
    #[inline]
    pub(super) fn enter(&mut self, core: &mut Core) -> Result<(), Error> {
        if self.entered != self.round {
            self.entered = self.round;
            let share = core.stamp.share();
            // ORDERING: AcqRel, pairs with itself at the other members: the last one has heard from all [taken]
            let taken = self.taken.fetch_add(share, Ordering::AcqRel).wrapping_add(share);
            if taken == self.complete {
                // ORDERING: Release, pairs with the Acquire in pass at the others [gate]
                self.open.store(self.round, Ordering::Release);
                core.table.common.notify();
                return Ok(());
            }
        }
        self.pass(core)
    }

    #[inline]
    fn pass(&self, core: &mut Core) -> Result<(), Error> {
        let (open, round) = (&self.open, self.round);
        // ORDERING: Acquire, pairs with the Release in enter at the last member [gate]
        core.wait_at_common_word(|| (open.load(Ordering::Acquire) >= round).then_some(()))
    }
}
