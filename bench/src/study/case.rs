//! One case of the study: an operation among some CPUs of one machine, planned by every planner.

use std::time::{Duration, Instant};

use serde::{Serialize, Serializer};

use corecast::plan::{
    AUTO, Effort, Operation, Plan, PlanError, Problem, Request, SHAPES, Tightness, planners, simulate,
};

use super::{Selection, StudyOptions, Wanted};

/// From this number of members on, patient searches are part of the study.
const PATIENT_FROM: usize = 64;
/// Up to this number of members bounds have all their rounds.
const FULL_ROUNDS_TO: usize = 128;
/// Up to this number of members the optimum is part of the study.
const EXACT_TO: usize = 16;

/// One planned case, and everything that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// The machine's name.
    pub machine: String,
    /// `measured` or `derived`.
    pub provenance: String,
    /// How its CPUs were selected.
    #[serde(serialize_with = "selection_name")]
    pub selection: Selection,
    /// The number of members.
    pub members: usize,
    /// The operation.
    #[serde(serialize_with = "operation_name")]
    pub operation: Operation,
    /// The unit of every cost.
    pub unit: String,
    /// The shapes of the seed papers.
    pub shapes: Vec<Tried>,
    /// The planners asked for by name, as far as they can plan this.
    pub planners: Vec<Tried>,
    /// The efforts that were tried, least first.
    pub efforts: Vec<ByEffort>,
    /// No plan of this kind costs less; 0 without a bound. For two-tree operations it bounds plans of two trees.
    pub bound: f64,
    /// True if the bound is a cost that was reached.
    pub is_proven: bool,
    /// How long the bound took, in milliseconds, while one bound was computed on each CPU.
    pub bound_ms: f64,
    /// True if the prediction of the plan of normal effort equals an evaluation of its trees by a walk of its own.
    pub is_evaluation_equal: bool,
}

/// The result of an effort.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ByEffort {
    /// The effort.
    #[serde(serialize_with = "effort_name")]
    pub effort: Effort,
    /// The plan; its name is that of the planner that made it.
    #[serde(flatten)]
    pub tried: Tried,
}

fn selection_name<S: Serializer>(selection: &Selection, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(selection.name())
}

fn operation_name<S: Serializer>(operation: &Operation, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(operation.name())
}

fn effort_name<S: Serializer>(effort: &Effort, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(effort.name())
}

/// One way to plan, what it came to, and how long it took.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tried {
    /// The planner.
    pub name: String,
    /// The cost of the plan, in the machine's unit.
    pub cost: f64,
    /// How long planning took, in milliseconds.
    pub time_ms: f64,
}

/// A case that has no lower bound yet.
#[derive(Debug)]
pub(super) struct Unbounded {
    case: Case,
    problem: Problem,
    /// The plan that is proven, or the cheapest.
    best: Plan,
}

impl Unbounded {
    pub(super) fn plan(wanted: &Wanted<'_>, options: &StudyOptions) -> Self {
        let Wanted { machine, members, selection, operation } = *wanted;
        let problem = Problem::new(machine, &selection.cpus(machine, members)).expect("CPUs of the machine");
        let cancel = &options.cancel;
        let stop = || cancel.is_cancelled();
        let root = options.is_root_fixed.then_some(0);
        let request = Request::new(operation).root(root).seed(options.seed).stop(&stop);
        let efforts = by_effort(&problem, &request, members, operation);
        let normal = &efforts.iter().find(|(effort, ..)| *effort == Effort::Normal).expect("always planned").1;
        let is_evaluation_equal = is_evaluation_equal(&problem, normal);
        let best = cheapest(&efforts).clone();
        let named = planners().into_iter().map(|(name, _)| name).filter(|name| !is_slow(name, members));
        let tried_effort = |(effort, plan, time): (Effort, Plan, Duration)| ByEffort {
            effort,
            tried: Tried { name: plan.planner, cost: plan.predicted, time_ms: ms(time) },
        };
        let case = Case {
            machine: machine.name.clone(),
            provenance: machine.provenance.kind.clone(),
            selection,
            members,
            operation,
            unit: machine.unit.to_string(),
            shapes: tried(&problem, &request, SHAPES.iter().map(|shape| shape.name())),
            planners: tried(&problem, &request, named),
            bound: 0.0,
            is_proven: best.is_proven,
            bound_ms: 0.0,
            is_evaluation_equal,
            efforts: efforts.into_iter().map(tried_effort).collect(),
        };
        Self { case, problem, best }
    }

    pub(super) fn members(&self) -> usize {
        self.case.members
    }

    /// The case with its bound.
    pub(super) fn bound(self, options: &StudyOptions) -> Case {
        let begun = Instant::now();
        let bounded = bounded(&self.best, &self.problem, options);
        let (bound, is_proven) = (bounded.bound.unwrap_or(0.0), bounded.is_proven);
        Case { bound, is_proven, bound_ms: ms(begun.elapsed()), ..self.case }
    }
}

impl Case {
    /// The result of an effort.
    #[must_use]
    pub fn effort(&self, wanted: Effort) -> Option<&Tried> {
        self.efforts.iter().find(|by| by.effort == wanted).map(|by| &by.tried)
    }

