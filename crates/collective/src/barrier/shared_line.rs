//! The arrivals of all members lie side by side, eight to a line, and everybody reads all of them.
//!
//! A line comes to a member with all that has been stored there by then, so whoever comes last leaves after one transfer,
//! and where a line of each member's own has to be taken from its reader before it is written, this one is on its way
//! already. Take it for two members, or a few that share a cache: with n of them the line changes hands n times.
//!
//! Source: none; the effect is known as that of unpadded flags.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, LINE_BYTES, PlaceSlice};

use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::layout::Site;

/// Members that share a line.
const SHARERS: usize = LINE_BYTES / size_of::<AtomicU64>();

/// The last operation that each of some members has entered. Each written by one, read by all.
type Line = CacheLine<[AtomicU64; SHARERS]>;

/// One member's part.
#[derive(Debug)]
pub(crate) struct SharedLine {
    rank: usize,
    members: usize,
    entered: PlaceSlice<Line>,
}

impl Family for SharedLine {
    const NAME: &'static str = "shared-line";
    const ABOUT: &'static str = "all arrivals side by side on a line, which everybody reads";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let entered = site.arena.slice(setup.members.div_ceil(SHARERS))?;
        Ok(Self { rank: site.rank, members: setup.members, entered })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        times.change_hands(&(0..setup.members).collect::<Vec<_>>());
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let (operation, members, entered) = (core.operation, self.members, &self.entered);
        let of = |rank: usize| &entered[rank / SHARERS][rank % SHARERS];
        // ORDERING: Release, pairs with the Acquire below at all others [entered]
        of(self.rank).store(operation, Ordering::Release);
        core.roll.common.notify();
        let mut heard = 0;
        core.wait_at_common_bell(|| {
            // ORDERING: Acquire, pairs with the Release above at that member [entered]
            while heard < members && of(heard).load(Ordering::Acquire) >= operation {
                heard += 1;
            }
            (heard == members).then_some(())
        })
    }
}
