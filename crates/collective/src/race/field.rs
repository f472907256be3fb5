//! Who races: what the model ranks first, beside controls that always do.

use std::hash::{DefaultHasher, Hash, Hasher};

use corecast_base::sync::Arc;
use corecast_base::wait::WakeWord;
use corecast_base::{Arena, ArenaError};
use corecast_plan::{Plan, Problem};

use super::Races;
use crate::barrier::{Barrier, Part, Wants};
use crate::basis::Basis;
use crate::choose::Planning;
use crate::error::BuildError;
use crate::layout::{Site, setup};
use crate::roll::Roll;

/// Who always runs: barriers that no machine makes look foolish.
pub(super) const CONTROLS: [Barrier; 3] = [Barrier::Tree, Barrier::Flat, Barrier::Ticket];
/// How many others run, the cheapest by the model.
const CHALLENGERS: usize = 6;
/// The most that run in one race.
pub(super) const MOST: usize = CONTROLS.len() + CHALLENGERS;

/// All who may race among the members of one group.
#[derive(Debug)]
pub(crate) struct Field {
    /// The controls, then the others.
    pub(super) barriers: Vec<Meeter>,
}

/// A barrier, as it is planned for the members.
#[derive(Debug)]
pub(crate) struct Meeter {
    pub(crate) barrier: Barrier,
    pub(crate) meeting: Plan,
    /// What it should cost by the model.
    pub(crate) predicted: f64,
}

/// How many of each list there is room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Starters {
    pub(super) barriers: usize,
    /// What they lay out; 0 where nobody has to know.
    pub(super) bytes: usize,
}

impl Field {
    /// Plans who may race. A plan is made for each kind of family, not for each family.
    pub(crate) fn of(planning: &Planning<'_>) -> Result<Self, BuildError> {
        let mut plans: Vec<(Wants, Plan)> = Vec::new();
        let (mut barriers, mut others) = (Vec::new(), Vec::new());
        for &barrier in Barrier::ALL {
            let wants = barrier.wants();
            if !plans.iter().any(|(planned, _)| *planned == wants) {
                plans.push((wants, planning.meeting_for(barrier)?));
            }
            let (_, plan) = plans.iter().find(|(planned, _)| *planned == wants).expect("it was planned above");
            let meeter = Meeter::new(planning.problem, barrier, plan.clone());
            if CONTROLS.contains(&barrier) { barriers.push(meeter) } else { others.push(meeter) }
        }
        others.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
        barriers.extend(others.into_iter().take(CHALLENGERS));
        Ok(Self { barriers })
    }

    /// True if what was found is to use one of these.
    pub(super) fn has(&self, races: &Races) -> bool {
        self.meeter(races.barrier.winner).is_some()
    }

    pub(crate) fn meeter(&self, barrier: Barrier) -> Option<&Meeter> {
        self.barriers.iter().find(|meeter| meeter.barrier == barrier)
    }

    /// What all lay out, tried on the heap.
    pub(crate) fn bytes(&self, basis: &Basis) -> Result<usize, ArenaError> {
        self.barriers.iter().map(|meeter| meeter.bytes(basis)).sum()
    }

    /// Those that a memory with so much left has room for, in their order: all of them where it has no end.
    pub(super) fn starters(&self, basis: &Basis, left: Option<usize>) -> Result<Starters, ArenaError> {
        let Some(left) = left else { return Ok(Starters { barriers: self.barriers.len(), bytes: 0 }) };
        let mut bytes = 0;
        let mut fitting = 0;
        for meeter in &self.barriers {
            let more = meeter.bytes(basis)?;
            if bytes + more > left {
                break;
            }
            (bytes, fitting) = (bytes + more, fitting + 1);
        }
        Ok(Starters { barriers: fitting, bytes })
    }

    /// A number that tells other fields and starters from these, to those who have the same code.
    pub(super) fn digest(&self, starters: Starters) -> u64 {
        let mut hasher = DefaultHasher::new();
        (starters.barriers, starters.bytes).hash(&mut hasher);
        self.barriers.iter().for_each(|meeter| meeter.barrier.name().hash(&mut hasher));
        hasher.finish()
    }
}

impl Meeter {
    pub(crate) fn new(problem: &Problem, barrier: Barrier, meeting: Plan) -> Self {
        let predicted = barrier.predicted(&setup(problem, &meeting));
        Self { barrier, meeting, predicted }
    }

    /// The part of the member at `site`.
    pub(super) fn part(&self, basis: &Basis, site: &mut Site) -> Result<Part, ArenaError> {
        self.barrier.part(&setup(&basis.problem, &self.meeting), site)
    }

    /// What each member lays out, tried on the heap.
    fn bytes(&self, basis: &Basis) -> Result<usize, ArenaError> {
        let mut site = trial_site(basis)?;
        self.part(basis, &mut site)?;
        Ok(site.arena.bytes())
    }
}

/// Where a member's lines can be laid out to count them.
fn trial_site(basis: &Basis) -> Result<Site, ArenaError> {
    let bell = |cell| WakeWord::of_threads(basis.wishes.wait, cell);
    let roll = Roll::lay_out(&mut Arena::heap(), basis.members(), bell)?;
    Ok(Site { rank: 0, roll: Arc::new(roll), arena: Arena::heap() })
}
