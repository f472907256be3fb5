//! All planners by name: the seed shapes and the planners that search.

use corecast_base::CpuId;

use crate::effort::Effort;
use crate::meeting;
use crate::operation::{Direction, Operation};
use crate::plan::{Plan, PlanError};
use crate::problem::Problem;
use crate::request::{AUTO, Request};
use crate::search::{self, BLOCKS, Block, Costs, Found, Job};
use crate::shape::{self, SHAPES, Shape};

/// The planners that search, with a line about each: what [`Request::planner`] takes beside [`AUTO`] and the shapes.
#[must_use]
pub fn planners() -> Vec<(&'static str, &'static str)> {
    let blocks = BLOCKS.iter().map(|block| (block.name, block.about));
    blocks.chain(meeting::SCHEMES.iter().copied()).collect()
}

/// Every name that [`Request::planner`] takes.
fn names() -> Vec<&'static str> {
    let shapes = SHAPES.iter().map(|shape| shape.name());
    [AUTO].into_iter().chain(planners().into_iter().map(|(name, _)| name)).chain(shapes).collect()
}

impl Request<'_> {
    /// Makes the plan.
    ///
    /// # Errors
    ///
    /// If the planner's name is unknown, that planner cannot serve this problem (the error says why), or no tree keeps
    /// within the limits.
    ///
    /// # Panics
    ///
    /// If the root is not below [`Problem::len`].
    #[track_caller]
    pub fn plan(&self, problem: &Problem) -> Result<Plan, PlanError> {
        assert!(self.root.is_none_or(|root| root < problem.len()), "the root must be a member of the problem");
        by_planner(problem, self)
    }

    /// As [`Request::plan`], starting from the member on a CPU.
    ///
    /// # Errors
    ///
    /// If no member runs on that CPU, or as [`Request::plan`].
    pub fn plan_from(self, problem: &Problem, root: Option<CpuId>) -> Result<Plan, PlanError> {
        let outside = |root| PlanError::RootOutside { root, cpus: problem.cpus().iter().copied().collect() };
        let root = root.map(|root| problem.member_on(root).ok_or_else(|| outside(root))).transpose()?;
        self.root(root).plan(problem)
    }
}

/// Makes the plan that the request asks for.
fn by_planner(problem: &Problem, request: &Request<'_>) -> Result<Plan, PlanError> {
    let settings = &request.settings;
    if !settings.limits.allow_some_tree(problem.len()) {
        return Err(beyond_limits(problem, request));
    }
    let mut plan = if request.planner == AUTO {
        searched(problem, request)?
    } else if meeting::SCHEMES.iter().any(|(name, _)| *name == request.planner) {
        let meets =
            request.operation.has_both_phases().then(|| meeting::plan(problem, request, Some(&request.planner)));
        meets.flatten().ok_or_else(|| no_meeting(request))?
    } else if let Some(block) = BLOCKS.iter().find(|block| block.name == request.planner) {
        Plan { effort: Some(settings.effort), ..by_block(problem, request, block)? }
    } else if let Some(shape) = shape::find(&request.planner) {
        shaped(problem, request, shape)?
    } else {
        return Err(PlanError::UnknownPlanner { name: request.planner.clone(), known: names() });
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
    let why = "it is for operations in which all meet, without a root or limits, and shared lines need their costs"
        .to_owned();
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

/// The best tree that the effort finds, or for operations of both phases the cheapest scheme.
fn searched(problem: &Problem, request: &Request<'_>) -> Result<Plan, PlanError> {
    let settings = &request.settings;
    let Some(direction) = only_direction(request.operation) else {
        return meeting::plan(problem, request, None).ok_or_else(|| beyond_limits(problem, request));
    };
    let costs = Costs::of(problem, direction);
    let found = search::search(&costs, request.root, settings).ok_or_else(|| beyond_limits(problem, request))?;
    let refusal = search::refusal(&Job { costs: &costs, root: request.root, settings });
    let why = if settings.effort == Effort::Exact && !found.is_optimal {
        let why_not = refusal.unwrap_or_else(|| search::UNFINISHED.to_owned());
        format!("{why_not}, so it was searched for as with effort patient")
    } else {
        format!("the cheapest tree that effort {} finds", settings.effort)
    };
    Ok(Plan { effort: Some(settings.effort), why, ..of_found(problem, request.operation, found) })
}

/// The tree of one block; for operations of both phases the cheaper of its two pairs, each with the root of one phase.
fn by_block(problem: &Problem, request: &Request<'_>, block: &Block) -> Result<Plan, PlanError> {
    let Request { operation, root, settings, .. } = request;
    let find = |direction, root| {
        let found = (block.find)(&Job { costs: &Costs::of(problem, direction), root, settings });
        found.map_err(|why| PlanError::NotApplicable { planner: block.name.to_owned(), why })
    };
    if let Some(direction) = only_direction(*operation) {
        return Ok(of_found(problem, *operation, find(direction, *root)?));
    }
    let down = find(Direction::Down, *root)?;
    let up = find(Direction::Up, Some(down.best.tree.root()))?;
    let from_down = of_two(problem, *operation, up, down);
    if root.is_some() {
        return Ok(from_down);
    }
    let up = find(Direction::Up, None)?;
    let down = find(Direction::Down, Some(up.best.tree.root()))?;
    let from_up = of_two(problem, *operation, up, down);
    Ok(if from_up.predicted < from_down.predicted { from_up } else { from_down })
}

fn only_direction(operation: Operation) -> Option<Direction> {
    match operation {
        Operation::Broadcast => Some(Direction::Down),
        Operation::Reduce => Some(Direction::Up),
        Operation::Barrier | Operation::Allreduce | Operation::TwoPhaseCommit => None,
    }
}

fn of_found(problem: &Problem, operation: Operation, found: Found) -> Plan {
    let plan = Plan::of_tree(problem, operation, found.by, found.best.tree);
    let bound = found.is_optimal.then_some(plan.predicted);
    Plan { iterations: found.iterations, is_proven: found.is_optimal, bound, ..plan }
}

fn of_two(problem: &Problem, operation: Operation, up: Found, down: Found) -> Plan {
    let predicted = operation.cost_of_two(problem, &up.best.tree, &down.best.tree);
    let iterations = up.iterations + down.iterations;
    let plan = Plan::of_tree(problem, operation, down.by, down.best.tree);
    Plan { up: Some(up.best.tree), predicted, iterations, ..plan }
}
