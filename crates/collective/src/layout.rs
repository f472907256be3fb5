//! The ends of one member, built over memory that all members lay out alike.
//!
//! No member builds the ends of others, as dropping an end says that its member is gone. So every member, in any process,
//! goes through the same steps in the same order: first the [`Roll`], one for each process, then the web of broadcasts,
//! that of reductions, the barrier, the slots for single values, and the memory set aside for survivors of a fault. The
//! parts that follow from the choice alone, and are the same for all, are computed once, in [`Layout::of`].

use std::cell::LazyCell;

use corecast_base::sync::Arc;
use corecast_base::wait::Waiter;
use corecast_base::{Arena, ArenaError};
use corecast_plan::{Plan, Problem, Schedule, Scheme, Tree};

use crate::all_read::AllRead;
use crate::barrier::{Barrier, Lazy, Setup};
use crate::basis::Basis;
use crate::choose::{Choice, Trees};
use crate::commons::Plot;
use crate::core::Core;
use crate::member::Ends;
use crate::race::Shelves;
use crate::roll::Roll;
use crate::survivors::Survivors;
use crate::web::WebPlan;

/// The place where a member's ends are built.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) rank: usize,
    pub(crate) roll: Arc<Roll>,
    /// The memory behind the roll, at first.
    pub(crate) arena: Arena,
}

/// The inputs from which all members' ends are built.
pub(crate) struct Layout<'a> {
    basis: &'a std::sync::Arc<Basis>,
    choice: &'a std::sync::Arc<Choice>,
    broadcast: WebPlan,
    reduce: WebPlan,
    reduce_root: usize,
    barrier: Barrier,
    setup: Setup<'a>,
}

impl<'a> Layout<'a> {
    pub(crate) fn of(basis: &'a std::sync::Arc<Basis>, choice: &'a std::sync::Arc<Choice>) -> Self {
        let (broadcast, reduce) = (&choice.broadcast.tree, &choice.reduce.tree);
        let problem = &*basis.problem;
        Self {
            basis,
            choice,
            broadcast: in_send_order(broadcast),
            reduce: in_arrival_order(problem, reduce),
            reduce_root: reduce.root(),
            barrier: choice.barrier,
            setup: setup(problem, &choice.meeting),
        }
    }

    /// The ends of the member at `site`, which waits with `waiter`.
    pub(crate) fn ends(&self, mut site: Site, waiter: Waiter) -> Result<Ends, ArenaError> {
        let broadcast = self.broadcast.web(&[], &mut site)?;
        let reduce = self.reduce.web(&[], &mut site)?;
        let barrier = self.barrier.part(&self.setup, &mut site)?;
        let all_read = match self.basis.wishes.trees {
            Trees::Cheapest if self.choice.is_open() => {
                AllRead::lay_out(self.basis.members(), self.choice.is_crowded, &mut site)?
            }
            _ => None,
        };
        let Site { rank, roll, mut arena } = site;
        let survivors = Survivors::lay_out(&mut arena, self.basis.members())?;
        let bytes = arena.bytes();
        let successor = Plot::of_successor(&mut arena)?;
        let core = Core::new(rank, self.basis.members(), waiter, roll, arena);
        Ok(Ends {
            core,
            broadcast,
            reduce,
            reduce_root: self.reduce_root,
            barrier,
            all_read,
            exchange: None,
            routes: std::sync::Arc::clone(&self.basis.routes),
            basis: std::sync::Arc::clone(self.basis),
            choice: std::sync::Arc::clone(self.choice),
            races: None,
            shelves: Shelves::default(),
            survivors,
            successor,
            bytes,
        })
    }
}

/// The plan of a barrier, as its family's parts need it.
pub(crate) fn setup<'a>(problem: &'a Problem, meeting: &'a Plan) -> Setup<'a> {
    let members = problem.len();
    let (order, leaders) = match &meeting.scheme {
        Scheme::Dissemination(order) => (order.clone(), vec![meeting.tree.root()]),
        Scheme::Leaders(leaders) => ((0..members).collect(), leaders.clone()),
        _ => ((0..members).collect(), vec![meeting.tree.root()]),
    };
    let up = lazy(|| in_arrival_order(problem, meeting.up()));
    let down = lazy(|| in_send_order(&meeting.tree));
    let led = leaders.clone();
    let clusters = lazy(move || clusters(meeting.up(), &led));
    let levels = lazy(|| problem.levels());
    Setup { members, problem, meeting, order, leaders, up, down, clusters, levels }
}

/// Each leader, and the members below it in the tree that have no leader below it.
fn clusters(tree: &Tree, leaders: &[usize]) -> Vec<Vec<usize>> {
    let mut clusters: Vec<Vec<usize>> = leaders.iter().map(|&leader| vec![leader]).collect();
    let mut led_by = vec![0; tree.len()];
    leaders.iter().enumerate().for_each(|(cluster, &leader)| led_by[leader] = cluster);
    for &member in tree.top_down().iter().filter(|member| !leaders.contains(member)) {
        led_by[member] = led_by[tree.parent(member).expect("the root leads")];
        clusters[led_by[member]].push(member);
    }
    clusters
}

