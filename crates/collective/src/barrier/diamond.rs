//! One tour of a diamond ring, on which "processed" is "arrived", and a line that releases all.
//!
//! The root's signal spreads through scatter nodes and is gathered again. A member that has arrived, and has heard from all
//! members before it in the ring, signals all behind it. Every member acts once on the way, and no member signals or waits
//! for more than two (the root for four). When the tour is back at the root, all have arrived. It is mainly a way for
//! leaders to exchange.
//!
//! A node has one line for all behind it, so it signals with one store. Lines hold the stamp of the last operation, which
//! stands until all behind have seen it, as only then the tour comes to its end.
//!
//! Source: the paper on diamond rings, as `docs/design/diamond.md` repairs it.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{ArenaError, CacheLine, Place, PlaceSlice};
use corecast_plan::diamond::{Diamond as Ring, MAX_NODES};

use super::exchange::Exchange;
use super::times::Times;
use super::{Family, Setup, Wants};
use crate::MAX_MEMBERS;
use crate::core::Core;
use crate::error::Error;
use crate::membership::Site;

/// The number of members that a scatter node signals.
const ARITY: usize = 2;
const _: () = assert!(MAX_MEMBERS <= MAX_NODES);

type Line = Place<CacheLine<AtomicU64>>;

/// One member's part.
#[derive(Debug)]
pub(crate) struct Diamond {
    is_root: bool,
    /// The stamp of the last operation whose tour has passed this node; at the root, that it has begun. Written by this
    /// member, read by all behind it.
    own: Line,
    /// The ranks of those behind it.
    successors: Vec<usize>,
    /// The lines of those before it.
    predecessors: Vec<Line>,
    /// The stamp of the last operation whose tour is over. Written by the root, read by all others.
    released: Line,
}

impl Family for Diamond {
    const NAME: &'static str = "diamond";
    const ABOUT: &'static str = "a tour of a diamond ring of arity 2, and one line that releases all";
    const WANTS: Wants = Wants::Trees;

    fn part(setup: &Setup<'_>, site: &mut Site) -> Result<Self, ArenaError> {
        Ok(Self::among(&near(setup), site)?.expect("every member is in the order"))
    }

    fn predicted(setup: &Setup<'_>) -> f64 {
        let mut times = Times::of(setup.problem);
        <Self as Exchange>::predict(&mut times, &near(setup));
        times.last()
    }

    #[inline]
    fn wait(&mut self, core: &mut Core) -> Result<(), Error> {
        let (stamp, released) = (core.stamp.word(), &self.released);
        if self.is_root {
            self.pass_on(core);
            self.hear(core)?;
            // ORDERING: Release, pairs with the Acquire below at the others [tour-over]
            released.store(stamp, Ordering::Release);
            core.table.common.notify();
            return Ok(());
        }
        if !self.has_passed_on(core) {
            self.hear(core)?;
            self.pass_on(core);
        }
        // ORDERING: Acquire, pairs with the Release above at the root [tour-over]
        core.wait_at_common_word(|| (released.load(Ordering::Acquire) == stamp).then_some(()))
    }
}

impl Diamond {
    #[inline]
    fn pass_on(&self, core: &Core) {
        // ORDERING: Release, pairs with the Acquire in hear at those behind [tour]
        self.own.store(core.stamp.word(), Ordering::Release);
        self.successors.iter().for_each(|&rank| core.table.wake_word(rank).notify());
    }

    /// True if an earlier call got this far before its limit ended it. The members before this node may then be in the next
    /// operation.
    #[inline]
    fn has_passed_on(&self, core: &Core) -> bool {
        // ORDERING: Relaxed, this member's own
        self.own.load(Ordering::Relaxed) == core.stamp.word()
    }

    #[inline]
    fn hear(&self, core: &mut Core) -> Result<(), Error> {
        let stamp = core.stamp.word();
        for before in &self.predecessors {
            // ORDERING: Acquire, pairs with the Release in pass_on at those before [tour]
            core.wait_at_own_word(|| (before.load(Ordering::Acquire) == stamp).then_some(()))?;
        }
        Ok(())
    }
}

impl Exchange for Diamond {
    const HYBRID: &'static str = "hybrid-diamond";
    const ABOUT: &'static str = "clusters gather at leaders, who make a tour of a diamond ring";

    fn among(leaders: &[usize], site: &mut Site) -> Result<Option<Self>, ArenaError> {
        let lines: PlaceSlice<CacheLine<AtomicU64>> = site.arena.slice(leaders.len())?;
        let released = site.arena.place()?;
        if !leaders.contains(&site.rank) {
            return Ok(None);
        }
        let (ring, ranks) = placed(leaders);
        let node = ranks.iter().position(|&rank| rank == site.rank).expect("the walk meets every node");
        let line = |node: usize| lines.place(node).expect("one for each node");
        Ok(Some(Self {
            is_root: node == 0,
            own: line(node),
            successors: ring.successors(node).into_iter().map(|edge| ranks[edge.to]).collect(),
            predecessors: ring.predecessors(node).into_iter().map(line).collect(),
            released,
        }))
    }

    fn predict(times: &mut Times<'_>, leaders: &[usize]) {
        let (ring, ranks) = placed(leaders);
        let before = |node: usize| ring.predecessors(node).into_iter().map(|node| ranks[node]).collect();
        let mut has_heard = vec![false; leaders.len()];
        has_heard[0] = true;
        // The next node to hear is one that hears from every node before it in the ring; the tour ends at the root.
        while let Some(next) = (1..leaders.len())
            .find(|&node| !has_heard[node] && ring.predecessors(node).into_iter().all(|node| has_heard[node]))
        {
            times.round(std::iter::once((ranks[next], before(next))));
            has_heard[next] = true;
        }
        times.round(std::iter::once((ranks[0], before(0))));
        times.release(&[ranks]);
    }

    #[inline]
    fn exchange(&mut self, core: &mut Core) -> Result<(), Error> {
        self.wait(core)
    }
}

/// The ring of these members, and the member at each of its nodes: neighbours share most of their ways in a walk through
/// it.
fn placed(leaders: &[usize]) -> (Ring, Vec<usize>) {
    let ring = Ring::new(leaders.len(), ARITY).expect("a group has no more members than a ring nodes");
    let mut ranks = vec![0; leaders.len()];
    ring.depth_first().into_iter().zip(leaders).for_each(|(node, &rank)| ranks[node] = rank);
    (ring, ranks)
}

/// All members, those of a cluster next to each other.
fn near(setup: &Setup<'_>) -> Vec<usize> {
    let mut near: Vec<usize> = (0..setup.members).collect();
    near.sort_by_cached_key(|&rank| setup.levels.iter().rev().map(|level| level[rank]).collect::<Vec<_>>());
    near
}