    /// The result of normal effort.
    pub(super) fn normal(&self) -> &Tried {
        self.effort(Effort::Normal).expect("every case has it")
    }

    /// The cost of a shape.
    pub(super) fn shape(&self, name: &str) -> f64 {
        self.shapes.iter().find(|tried| tried.name == name).expect("every shape is tried").cost
    }
}

/// The plan of every effort, and how long it takes.
fn by_effort(
    problem: &Problem,
    request: &Request<'_>,
    members: usize,
    operation: Operation,
) -> Vec<(Effort, Plan, Duration)> {
    let plan = |effort: Effort| {
        let (plan, time) = timed(problem, &request.clone().effort(effort)).ok()?;
        Some((effort, plan, time))
    };
    efforts(members, operation).into_iter().filter_map(plan).collect()
}

/// The plan that is proven, or the cheapest.
fn cheapest(efforts: &[(Effort, Plan, Duration)]) -> &Plan {
    let plans = || efforts.iter().map(|(_, plan, _)| plan);
    let cheapest = plans().min_by(|a, b| a.predicted.total_cmp(&b.predicted)).expect("normal at least");
    plans().find(|plan| plan.is_proven).unwrap_or(cheapest)
}

fn ms(time: Duration) -> f64 {
    1e3 * time.as_secs_f64()
}

fn efforts(members: usize, operation: Operation) -> Vec<Effort> {
    let is_single = !operation.has_both_phases();
    let mut efforts = vec![Effort::Quick, Effort::Normal];
    if is_single && members <= EXACT_TO {
        efforts.push(Effort::Exact);
    }
    if is_single && members >= PATIENT_FROM {
        efforts.push(Effort::Patient);
    }
    efforts
}

/// The subset programme by itself takes as long as the effort that uses it, whose plan is there.
fn is_slow(planner: &str, members: usize) -> bool {
    planner == "exact" && members > 12
}

fn timed(problem: &Problem, request: &Request<'_>) -> Result<(Plan, Duration), PlanError> {
    let begun = Instant::now();
    let plan = request.plan(problem)?;
    Ok((plan, begun.elapsed()))
}

fn tried<'n>(problem: &Problem, request: &Request<'_>, names: impl Iterator<Item = &'n str>) -> Vec<Tried> {
    let one = |name: &str| {
        debug_assert_ne!(name, AUTO);
        let (plan, time) = timed(problem, &request.clone().planner(name)).ok()?;
        Some(Tried { name: name.to_owned(), cost: plan.predicted, time_ms: ms(time) })
    };
    names.filter_map(one).collect()
}

fn bounded(plan: &Plan, problem: &Problem, options: &StudyOptions) -> Plan {
    let cancel = &options.cancel;
    let is_single = !plan.operation.has_both_phases();
    if plan.is_proven || options.rounds == 0 || !is_single {
        return plan.clone();
    }
    let rounds = if problem.len() <= FULL_ROUNDS_TO { options.rounds } else { options.rounds.div_ceil(5) };
    plan.clone().with_bound(problem, Tightness::Rounds(rounds), &|| cancel.is_cancelled())
}

/// Compares the prediction with a walk over the trees that shares no code with the simulator; true for schemes that it
/// does not know.
fn is_evaluation_equal(problem: &Problem, plan: &Plan) -> bool {
    let down = |tree| by_recursion::broadcast(problem, tree);
    let up = |tree| by_recursion::reduction(problem, tree);
    let expected = match plan.operation {
        Operation::Broadcast => down(&plan.tree),
        Operation::Reduce => up(&plan.tree),
        Operation::TwoPhaseCommit => 2.0 * down(&plan.tree) + up(plan.up()),
        Operation::Barrier | Operation::Allreduce if plan.scheme.name() == "trees" => down(&plan.tree) + up(plan.up()),
        Operation::Barrier | Operation::Allreduce => return true,
    };
    debug_assert!(plan.operation != Operation::Broadcast || simulate::broadcast(problem, &plan.tree) == plan.predicted);
    (plan.predicted - expected).abs() <= 1e-9 * expected.abs()
}

/// The rules of the model once more, written as they are told.
mod by_recursion {
    use corecast::plan::{Problem, Tree};

    pub(super) fn broadcast(problem: &Problem, tree: &Tree) -> f64 {
        below(problem, tree, tree.root(), 0.0)
    }

    fn below(problem: &Problem, tree: &Tree, parent: usize, arrival: f64) -> f64 {
        let mut sent = arrival;
        let mut last = arrival;
        for &child in tree.children(parent) {
            sent += problem.send(parent, child);
            last = last.max(below(problem, tree, child, sent + problem.receive(parent, child)));
        }
        last
    }

    pub(super) fn reduction(problem: &Problem, tree: &Tree) -> f64 {
        done(problem, tree, tree.root())
    }

    fn done(problem: &Problem, tree: &Tree, parent: usize) -> f64 {
        let sent = |&child: &usize| (done(problem, tree, child) + problem.send(child, parent), child);
        let mut messages: Vec<(f64, usize)> = tree.children(parent).iter().map(sent).collect();
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        messages.into_iter().fold(0.0, |now: f64, (sent, child)| now.max(sent) + problem.receive(child, parent))
    }
}