fn lazy<'a, T>(make: impl FnOnce() -> T + 'a) -> Lazy<'a, T> {
    LazyCell::new(Box::new(make))
}

pub(crate) fn in_send_order(tree: &Tree) -> WebPlan {
    WebPlan::of(tree, |rank| tree.children(rank).to_vec())
}

/// Each member handles its children in the order in which their values are expected.
pub(crate) fn in_arrival_order(problem: &Problem, tree: &Tree) -> WebPlan {
    let schedule = Schedule::reduction(problem, tree, 0.0);
    WebPlan::of(tree, |member| {
        let mut arrivals: Vec<_> = schedule.received_by(member).collect();
        arrivals.sort_by(|a, b| a.receive_start.total_cmp(&b.receive_start));
        arrivals.into_iter().map(|transfer| transfer.from).collect()
    })
}

#[cfg(all(test, not(loom)))]
pub(crate) mod tests {
    use std::thread;

    use super::*;
    use crate::basis::Wishes;
    use crate::broadcast::broadcast;
    use crate::call::{Call, Operation};
    use crate::commons::Planned;
    use crate::error::Error;
    use crate::reduce::{Order, Reduction, reduce};
    use corecast_base::CpuId;
    use corecast_base::region::{RegionPlan, Section, SharedRegion};
    use corecast_base::sync::{AtomicU64, Fences, Ordering, Scope};
    use corecast_base::wait::{CpuSharing, Wait, WakeWord};
    use corecast_machine::{Cpu, Machine, Topology};
    use corecast_plan::Effort;

    /// The sites of the members of a group of threads.
    pub(crate) fn sites(members: usize) -> impl Iterator<Item = Site> {
        let mut arena = Arena::heap();
        let roll = Roll::lay_out(&mut arena, members, |cell| WakeWord::of_threads(Wait::Adaptive, cell));
        let roll = Arc::new(roll.expect("the heap has room"));
        (0..members).map(move |rank| Site { rank, roll: Arc::clone(&roll), arena: arena.clone() })
    }

    const MEMBERS: u32 = 5;

    pub(crate) fn chosen(barrier: Barrier) -> Planned {
        let cpu = |id| Cpu { numa: Some(id / 2), ..Cpu::flat(CpuId::new(id)) };
        let cpus = (0..MEMBERS).map(cpu).collect();
        let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let wishes =
            Wishes { wait: Wait::Adaptive, trees: Trees::Cheapest, barrier: Some(barrier), effort: Effort::Quick };
        Planned::of_part(Basis::of_all(problem, wishes, None, false, false))
    }

    fn waiter() -> Waiter {
        Waiter::new(Wait::Adaptive, CpuSharing::unpinned(MEMBERS as usize), None)
    }

    /// A section of a region, and the kind of the bells in it.
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
        let bell = |cell| WakeWord::within(cell, region.parkers(), region.me().index, Some(Fences::of(Scope::Machine)));
        let roll = Arc::new(Roll::lay_out(&mut arena, MEMBERS as usize, bell)?);
        layout.ends(Site { rank, roll, arena }, waiter())
    }

    fn work(ends: &mut Ends) -> Result<(), Error> {
        let Ends { core, broadcast: down, reduce: up, barrier, .. } = ends;
        let lines = core.lay_out(|arena| arena.slice::<AtomicU64>(MEMBERS as usize))?;
        for round in 1..=50u64 {
            core.begin(Call::of(Operation::Barrier))?;
            lines[core.rank].store(round, Ordering::Relaxed);
            barrier.wait(core)?;
            assert!(lines.iter().all(|line| line.load(Ordering::Relaxed) >= round));
            let root = round as usize % core.members;
            let mut value = if core.rank == root { [round; 40] } else { [0; 40] };
            core.begin(Call::rooted(Operation::Broadcast, root))?;
            broadcast(core, down, root, &mut value, &mut Default::default())?;
            assert_eq!(value, [round; 40]);
            core.begin(Order::Rank.reduce(root))?;
            let bits = reduce(core, up, root, Order::Rank, &mut Reduction::of(1u64 << core.rank), |a, b| a + b)?;
            assert_eq!(bits, (core.rank == root).then_some((1 << MEMBERS) - 1));
        }
        Ok(())
    }

    #[test]
    fn members_that_share_nothing_but_a_section_are_a_group() {
        for &barrier in Barrier::ALL {
            let planned = chosen(barrier);
            let layout = Layout::of(&planned.basis, &planned.choice);
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
            let layout = Layout::of(&planned.basis, &planned.choice);
            let (region, section) = region(planned.bytes().expect("the heap has room") - 128);
            let refused = own_ends(&layout, &region, &section, 0).map(drop);
            assert!(matches!(refused, Err(ArenaError::Full { .. })), "{barrier}: {refused:?}");
        }
    }
}
