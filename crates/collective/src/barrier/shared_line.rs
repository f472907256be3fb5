//! The arrivals of all members lie side by side, four to a line, and every member reads all of them.
//!
//! A line brings everything that has been stored in it by then, so the last member to come leaves after one transfer. A
//! line of each member's own would first have to be taken from its reader to be written; this one is on its way already.
//! Take it for two members, or a few that share a cache: with n members the line changes hands n times.
//!
//! Each member has two words, which it takes in turn: it may be one barrier ahead of those that wait for it, and no further.
//!
//! Source: none; the effect is known as that of unpadded flags.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, LINE_BYTES, PlaceSlice};

use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// The words of a pair of lines.
const WORDS: usize = 2 * LINE_BYTES / size_of::<AtomicU64>();
/// Members that share it, with two words side by side each.
const SHARERS: usize = WORDS / 2;

/// The stamps of the last two operations that each of some members has entered. Each written by one, read by all.
type Lines = CacheLine<[AtomicU64; WORDS]>;

/// One member's part.
#[derive(Debug)]
pub(crate) struct SharedLine {
    rank: usize,
    members: usize,
    entered: PlaceSlice<Lines>,
    /// The member's word that the current operation uses.
    parity: usize,
    /// The operation that took it.
    operation: u64,
}

impl Family for SharedLine {
    const NAME: &'static str = "shared-line";
    const ABOUT: &'static str = "all arrivals side by side on a line, which everybody reads";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let entered = site.arena.slice(setup.members.div_ceil(SHARERS))?;
        Ok(Self { rank: site.rank, members: setup.members, entered, parity: 0, operation: 0 })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        times.change_hands(&(0..setup.members).collect::<Vec<_>>());
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        if self.operation != core.operation {
            (self.parity, self.operation) = (1 - self.parity, core.operation);
        }
        let (stamp, parity, members, entered) = (core.stamp.word(), self.parity, self.members, &self.entered);
        let of = |rank: usize| &entered[rank / SHARERS][2 * (rank % SHARERS) + parity];
        // ORDERING: Release, pairs with the Acquire below at all others [entered]
        of(self.rank).store(stamp, Ordering::Release);
        core.table.common.notify();
        let mut heard = 0;
        core.wait_at_common_word(|| {
            // ORDERING: Acquire, pairs with the Release above at that member [entered]
            while heard < members && of(heard).load(Ordering::Acquire) == stamp {
                heard += 1;
            }
            (heard == members).then_some(())
        })
    }
}
