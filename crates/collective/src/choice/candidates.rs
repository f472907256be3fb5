//! The candidates of a race: the model's best, beside controls that always run.

use std::hash::{DefaultHasher, Hash, Hasher};

use corecast_base::sync::Arc;
use corecast_base::wait::WakeWord;
use corecast_base::{Arena, ArenaError};
use corecast_plan::{AUTO, Operation, Plan, Problem, SHAPES, Tree};

use super::{Choice, PlanInputs, Planning};
use super::{Race, Races};
use crate::barrier::Setup;
use crate::barrier::{Barrier, Part, Wants};
use crate::error::BuildError;
use crate::membership::{MemberTable, Site};
use crate::tree::TreeEdges;
use crate::tree::TreeLayout;

/// The barriers that always run: they are reasonable on every machine.
pub(crate) const CONTROLS: [Barrier; 3] = [Barrier::Tree, Barrier::Flat, Barrier::Ticket];
/// How many other barriers run, the cheapest by the model.
const CHALLENGERS: usize = 6;
/// The most that run in one race.
pub(crate) const MOST: usize = CONTROLS.len() + CHALLENGERS;
/// The tree that always runs.
pub(crate) const TREE_CONTROL: &str = "cluster";
/// The number of shapes that run beside the control and the tree found by search, the cheapest by the model.
const SHAPES_RACED: usize = 3;
/// Shapes that nobody would use.
const NEVER: [&str; 1] = ["bad"];
/// Below this number of members all trees are one edge.
const FEWEST_WITH_TREES: usize = 3;

/// All candidates for the members of one group, each list with its controls first.
#[derive(Debug)]
pub(crate) struct Candidates {
    pub(crate) barriers: Vec<std::sync::Arc<PlannedBarrier>>,
    /// Trees to broadcast down, no two alike; none if there would be only one.
    pub(crate) broadcasts: Vec<std::sync::Arc<Plan>>,
    /// Trees to reduce up.
    pub(crate) reductions: Vec<std::sync::Arc<Plan>>,
}

/// A barrier, as it is planned for the members.
#[derive(Debug)]
pub(crate) struct PlannedBarrier {
    pub(crate) barrier: Barrier,
    pub(crate) meeting: Plan,
    /// Its predicted cost by the model.
    pub(crate) predicted: f64,
}

/// The number of candidates of each list that fit into memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CandidateCounts {
    pub(crate) barriers: usize,
    pub(crate) broadcasts: usize,
    pub(crate) reductions: usize,
    /// The bytes that they lay out; 0 where nothing limits the memory.
    pub(crate) bytes: usize,
}

impl Candidates {
    /// Plans the candidates that race beside what was chosen.
    pub(crate) fn of(planning: &Planning<'_>, choice: &Choice) -> Result<Self, BuildError> {
        let barriers = barriers(planning)?;
        let (broadcasts, reductions) = (trees(planning, &choice.broadcast)?, trees(planning, &choice.reduce)?);
        Ok(Self { barriers, broadcasts, reductions })
    }

    /// True if the result uses some of these.
    pub(crate) fn has(&self, races: &Races) -> bool {
        let has = |operation, plans: &[_], race: &Option<Race<String>>| match race {
            Some(race) => self.tree(operation, &race.winner).is_some(),
            None => plans.is_empty(),
        };
        self.planned(races.barrier.winner).is_some()
            && has(Operation::Broadcast, &self.broadcasts, &races.broadcast)
            && has(Operation::Reduce, &self.reductions, &races.reduce)
    }

    pub(crate) fn planned(&self, barrier: Barrier) -> Option<&std::sync::Arc<PlannedBarrier>> {
        self.barriers.iter().find(|planned| planned.barrier == barrier)
    }

    /// The tree of this planner for an operation.
    pub(crate) fn tree(&self, operation: Operation, planner: &str) -> Option<&std::sync::Arc<Plan>> {
        let plans = if operation == Operation::Reduce { &self.reductions } else { &self.broadcasts };
        plans.iter().find(|plan| plan.planner == planner)
    }

    /// The bytes that all of them lay out, tried on the heap.
    pub(crate) fn bytes(&self, inputs: &PlanInputs) -> Result<usize, ArenaError> {
        self.counts(inputs, Some(usize::MAX)).map(|counts| counts.bytes)
    }

    /// The candidates that fit into the memory left, in their order, or all of them if the memory is unlimited. Trees race
    /// if there is room for two.
    pub(crate) fn counts(&self, inputs: &PlanInputs, left: Option<usize>) -> Result<CandidateCounts, ArenaError> {
        let Self { barriers, broadcasts, reductions } = self;
        let (barriers, broadcasts, reductions) = (barriers.len(), broadcasts.len(), reductions.len());
        let Some(left) = left else { return Ok(CandidateCounts { barriers, broadcasts, reductions, bytes: 0 }) };
        let (barriers, bytes) = fitting(left, self.barriers.iter().map(|planned| planned.bytes(inputs)))?;
        let trees = |plans: &[std::sync::Arc<Plan>], bytes| {
            let (count, more) = fitting(left - bytes, plans.iter().map(|plan| edges_bytes(plan, inputs)))?;
            Ok(if count < 2 { (0, bytes) } else { (count, bytes + more) })
        };
        let (broadcasts, bytes) = trees(&self.broadcasts, bytes)?;
        let (reductions, bytes) = trees(&self.reductions, bytes)?;
        Ok(CandidateCounts { barriers, broadcasts, reductions, bytes })
    }

