//! The state of one member: its ends of everything that the group laid out.

use crate::acknowledged::Routes;
use crate::barrier::Part;
use crate::choice::{Choice, DirectSizes, PlanInputs, Races};
use crate::core::Core;
use crate::error::Error;
use crate::membership::Survivors;
use crate::operation::all_read::AllRead;
use crate::operation::cluster_read::ClusterRead;
use crate::operation::exchange::Exchange;
use crate::operation::in_place::InPlace;
use crate::tree::TreeEdges;

use super::memory::ReservedMemory;
use super::spares::SpareParts;

/// The state of one member; it waits in the group until somebody joins as that member.
#[derive(Debug)]
pub(crate) struct Ends {
    pub(crate) core: Core,
    pub(crate) broadcast: TreeEdges,
    pub(crate) reduce: TreeEdges,
    /// The root of the tree planned for reductions.
    pub(crate) reduce_root: usize,
    pub(crate) barrier: Part,
    /// The sizes of values that allreduces show to all: as planned, or as races found.
    pub(crate) direct: DirectSizes,
    /// Memory for allreduces of one value; `None` if the group has too many members for it, or trees were asked for.
    pub(crate) all_read: Option<AllRead>,
    /// Memory for allreduces of one value by clusters; `None` if the group's choice has none.
    pub(crate) clusters: Option<Box<ClusterRead>>,
    /// Memory for allreduces and allgathers of slices; `None` until the first one, and where there is no room for it.
    pub(crate) exchange: Option<Box<Exchange>>,
    /// The members' windows for long slices; `None` if there are too many members for it, they are processes, or trees were asked
    /// for.
    pub(crate) in_place: Option<Box<InPlace>>,
    /// The ways of acknowledged broadcasts, worked out once for all members in this process.
    pub(crate) routes: std::sync::Arc<Routes>,
    /// The inputs from which parts of the group are planned.
    pub(crate) inputs: std::sync::Arc<PlanInputs>,
    /// The plans that the group was built with.
    pub(crate) choice: std::sync::Arc<Choice>,
    /// The result of the last race among its members.
    pub(crate) races: Option<std::sync::Arc<Races>>,
    /// The parts that races have replaced.
    pub(crate) spare_parts: SpareParts,
    /// The survivors once the group has failed, and the memory for their new group.
    pub(crate) survivors: Survivors,
    pub(crate) successor: ReservedMemory,
    /// The bytes laid out before the memory set aside for survivors.
    pub(crate) bytes: usize,
}

impl Ends {
    /// Lays out the memory in which slices are shown, if some are and it is not there yet.
    #[inline]
    pub(super) fn lay_out_exchange(&mut self) -> Result<(), Error> {
        let Self { core, direct, exchange, .. } = self;
        if exchange.is_none() && direct.has_slices() {
            let (rank, members) = (core.rank, core.members);
            *exchange = core.lay_out(|arena| Exchange::lay_out(rank, members, arena))?.map(Box::new);
        }
        Ok(())
    }
}
