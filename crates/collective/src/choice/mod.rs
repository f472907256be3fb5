//! The one place where a group chooses trees and a barrier, and gives its reasons.

mod candidates;
mod clusters;
mod forms;
mod inputs;
mod races;
mod searcher;

use std::fmt;
use std::thread;

use corecast_plan::{AUTO, Effort, Operation, Plan, Problem, Tree};

use crate::barrier::{Barrier, Wants};
use crate::error::BuildError;
use crate::operation::in_place;
#[cfg(all(test, not(loom)))]
pub(crate) use candidates::TREE_CONTROL;
pub(crate) use candidates::{CONTROLS, CandidateCounts, Candidates, MOST, PlannedBarrier, edges, is_same};
pub(crate) use clusters::Clusters;
pub use forms::{AllreduceForm, SizeClass};
pub(crate) use forms::{AllreduceForms, DirectSizes};
pub(crate) use inputs::{PlanInputs, Settings};
pub(crate) use races::{CandidateResult, Verdict};
pub use races::{Entry, Race, Races};
pub(crate) use searcher::{Searcher, WantedTree};

/// The shape of one level. Where members share CPUs every level costs a switch of threads, which the model does not know:
/// 8 members on one CPU took 19.7 us for a broadcast over the cheapest tree by the model and 10.0 over this one.
const SHALLOWEST: &str = "sequential";

/// The planner of a tree that the user has given.
const GIVEN: &str = "given";

/// The planner of barriers that go up one tree and down another.
const TWO_TREES: &str = "trees";

/// From this number of members on two threads plan, as it takes several milliseconds.
const MANY: usize = 64;

/// The source of a group's trees.
#[derive(Clone, Debug, Default)]
pub(crate) enum Trees {
    /// For each operation the cheapest tree found; one level where members share CPUs.
    #[default]
    Cheapest,
    /// The shape of this name for all operations.
    Shape(String),
    /// This tree for all operations.
    Given(Tree),
}

/// The tree or barrier that a group uses for each operation, and the reasons.
#[derive(Clone)]
pub struct Choice {
    /// The tree that broadcasts go down.
    pub broadcast: Plan,
    /// The tree that reductions go up.
    pub reduce: Plan,
    /// The meeting of a barrier by messages: its trees, its leaders, the order of its dissemination.
    pub meeting: Plan,
    /// True if members do not have a CPU each. This decides trees and barrier, unless they were asked for.
    pub is_crowded: bool,
    /// The barrier.
    pub barrier: Barrier,
    /// The predicted cost of the barrier by the machine model, in the unit of `meeting`.
    pub predicted: f64,
    /// The predicted cost of each form of an allreduce of one line that these members could take, in the unit of `meeting`.
    pub allreduce_predicted: Vec<(AllreduceForm, f64)>,
    /// The clusters by which allreduces can go; `None` if they are of no use to these members.
    pub(crate) clusters: Option<Clusters>,
    /// The sizes of values that are shown to all by an allreduce.
    pub(crate) direct: DirectSizes,
    /// The races that decided, if there were any.
    pub races: Option<Races>,
    /// The reason for this barrier, in words; and the planner, if a plan service was named.
    pub why: String,
}

impl Choice {
    /// Chooses for the members of `problem`; `is_crowded` is true if they do not have a CPU each.
    pub(crate) fn make(
        problem: &Problem,
        trees: &Trees,
        searcher: &Searcher,
        barrier: Option<Barrier>,
        effort: Effort,
        is_crowded: bool,
    ) -> Result<Self, BuildError> {
        let planning = Planning { problem, trees, searcher, effort, is_crowded };
        let ((meeting, barrier, why), broadcast, reduce) = planning.all(barrier)?;
        let why = searcher.news().into_iter().fold(why, |why, news| format!("{why}; {news}"));
        let PlannedBarrier { barrier, meeting, predicted } = PlannedBarrier::new(problem, barrier, meeting);
        let are_asked_for = !matches!(trees, Trees::Cheapest);
        let forms = AllreduceForms::of(problem, [&reduce, &broadcast], is_crowded, are_asked_for);
        let AllreduceForms { predicted: allreduce_predicted, clusters, direct } = forms;
        Ok(Self {
            broadcast,
            reduce,
            meeting,
            is_crowded,
            barrier,
            predicted,
            allreduce_predicted,
            clusters,
            direct,
            races: None,
            why,
        })
    }
}

