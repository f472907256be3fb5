//! Rank 0 scans a line per member, and releases all with one store.
//!
//! The reads of a scan overlap, so with members that share a cache it is close to one line transfer in and one out.
//!
//! Source: the first level of XHC (open-mpi/ompi `ompi/mca/coll/xhc`; Katevenis et al., ICPP 2023).

use corecast_base::ArenaError;

use super::gathering::Gathering;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Flat(Gathering);

impl Family for Flat {
    const NAME: &'static str = "flat";
    const ABOUT: &'static str = "rank 0 scans a line per member and releases all with one store";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let all = (0..setup.members).collect();
        Ok(Self(Gathering::of(&[all], site)?))
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let groups = [(0..setup.members).collect()];
        let mut times = Times::of(setup.problem);
        times.gather(&groups);
        times.release(&groups);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.0.wait(core)
    }
}
