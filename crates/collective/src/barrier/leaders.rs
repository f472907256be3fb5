//! Each cluster gathers at its leader, the leaders disseminate among themselves, each releases its cluster.
//!
//! Between two clusters a message each way, both at once, takes the place of one up and one down a tree. Take it where
//! clusters are far from each other and few: the planner says when. A plan without leaders has one, the root of its
//! trees, and then this is the tree barrier.
//!
//! Source: the hierarchical barriers of the Open MPI collectives (Graham, Shipman, MPI Support for Multi-core Architectures:
//! Optimized Shared Memory Collectives, 2008), with planned trees and order.

use corecast_base::ArenaError;
use corecast_plan::simulate;

use super::dissemination::Dissemination;
use super::tree::MessageTree;
use super::{Family, Setup, Wants};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Leaders {
    cluster: MessageTree,
    /// The exchange of a leader with the others; `None` at other members.
    exchange: Option<Dissemination>,
}

impl Family for Leaders {
    const NAME: &'static str = "leaders";
    const ABOUT: &'static str = "clusters gather at their leaders, who exchange and release them";
    const WANTS: Wants = Wants::Leaders;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        let cluster = MessageTree::apart(setup, &setup.leaders, site)?;
        Ok(Self { cluster, exchange: Dissemination::among(&setup.leaders, site)? })
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        simulate::leaders(setup.problem, setup.meeting.up(), &setup.meeting.tree, &setup.leaders)
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        self.cluster.gather(core)?;
        if let Some(exchange) = &mut self.exchange {
            exchange.wait(core)?;
        }
        self.cluster.release(core)
    }
}