impl Choice {
    /// The same with the results of races, which were run among these candidates.
    pub(crate) fn raced(&self, candidates: &Candidates, races: Races) -> Self {
        let mut choice = Self { why: races.barrier.to_string(), ..self.clone() };
        if let Some(winner) = candidates.planned(races.barrier.winner) {
            let PlannedBarrier { barrier, meeting, predicted } = &**winner;
            (choice.barrier, choice.meeting, choice.predicted) = (*barrier, meeting.clone(), *predicted);
        }
        for (tree, race) in [(&mut choice.broadcast, &races.broadcast), (&mut choice.reduce, &races.reduce)] {
            let winner = race.as_ref().and_then(|race| candidates.tree(tree.operation, &race.winner));
            winner.into_iter().for_each(|winner| tree.clone_from(winner));
        }
        Self { direct: choice.direct.raced(&races), races: Some(races), ..choice }
    }

    /// The sizes that go the direct way among this number of threads, if they are others than among processes: threads read long
    /// slices in place, and where members share CPUs the direct way is as fast for short ones, or nearly so.
    pub(crate) fn direct_among_threads(&self, members: usize) -> Option<DirectSizes> {
        let is_other = in_place::suits(members) && self.is_open() && self.direct.has_values();
        let direct = is_other.then(|| self.direct.with_all_slices())?;
        Some(self.races.as_ref().map_or(direct, |races| direct.raced(races)))
    }

    /// The form of an allreduce of this many bytes: of a single value up to 512 bytes, of a slice beyond.
    #[must_use]
    pub fn allreduce(&self, bytes: usize) -> AllreduceForm {
        self.direct.form(bytes)
    }

    /// The race that decided on the form of an allreduce of this many bytes, if there was one.
    #[must_use]
    pub fn allreduce_race(&self, bytes: usize) -> Option<&Race<AllreduceForm>> {
        let class = SizeClass::of(bytes);
        self.races.as_ref()?.allreduce.iter().find(|(raced, _)| *raced == class).map(|(_, race)| race)
    }

    /// True unless the trees were given by the user. The settings of processes do not carry this.
    pub(crate) fn is_open(&self) -> bool {
        self.broadcast.planner != GIVEN
    }
}

/// The inputs of plans.
pub(crate) struct Planning<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) trees: &'a Trees,
    pub(crate) searcher: &'a Searcher,
    pub(crate) effort: Effort,
    pub(crate) is_crowded: bool,
}

/// A barrier's plan, the barrier, and the reason for it.
type Met = (Plan, Barrier, String);

