//! The ends of one member, built over memory that all members lay out alike.
//!
//! No member builds the ends of others, as dropping an end says that its member is gone. So every member, in any process,
//! goes through the same steps in the same order: first the [`MemberTable`], one for each process, then the edges of
//! broadcasts, those of reductions, the barrier, the slots for single values shown to all or by clusters, and the memory set
//! aside for survivors of a fault. The parts that follow from the choice alone, and are the same for all, are computed once,
//! in [`Layout::of`].

use corecast_base::ArenaError;
use corecast_base::wait::Waiter;

use super::spares::SpareParts;
use super::{Ends, ReservedMemory};
use crate::barrier::{Barrier, Setup};
use crate::choice::{Choice, PlanInputs, Trees};
use crate::core::Core;
use crate::membership::{Site, Survivors};
use crate::operation::all_read::AllRead;
use crate::operation::cluster_read::ClusterRead;
use crate::operation::in_place::InPlace;
use crate::tree::TreeLayout;

/// The inputs from which all members' ends are built.
pub(crate) struct Layout<'a> {
    inputs: &'a std::sync::Arc<PlanInputs>,
    choice: &'a std::sync::Arc<Choice>,
    broadcast: TreeLayout,
    reduce: TreeLayout,
    reduce_root: usize,
    barrier: Barrier,
    setup: Setup<'a>,
}

impl<'a> Layout<'a> {
    pub(crate) fn of(inputs: &'a std::sync::Arc<PlanInputs>, choice: &'a std::sync::Arc<Choice>) -> Self {
        let (broadcast, reduce) = (&choice.broadcast.tree, &choice.reduce.tree);
        let problem = &*inputs.problem;
        Self {
            inputs,
            choice,
            broadcast: TreeLayout::in_send_order(broadcast),
            reduce: TreeLayout::in_arrival_order(problem, reduce),
            reduce_root: reduce.root(),
            barrier: choice.barrier,
            setup: Setup::of(problem, &choice.meeting),
        }
    }

    /// The ends of the member at `site`, which waits with `waiter`.
    pub(crate) fn ends(&self, mut site: Site, waiter: Waiter) -> Result<Ends, ArenaError> {
        let broadcast = self.broadcast.edges(&[], &mut site)?;
        let reduce = self.reduce.edges(&[], &mut site)?;
        let barrier = self.barrier.part(&self.setup, &mut site)?;
        let (members, is_crowded) = (self.inputs.members(), self.choice.is_crowded);
        let (all_read, in_place) = match self.inputs.settings.trees {
            Trees::Cheapest if self.choice.is_open() => (
                AllRead::lay_out(members, is_crowded, &mut site)?,
                InPlace::lay_out(site.rank, members, is_crowded, &mut site.arena)?.map(Box::new),
            ),
            _ => (None, None),
        };
        let clusters = self.choice.clusters.as_ref().filter(|_| self.choice.is_open());
        let clusters = clusters.map(|clusters| ClusterRead::lay_out(&clusters.groups, &mut site)).transpose()?;
        let Site { rank, table, mut arena } = site;
        let survivors = Survivors::lay_out(&mut arena, self.inputs.members())?;
        let bytes = arena.bytes();
        let successor = ReservedMemory::of_successor(&mut arena)?;
        let core = Core::new(rank, self.inputs.members(), waiter, table, arena);
        Ok(Ends {
            core,
            broadcast,
            reduce,
            reduce_root: self.reduce_root,
            barrier,
            direct: self.choice.direct,
            all_read,
            clusters: clusters.map(Box::new),
            exchange: None,
            in_place,
            routes: std::sync::Arc::clone(&self.inputs.routes),
            inputs: std::sync::Arc::clone(self.inputs),
            choice: std::sync::Arc::clone(self.choice),
            races: None,
            spare_parts: SpareParts::default(),
            survivors,
            successor,
            bytes,
        })
    }
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use std::thread;

    use super::*;
    use crate::call::{Call, CallKind};
    use crate::choice::Settings;
    use crate::error::Error;
    use crate::member::GroupPlan;
    use crate::membership::MemberTable;
    use crate::operation::reduce::pairwise;
    use crate::operation::{Order, Progress, Reduction, Value, broadcast, reduce};
    use corecast_base::Arena;
    use corecast_base::CpuId;
    use corecast_base::region::{RegionPlan, Section, SharedRegion};
    use corecast_base::sync::{Arc, AtomicU64, Fences, Ordering, Scope};
    use corecast_base::wait::{CpuSharing, Wait, WakeWord};
    use corecast_machine::{Cpu, Machine, Topology};
    use corecast_plan::{Effort, Problem};

