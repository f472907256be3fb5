//! Arrivals up the planned tree, a line each; the root releases all with one store.
//!
//! Take it where reaching many readers with one line costs little more than reaching the first: the planner decides, if the
//! machine model has the measured curve of readers.
//!
//! Source: the two halves are those of the release tree and of the flat barrier.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place};

use super::gathering::Gathering;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct ReleaseLine {
    up: Gathering,
    /// The stamp of the last operation released. Written by the root of the tree, read by all others.
    released: Place<CacheLine<AtomicU64>>,
}

impl Family for ReleaseLine {
    const NAME: &'static str = "release-line";
    const ABOUT: &'static str = "lines up the planned tree; its root releases all with one store";
    const WANTS: Wants = Wants::MessageTrees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self { up: Gathering::of(&setup.up.groups(), site)?, released: site.arena.place()? })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        times.gather(&setup.up.groups());
        let root = setup.meeting.up().root();
        times.release(&[std::iter::once(root).chain((0..setup.members).filter(|&rank| rank != root)).collect()]);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.up.gather(core)?;
        let (stamp, released) = (core.stamp.word(), &self.released);
        if self.up.leads_all() {
            // ORDERING: Release, pairs with the Acquire below at the others [all-released]
            released.store(stamp, Ordering::Release);
            core.table.common.notify();
            return Ok(());
        }
        // ORDERING: Acquire, pairs with the Release above at the root [all-released]
        core.wait_at_common_word(|| (released.load(Ordering::Acquire) == stamp).then_some(()))
    }
}