    /// A number that differs for other candidates or other numbers of them, among programs with the same code.
    pub(crate) fn digest(&self, counts: CandidateCounts) -> u64 {
        let mut hasher = DefaultHasher::new();
        counts.hash(&mut hasher);
        self.barriers.iter().for_each(|planned| planned.barrier.name().hash(&mut hasher));
        self.trees_digest().hash(&mut hasher);
        hasher.finish()
    }

    /// A number that differs for other trees.
    pub(crate) fn trees_digest(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for plan in self.broadcasts.iter().chain(&self.reductions) {
            let tree = &plan.tree;
            (plan.operation.name(), &plan.planner, tree.root()).hash(&mut hasher);
            (0..tree.len()).for_each(|rank| tree.children(rank).hash(&mut hasher));
        }
        hasher.finish()
    }
}

fn barriers(planning: &Planning<'_>) -> Result<Vec<std::sync::Arc<PlannedBarrier>>, BuildError> {
    // One for each kind of family, not for each family.
    let mut plans: Vec<(Wants, Plan)> = Vec::new();
    let (mut barriers, mut others) = (Vec::new(), Vec::new());
    for &barrier in Barrier::ALL {
        let wants = barrier.wants();
        if !plans.iter().any(|(planned, _)| *planned == wants) {
            plans.push((wants, planning.meeting_for(barrier)?));
        }
        let (_, plan) = plans.iter().find(|(planned, _)| *planned == wants).expect("it was planned above");
        let planned = std::sync::Arc::new(PlannedBarrier::new(planning.problem, barrier, plan.clone()));
        if CONTROLS.contains(&barrier) { barriers.push(planned) } else { others.push(planned) }
    }
    others.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    barriers.extend(others.into_iter().take(CHALLENGERS));
    Ok(barriers)
}

/// The control, the tree that was chosen, the cheapest one found if it is a different tree, and the cheapest shapes, all from
/// the root of the one that was chosen; duplicates once.
fn trees(planning: &Planning<'_>, chosen: &Plan) -> Result<Vec<std::sync::Arc<Plan>>, BuildError> {
    if chosen.tree.len() < FEWEST_WITH_TREES {
        return Ok(Vec::new());
    }
    let plan = |planner| planning.plan_from(chosen.operation, planner, Some(chosen.tree.root()));
    let mut plans = vec![plan(TREE_CONTROL)?, chosen.clone()];
    // One that was searched for is the cheapest.
    if chosen.effort.is_none() {
        plans.push(plan(AUTO)?);
    }
    let is_usable = |name: &&str| !NEVER.contains(name);
    let shapes = SHAPES.iter().map(|shape| shape.name()).filter(is_usable);
    let mut shapes = shapes.map(plan).collect::<Result<Vec<_>, _>>()?;
    shapes.sort_by(|a, b| a.predicted.total_cmp(&b.predicted));
    plans = distinct(plans);
    let most = plans.len() + SHAPES_RACED;
    plans.extend(shapes);
    let mut plans = distinct(plans);
    plans.truncate(most);
    Ok(if plans.len() < 2 { Vec::new() } else { plans.into_iter().map(std::sync::Arc::new).collect() })
}

/// The first of all that are the same tree, or have the same name.
fn distinct(plans: Vec<Plan>) -> Vec<Plan> {
    let mut distinct: Vec<Plan> = Vec::new();
    for plan in plans {
        if !distinct.iter().any(|other| other.planner == plan.planner || is_same(other, &plan)) {
            distinct.push(plan);
        }
    }
    distinct
}

/// True if two trees are the same to the members that use them for one operation. A parent receives from its children in
/// the order in which they should come, whatever the tree says.
pub(crate) fn is_same(a: &Plan, b: &Plan) -> bool {
    let (a, b, is_reduction) = (&a.tree, &b.tree, a.operation == Operation::Reduce);
    let parents = |tree: &Tree| (0..tree.len()).map(|rank| tree.parent(rank)).collect::<Vec<_>>();
    if is_reduction { parents(a) == parents(b) } else { a == b }
}

/// The number of these sizes that fit into `left` bytes, and their sum.
fn fitting(left: usize, sizes: impl Iterator<Item = Result<usize, ArenaError>>) -> Result<(usize, usize), ArenaError> {
    let (mut count, mut bytes) = (0, 0_usize);
    for size in sizes {
        let sum = bytes.saturating_add(size?);
        if sum > left {
            break;
        }
        (count, bytes) = (count + 1, sum);
    }
    Ok((count, bytes))
}