    const MEMBERS: u32 = 5;

    pub(crate) fn chosen(barrier: Barrier) -> GroupPlan {
        let cpu = |id| Cpu { numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let cpus = (0..MEMBERS).map(cpu).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let settings =
            Settings { wait: Wait::Adaptive, trees: Trees::Cheapest, barrier: Some(barrier), effort: Effort::Quick };
        GroupPlan::of_part(PlanInputs::of_all(problem, settings, None, false, false))
    }

    fn waiter() -> Waiter {
        Waiter::new(Wait::Adaptive, CpuSharing::unpinned(MEMBERS as usize), None)
    }

    /// A section of a region, and the kind of the wake words in it.
    fn region(bytes: usize) -> (SharedRegion, Section) {
        let plan = RegionPlan::new().add("group", 1, [0; 6], bytes as u64).expect("a plan");
        let region = SharedRegion::memfd(&plan).expect("there is memory");
        let section = region.section(&region.entry("group").expect("declared"));
        (region, section)
    }

    /// The ends of one member, which knows nothing of the others except their memory.
    fn own_ends(
        layout: &Layout<'_>,
        region: &SharedRegion,
        section: &Section,
        rank: usize,
    ) -> Result<Ends, ArenaError> {
        let mut arena = Arena::within(section.clone());
        let wake_word =
            |cell| WakeWord::within(cell, region.parkers(), region.me().index, Some(Fences::of(Scope::Machine)));
        let table = Arc::new(MemberTable::lay_out(&mut arena, MEMBERS as usize, wake_word)?);
        layout.ends(Site { rank, table, arena }, waiter())
    }

    fn work(ends: &mut Ends) -> Result<(), Error> {
        let Ends { core, broadcast: down, reduce: up, barrier, .. } = ends;
        let lines = core.lay_out(|arena| arena.slice::<AtomicU64>(MEMBERS as usize))?;
        for round in 1..=50u64 {
            core.begin(Call::of(CallKind::Barrier))?;
            lines[core.rank].store(round, Ordering::Relaxed);
            barrier.wait(core)?;
            assert!(lines.iter().all(|line| line.load(Ordering::Relaxed) >= round));
            let root = round as usize % core.members;
            let mut value = if core.rank == root { [round; 40] } else { [0; 40] };
            core.begin(Call::rooted(CallKind::Broadcast, root))?;
            broadcast(core, down, root, &mut Value(&mut value), &mut Progress::default())?;
            assert_eq!(value, [round; 40]);
            core.begin(Order::Rank.reduce(root))?;
            let (mut bits, each) = (1u64 << core.rank, pairwise(|a, b| a + b));
            let message = &mut Value(&mut bits);
            reduce(core, up, root, Order::Rank, message, &mut Reduction::default(), each)?;
            assert!(core.rank != root || bits == (1 << MEMBERS) - 1);
        }
        Ok(())
    }

    #[test]
    fn members_that_share_nothing_but_a_section_are_a_group() {
        for &barrier in Barrier::ALL {
            let planned = chosen(barrier);
            let layout = Layout::of(&planned.inputs, &planned.choice);
            let (region, section) = region(planned.bytes().expect("the heap has room") + 128);
            let mut all: Vec<Ends> = (0..MEMBERS as usize)
                .map(|rank| own_ends(&layout, &region, &section, rank).expect("the section has room"))
                .collect();
            thread::scope(|scope| {
                for ends in &mut all {
                    scope.spawn(|| assert_eq!(work(ends), Ok(()), "{barrier}"));
                }
            });
            let more = all[0].core.lay_out(|arena| arena.slice::<AtomicU64>(1)).expect_err("nothing is left");
            assert!(matches!(more, Error::Memory(ArenaError::Full { .. })), "{more}");
        }
    }

    #[test]
    fn a_section_that_is_too_small_is_told() {
        for &barrier in Barrier::ALL {
            let planned = chosen(barrier);
            let layout = Layout::of(&planned.inputs, &planned.choice);
            let (region, section) = region(planned.bytes().expect("the heap has room") - 128);
            let refused = own_ends(&layout, &region, &section, 0).map(drop);
            assert!(matches!(refused, Err(ArenaError::Full { .. })), "{barrier}: {refused:?}");
        }
    }
}
