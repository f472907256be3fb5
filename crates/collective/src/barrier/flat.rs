//! Rank 0 scans a line per member, and releases all with one store.
//!
//! The reads of a scan overlap, so with members that share a cache it is close to one line transfer in and one out.
//!
//! Source: the first level of XHC (open-mpi/ompi `ompi/mca/coll/xhc`; Katevenis et al., ICPP 2023).

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place, PlaceSlice};

use super::{Family, Setup};
use crate::core::Core;
use crate::error::Error;
use crate::layout::Site;

/// One member's part; the words, which all share, hold the number of the last operation entered or released.
#[derive(Debug)]
pub(crate) struct Flat {
    /// By rank. Written by each member, read by rank 0.
    arrived: PlaceSlice<CacheLine<AtomicU64>>,
    /// Written by rank 0, read by the others.
    released: Place<CacheLine<AtomicU64>>,
}

impl Family for Flat {
    const NAME: &'static str = "flat";
    const ABOUT: &'static str = "rank 0 scans a line per member and releases all with one store";

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self { arrived: site.arena.slice(setup.members)?, released: site.arena.place()? })
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let operation = core.operation;
        if core.rank == 0 {
            return self.lead(core);
        }
        // ORDERING: Release, pairs with the Acquire in lead [arrived-flat]
        self.arrived[core.rank].store(operation, Ordering::Release);
        core.roll.bell(0).notify();
        let released = &self.released;
        // ORDERING: Acquire, pairs with the Release in lead [released]
        core.wait_at_common_bell(|| (released.load(Ordering::Acquire) >= operation).then_some(()))
    }
}

impl Flat {
    fn lead(&mut self, core: &mut Core) -> Result<(), Error> {
        let operation = core.operation;
        for arrived in &self.arrived[1..] {
            // ORDERING: Acquire, pairs with the Release in wait [arrived-flat]
            core.wait_at_own_bell(|| (arrived.load(Ordering::Acquire) >= operation).then_some(()))?;
        }
        // ORDERING: Release, pairs with the Acquire in wait [released]
        self.released.store(operation, Ordering::Release);
        core.roll.common.notify();
        Ok(())
    }
}
