//! Members of a cluster store lines that their leader scans, leaders exchange, and each releases its cluster with one store.
//!
//! As the barrier of leaders, but by lines that need no acknowledgement in the clusters, and with any exchange among the
//! leaders. Take it where clusters share a cache and are far from each other: several chiplets or sockets. Without clusters
//! in the plan there is one, and this is the flat barrier.
//!
//! Source: the hierarchical barriers of the Open MPI collectives (Graham, Shipman, MPI Support for Multi-core Architectures:
//! Optimized Shared Memory Collectives, 2008), with planned clusters and order.

use corecast_base::ArenaError;

use super::exchange::Exchange;
use super::gathering::Gathering;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Hybrid<E> {
    cluster: Gathering,
    /// The exchange of a leader with the others; `None` at other members.
    exchange: Option<E>,
}

impl<E: Exchange> Family for Hybrid<E> {
    const NAME: &'static str = E::HYBRID;
    const ABOUT: &'static str = E::ABOUT;
    const WANTS: Wants = Wants::Leaders;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let cluster = Gathering::of(&setup.clusters, site)?;
        Ok(Self { cluster, exchange: E::among(&setup.leaders, site)? })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        times.gather(&setup.clusters);
        E::predict(&mut times, &setup.leaders);
        times.release(&setup.clusters);
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.cluster.gather(core)?;
        if let Some(exchange) = &mut self.exchange {
            exchange.exchange(core)?;
        }
        self.cluster.release(core)
    }
}