impl Planning<'_> {
    /// All plans of a group. The barrier's takes the longest: among many members another thread plans the trees meanwhile.
    fn all(&self, barrier: Option<Barrier>) -> Result<(Met, Plan, Plan), BuildError> {
        // An allreduce goes up one tree and down the other, so both have one root.
        let trees = || -> Result<_, BuildError> {
            let broadcast = self.trees(Operation::Broadcast, None)?;
            let reduce = self.trees(Operation::Reduce, Some(broadcast.tree.root()))?;
            Ok((broadcast, reduce))
        };
        thread::scope(|scope| {
            let is_long = self.problem.len() >= MANY && !self.is_crowded;
            let helper = is_long.then(|| thread::Builder::new().spawn_scoped(scope, trees).ok()).flatten();
            let met = self.barrier(barrier)?;
            // A system that refuses a thread leaves all to this one.
            let (broadcast, reduce) =
                helper.map_or_else(trees, |helper| helper.join().expect("planning does not panic"))?;
            Ok((met, broadcast, reduce))
        })
    }

    /// The trees of an operation as the settings want them; those that are searched for start from `root`, if one is named.
    fn trees(&self, operation: Operation, root: Option<usize>) -> Result<Plan, BuildError> {
        match self.trees {
            Trees::Cheapest if self.is_crowded => self.plan(operation, SHALLOWEST),
            Trees::Cheapest => self.plan_from(operation, AUTO, root),
            Trees::Shape(name) => self.plan(operation, name),
            Trees::Given(tree) => Ok(Plan::of_tree(self.problem, operation, GIVEN, tree.clone())),
        }
    }

    pub(crate) fn plan(&self, operation: Operation, planner: &str) -> Result<Plan, BuildError> {
        self.plan_from(operation, planner, None)
    }

    /// The plan that starts from this member; by default from the one that the planner chooses.
    pub(crate) fn plan_from(
        &self,
        operation: Operation,
        planner: &str,
        root: Option<usize>,
    ) -> Result<Plan, BuildError> {
        let wanted = WantedTree { operation, planner, effort: self.effort, root };
        let plan = self.searcher.plan(self.problem, wanted);
        plan.map_err(|_| BuildError::UnknownShape {
            name: planner.to_owned(),
            known: corecast_plan::SHAPES.iter().map(|shape| shape.name()).collect(),
        })
    }

    fn barrier(&self, asked: Option<Barrier>) -> Result<Met, BuildError> {
        if let Some(barrier) = asked {
            let meeting = self.meeting_for(barrier)?;
            return Ok((meeting, barrier, "it was asked for".to_owned()));
        }
        if self.is_crowded {
            let why = "members share CPUs, and with tickets nobody waits for one particular member";
            return Ok((self.trees(Operation::Barrier, None)?, Barrier::Ticket, why.to_owned()));
        }
        if self.problem.len() <= 2 {
            let why = "two members exchange flags fastest on one line";
            return Ok((self.plan(Operation::Barrier, SHALLOWEST)?, Barrier::SharedLine, why.to_owned()));
        }
        let meeting = self.cheapest_meeting()?;
        let (barrier, why) = (Barrier::of_scheme(&meeting.scheme), meeting.why.clone());
        Ok((meeting, barrier, why))
    }

    /// The cheapest of all schemes; if trees were asked for, the cheapest of those trees and dissemination.
    fn cheapest_meeting(&self) -> Result<Plan, BuildError> {
        let trees = self.trees(Operation::Barrier, None)?;
        if let Trees::Cheapest = self.trees {
            return Ok(trees);
        }
        let exchange = self.plan(Operation::Barrier, Barrier::Dissemination.name())?;
        let unit = self.problem.unit();
        let costs = [("dissemination", exchange.predicted), ("tree", trees.predicted)];
        let why = format!("predicted: {}", costs.map(|(name, cost)| format!("{name} {cost:.0} {unit}")).join(", "));
        let cheaper = if exchange.predicted <= trees.predicted { exchange } else { trees };
        Ok(Plan { why, ..cheaper })
    }

    /// The plan for a barrier that was asked for. Where members share CPUs it is made by greedy rules.
    pub(crate) fn meeting_for(&self, barrier: Barrier) -> Result<Plan, BuildError> {
        if self.problem.len() <= 2 {
            return self.trees(Operation::Barrier, None);
        }
        let effort = if self.is_crowded { Effort::Quick } else { self.effort };
        let plan = |planner| Self { effort, ..*self }.plan(Operation::Barrier, planner);
        match (barrier.wants(), self.trees) {
            (Wants::Order, _) => plan(Barrier::Dissemination.name()),
            // If costs show no clusters there is nothing to lead: one leader of all.
            (Wants::Leaders, Trees::Cheapest) => plan(Barrier::Leaders.name()).or_else(|_| plan(TWO_TREES)),
            (Wants::MessageTrees, Trees::Cheapest) if !self.is_crowded => plan(TWO_TREES),
            (_, Trees::Cheapest) => plan(SHALLOWEST),
            _ => self.trees(Operation::Barrier, None),
        }
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { barrier, broadcast, reduce, .. } = self;
        write!(f, "Choice({barrier}, broadcast {}, reduce {})", broadcast.planner, reduce.planner)
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let races = self.races.as_ref();
        let broadcast = races.and_then(|races| races.broadcast.as_ref());
        let reduce = races.and_then(|races| races.reduce.as_ref());
        for (plan, race) in [(&self.broadcast, broadcast), (&self.reduce, reduce)] {
            let operation = plan.operation.name();
            let reason = match (race, plan.effort.is_some(), self.is_crowded) {
                (Some(race), ..) => format!("; with a barrier behind it, {race}"),
                (None, true, _) => ", the cheapest found".to_owned(),
                (None, false, true) => ", and switches of threads besides, as members share CPUs".to_owned(),
                (None, false, false) => String::new(),
            };
            let (root, predicted, unit) = (plan.root(), plan.predicted, plan.unit);
            writeln!(f, "{operation}: {} from CPU {root}, predicted {predicted:.0} {unit}{reason}", plan.planner)?;
        }
        let Self { barrier, predicted, why, .. } = self;
        write!(f, "barrier: {barrier} ({}), predicted {predicted:.0} {}; {why}", barrier.about(), self.meeting.unit)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::choice::{Entry, Race};
    use corecast_base::CpuId;
    use corecast_machine::{Cpu, Machine, Topology};

    pub(super) fn problem(members: u32) -> Problem {
        let cpu = |id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) };
        let machine =
            Machine::from_topology(&Topology { cpus: (0..members).map(cpu).collect(), ..Topology::default() });
        Problem::of_machine(&machine).expect("CPUs")
    }

    pub(super) fn chosen(members: u32, trees: &Trees, is_crowded: bool) -> Choice {
        let problem = problem(members);
        Choice::make(&problem, trees, &Searcher::default(), None, Effort::Quick, is_crowded).expect("a known shape")
    }

    #[test]
    fn the_cheapest_scheme_is_the_barrier() {
        for members in 3..=12 {
            let choice = chosen(members, &Trees::Cheapest, false);
            assert_eq!(choice.barrier, Barrier::of_scheme(&choice.meeting.scheme));
            assert_eq!(choice.why, choice.meeting.why);
            let cheapest = choice.why.split(", ").next().expect("a text");
            assert!(cheapest.contains(choice.meeting.scheme.name()), "{}", choice.why);
            assert!(choice.to_string().contains(&choice.why), "{choice}");
        }
    }

    #[test]
    fn trees_that_are_searched_for_and_those_that_race_beside_them_have_one_root() {
        for members in [3, 9, 24] {
            let problem = problem(members);
            let (trees, searcher, effort) = (Trees::Cheapest, Searcher::default(), Effort::Quick);
            let choice = Choice::make(&problem, &trees, &searcher, None, effort, false).expect("plans");
            let planning =
                Planning { problem: &problem, trees: &trees, searcher: &searcher, effort, is_crowded: false };
            let candidates = Candidates::of(&planning, &choice).expect("plans");
            let raced = candidates.broadcasts.iter().chain(&candidates.reductions);
            let roots: Vec<usize> = raced.map(|plan| plan.tree.root()).chain([choice.reduce.tree.root()]).collect();
            assert!(roots.iter().all(|&root| root == choice.broadcast.tree.root()), "{roots:?}");
        }
    }

    #[test]
    fn every_barrier_has_a_prediction_that_grows_with_the_members() {
        for &barrier in Barrier::ALL {
            let cost = |members: u32| {
                let cpus = (0..members).map(|id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) }).collect();
                let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
                let problem = Problem::of_machine(&machine).expect("CPUs");
                let searcher = Searcher::default();
                Choice::make(&problem, &Trees::Cheapest, &searcher, Some(barrier), Effort::Quick, false)
                    .expect("a choice")
                    .predicted
            };
            let costs = [1, 2, 5, 16, 64].map(cost);
            assert!(costs[0] == 0.0 && costs.is_sorted() && costs[4] > costs[1], "{barrier}: {costs:?}");
        }
    }

    #[test]
    fn predictions_are_those_of_the_planner_where_it_has_one() {
        for members in 3..=12 {
            let choice = chosen(members, &Trees::Cheapest, false);
            if matches!(choice.barrier, Barrier::Tree | Barrier::Leaders | Barrier::Dissemination) {
                assert!((choice.predicted - choice.meeting.predicted).abs() < 1e-9 * choice.predicted, "{choice}");
            }
        }
    }

    #[test]
    fn one_or_two_members_just_exchange_flags() {
        for members in 1..=2 {
            assert_eq!(chosen(members, &Trees::Cheapest, false).barrier, Barrier::SharedLine);
        }
    }

    #[test]
    fn nothing_is_searched_where_members_share_cpus() {
        let choice = chosen(9, &Trees::Cheapest, true);
        assert_eq!(choice.barrier, Barrier::Ticket);
        for plan in [&choice.broadcast, &choice.reduce, &choice.meeting] {
            assert_eq!((plan.planner.as_str(), plan.iterations), ("sequential", 0));
        }
    }

    #[test]
    fn a_race_decides_on_barrier_and_trees() {
        let machine = Machine::from_topology(&Topology {
            cpus: (0..8).map(|id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) }).collect(),
            ..Topology::default()
        });
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let (searcher, effort) = (Searcher::default(), Effort::Quick);
        let planning =
            Planning { problem: &problem, trees: &Trees::Cheapest, searcher: &searcher, effort, is_crowded: false };
        let choice = chosen(8, &Trees::Cheapest, false);
        let candidates = Candidates::of(&planning, &choice).expect("all can be planned");
        fn race<T: Clone>(racer: T) -> Race<T> {
            let entry = Entry { racer: racer.clone(), predicted: 1.0, median_ns: 7.0, rounds: 31 };
            Race { entries: vec![entry], winner: racer.clone(), control: racer, p: 1.0, left_out: 0, is_cached: false }
        }
        let reduce = Some(race("cluster".to_owned()));
        let allreduce = vec![(SizeClass::of(8), race(AllreduceForm::Trees))];
        let raced =
            choice.raced(&candidates, Races { barrier: race(Barrier::Flat), broadcast: None, reduce, allreduce });
        assert_eq!((raced.barrier, raced.reduce.planner.as_str()), (Barrier::Flat, "cluster"));
        assert_eq!(raced.broadcast, choice.broadcast, "it has not raced");
        assert_eq!([8, 9].map(|bytes| raced.allreduce(bytes)), [AllreduceForm::Trees, choice.allreduce(9)]);
        assert_eq!(choice.allreduce(9), AllreduceForm::Clusters, "two nodes of four are predicted to be faster");
        assert!(raced.allreduce_race(5).is_some() && raced.allreduce_race(9).is_none(), "by size class");
        let text = raced.to_string();
        let expected = "; with a barrier behind it, in a race nothing was clearly faster than the control cluster, 7 ns\n  \
                        cluster: 7 ns in 31 rounds, predicted 1\nbarrier: flat (";
        assert!(text.contains(expected) && text.contains(&format!("; {}", raced.why)), "{text}");
    }

    #[test]
    fn a_shape_asked_for_competes_with_dissemination_only() {
        let choice = chosen(8, &Trees::Shape("bad".to_owned()), false);
        assert_eq!(choice.barrier, Barrier::Dissemination, "{}", choice.why);
        assert_eq!(choice.broadcast.planner, "bad");
    }
}
