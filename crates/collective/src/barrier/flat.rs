//! Rank 0 scans a line per member, and releases all with one store.
//!
//! The reads of a scan overlap, so with members that share a cache it is close to one line transfer in and one out.
//!
//! Source: the first level of XHC (open-mpi/ompi `ompi/mca/coll/xhc`; Katevenis et al., ICPP 2023).

use corecast_base::CacheLine;
use corecast_base::sync::{Arc, AtomicU64, Ordering};

use super::{Family, Setup};
use crate::core::Core;
use crate::error::Error;

/// What all members share; the words hold the number of the last operation entered or released.
#[derive(Debug)]
struct Lines {
    /// Written by each member, read by rank 0.
    arrived: Box<[CacheLine<AtomicU64>]>,
    /// Written by rank 0, read by the others.
    released: CacheLine<AtomicU64>,
}

/// One member's part.
#[derive(Debug)]
pub(crate) struct Flat {
    lines: Arc<Lines>,
}

impl Family for Flat {
    const NAME: &'static str = "flat";
    const ABOUT: &'static str = "rank 0 scans a line per member and releases all with one store";

    fn all(setup: &Setup<'_>) -> Vec<Self> {
        let lines = Arc::new(Lines {
            arrived: (0..setup.members).map(|_| CacheLine::new(AtomicU64::new(0))).collect(),
            released: CacheLine::new(AtomicU64::new(0)),
        });
        (0..setup.members).map(|_| Self { lines: Arc::clone(&lines) }).collect()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let operation = core.operation;
        if core.rank == 0 {
            return self.lead(core);
        }
        // ORDERING: Release, pairs with the Acquire in lead [arrived-flat]
        self.lines.arrived[core.rank].store(operation, Ordering::Release);
        core.roll.bell(0).notify();
        let released = &self.lines.released;
        // ORDERING: Acquire, pairs with the Release in lead [released]
        core.wait_at_common_bell(|| (released.load(Ordering::Acquire) >= operation).then_some(()))
    }
}

impl Flat {
    fn lead(&mut self, core: &mut Core) -> Result<(), Error> {
        let operation = core.operation;
        for arrived in &self.lines.arrived[1..] {
            // ORDERING: Acquire, pairs with the Release in wait [arrived-flat]
            core.wait_at_own_bell(|| (arrived.load(Ordering::Acquire) >= operation).then_some(()))?;
        }
        // ORDERING: Release, pairs with the Acquire in wait [released]
        self.lines.released.store(operation, Ordering::Release);
        core.roll.common.notify();
        Ok(())
    }
}