impl PlannedBarrier {
    pub(crate) fn new(problem: &Problem, barrier: Barrier, meeting: Plan) -> Self {
        let predicted = barrier.predicted(&Setup::of(problem, &meeting));
        Self { barrier, meeting, predicted }
    }

    /// The part of the member at `site`.
    pub(crate) fn part(&self, inputs: &PlanInputs, site: &mut Site) -> Result<Part, ArenaError> {
        self.barrier.part(&Setup::of(&inputs.problem, &self.meeting), site)
    }

    fn bytes(&self, inputs: &PlanInputs) -> Result<usize, ArenaError> {
        let mut site = trial_site(inputs)?;
        self.part(inputs, &mut site)?;
        Ok(site.arena.bytes())
    }
}

/// The edges of the member at `site` in a tree.
pub(crate) fn edges(plan: &Plan, inputs: &PlanInputs, site: &mut Site) -> Result<TreeEdges, ArenaError> {
    let edges = match plan.operation {
        Operation::Reduce => TreeLayout::in_arrival_order(&inputs.problem, &plan.tree),
        _ => TreeLayout::in_send_order(&plan.tree),
    };
    edges.edges(&[], site)
}

fn edges_bytes(plan: &Plan, inputs: &PlanInputs) -> Result<usize, ArenaError> {
    let mut site = trial_site(inputs)?;
    edges(plan, inputs, &mut site)?;
    Ok(site.arena.bytes())
}

/// The memory on which a member's lines can be laid out to count them.
fn trial_site(inputs: &PlanInputs) -> Result<Site, ArenaError> {
    let wake_word = |cell| WakeWord::of_threads(inputs.settings.wait, cell);
    let table = MemberTable::lay_out(&mut Arena::heap(), inputs.members(), wake_word)?;
    Ok(Site { rank: 0, table: Arc::new(table), arena: Arena::heap() })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::group::Group;
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};
    use corecast_plan::Effort;

    pub(crate) fn candidates(members: u32) -> (Candidates, std::sync::Arc<PlanInputs>) {
        let cpu = |id| Cpu { numa: Some(id % 4), ..Cpu::flat(CpuId::new(id)) };
        let topology = Topology { cpus: (0..members).map(cpu).collect(), ..Topology::default() };
        let machine = Machine::from_topology(&topology);
        let group = Group::builder(&machine).pin(false).effort(Effort::Quick).build().expect("a group");
        let me = group.join(0).expect("a free place");
        let ends = me.ends();
        let planning = Planning {
            problem: &ends.inputs.problem,
            trees: &crate::choice::Trees::Cheapest,
            searcher: &Default::default(),
            effort: Effort::Quick,
            is_crowded: false,
        };
        (Candidates::of(&planning, &ends.choice).expect("all can be planned"), std::sync::Arc::clone(&ends.inputs))
    }

    #[test]
    fn trees_that_race_are_the_control_and_others_unlike_it() {
        let (candidates, _) = candidates(16);
        for plans in [&candidates.broadcasts, &candidates.reductions] {
            assert_eq!(plans[0].planner, TREE_CONTROL);
            assert!((3..=6).contains(&plans.len()), "{plans:?}");
            assert!(plans.iter().all(|plan| plan.planner != "bad"));
            let pairs = (1..plans.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
            pairs.for_each(|(i, j)| {
                assert!(!is_same(&plans[i], &plans[j]), "{} {}", plans[i].planner, plans[j].planner)
            });
        }
        let (pair, _) = self::candidates(2);
        assert!(pair.broadcasts.is_empty() && pair.reductions.is_empty(), "all trees are one edge");
    }

    #[test]
    fn the_first_have_room_and_trees_race_by_two_at_least() {
        let (candidates, inputs) = candidates(5);
        let whole = candidates.counts(&inputs, Some(usize::MAX)).expect("counted");
        assert_eq!(whole.bytes, candidates.bytes(&inputs).expect("counted"));
        assert_eq!((whole.barriers, whole.broadcasts), (MOST, candidates.broadcasts.len()));
        let fitting = |left| candidates.counts(&inputs, Some(left)).expect("counted");
        assert_eq!(fitting(whole.bytes), whole);
        assert_eq!(fitting(0), CandidateCounts { barriers: 0, broadcasts: 0, reductions: 0, bytes: 0 });
        let mut last = 0;
        for left in (0..whole.bytes).step_by(128) {
            let CandidateCounts { barriers, broadcasts, reductions, bytes } = fitting(left);
            assert!(bytes <= left && barriers >= last && broadcasts != 1 && reductions != 1, "{left}");
            last = barriers;
        }
        let without = fitting(whole.bytes - 1);
        assert_ne!(candidates.digest(without), candidates.digest(whole), "other numbers");
    }
}
