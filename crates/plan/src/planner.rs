//! Everybody who can make a plan, by name: the seed shapes and the planners that search.

use crate::effort::Effort;
use crate::meeting;
use crate::operation::Operation;
use crate::plan::{Plan, PlanError};
use crate::problem::Problem;
use crate::request::{AUTO, Request};
use crate::schedule::Direction;
use crate::search::{self, Costs, Found};
use crate::shape::{self, SHAPES, Shape};
use crate::tree::Tree;

/// The tree that one shape makes, and its cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The shape's name.
    pub shape: &'static str,
    /// Its tree.
    pub tree: Tree,
    /// The cost of the operation over it, in the problem's unit.
    pub predicted: f64,
}

/// The planners that search, with a line about each: what [`Request::planner`] takes beside [`AUTO`] and the shapes.
#[must_use]
pub fn planners() -> Vec<(&'static str, &'static str)> {
    meeting::SCHEMES.to_vec()
}

/// Every name that [`Request::planner`] takes.
pub(crate) fn names() -> Vec<&'static str> {
    let shapes = SHAPES.iter().map(|shape| shape.name());
    [AUTO].into_iter().chain(planners().into_iter().map(|(name, _)| name)).chain(shapes).collect()
}

/// Makes the plan that the request asks for.
pub(crate) fn plan(problem: &Problem, request: &Request<'_>) -> Result<Plan, PlanError> {
    let settings = &request.settings;
    if !settings.limits.allow_some_tree(problem.len()) {
        return Err(beyond_limits(problem, request));
    }
    let mut plan = if request.planner == AUTO {
        searched(problem, request)?
    } else if meeting::SCHEMES.iter().any(|(name, _)| *name == request.planner) {
        meeting::plan(problem, request, Some(&request.planner)).ok_or_else(|| no_meeting(request))?
    } else if let Some(shape) = shape::find(&request.planner) {
        shaped(problem, request, shape)?
    } else {
        return Err(PlanError::UnknownPlanner { name: request.planner.clone() });
    };
    plan.is_root_given = request.root.is_some();
    plan.seed = settings.seed;
    Ok(plan)
}

fn beyond_limits(problem: &Problem, request: &Request<'_>) -> PlanError {
    let limits = request.settings.limits;
    PlanError::Limits { members: problem.len(), children: limits.children, depth: limits.depth }
}

fn no_meeting(request: &Request<'_>) -> PlanError {
    let why =
        "it is for barriers without a given root or limits, some schemes with the costs of shared lines".to_owned();
    PlanError::NotApplicable { planner: request.planner.clone(), why }
}

fn shaped(problem: &Problem, request: &Request<'_>, shape: &dyn Shape) -> Result<Plan, PlanError> {
    let tree = shape.build(problem, request.root);
    if !request.settings.limits.allow(&tree) {
        let why = format!("its tree has up to {} children per member and {} levels", tree.fan_out(), tree.depth());
        return Err(PlanError::NotApplicable { planner: shape.name().to_owned(), why });
    }
    Ok(Plan::of_tree(problem, request.operation, shape.name(), tree))
}

fn searched(problem: &Problem, request: &Request<'_>) -> Result<Plan, PlanError> {
    let find = |direction, root| {
        let costs = Costs::of(problem, direction);
        search::search(&costs, root, &request.settings).ok_or_else(|| beyond_limits(problem, request))
    };
    let operation = request.operation;
    let of_one = |direction| -> Result<Plan, PlanError> {
        let found: Found = find(direction, request.root)?;
        let plan = Plan::of_tree(problem, operation, found.by, found.best.tree);
        Ok(Plan { iterations: found.iterations, is_proven: found.is_optimal, ..plan })
    };
    let plan = match operation {
        Operation::Broadcast => of_one(Direction::Down)?,
        Operation::Reduce => of_one(Direction::Up)?,
        Operation::Barrier | Operation::Allreduce | Operation::TwoPhaseCommit => {
            return meeting::plan(problem, request, None).ok_or_else(|| beyond_limits(problem, request));
        }
    };
    Ok(Plan { effort: Some(request.settings.effort), why: reason(&plan, request.settings.effort), ..plan })
}

fn reason(plan: &Plan, effort: Effort) -> String {
    format!("{} made the cheapest tree that effort {effort} finds", plan.planner)
}

/// What every shape makes of the problem, in the order of [`SHAPES`].
///
/// # Panics
///
/// If `root` is not below [`Problem::len`].
#[must_use]
#[track_caller]
pub fn candidates(problem: &Problem, operation: Operation, root: Option<usize>) -> Vec<Candidate> {
    let candidate = |shape: &&'static dyn Shape| {
        let tree = shape.build(problem, root);
        Candidate { shape: shape.name(), predicted: operation.cost(problem, &tree), tree }
    };
    SHAPES.iter().map(candidate).collect()
}
