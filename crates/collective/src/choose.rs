//! The one place where a group chooses trees and a barrier, and says why.

use std::fmt;

use corecast_plan::{AUTO, Operation, Plan, Problem, Request, Tree};

use crate::barrier::Barrier;
use crate::error::BuildError;

/// The shape of one level. Where members share CPUs every level costs a switch of threads, which the model does not know:
/// 8 members on one CPU took 19.7 us for a broadcast over the cheapest tree by the model and 10.0 over this one.
const SHALLOWEST: &str = "sequential";

/// Where a group's trees come from.
#[derive(Clone, Debug, Default)]
pub(crate) enum Trees {
    /// For each operation the shape with the least predicted cost; one level where members share CPUs.
    #[default]
    Cheapest,
    /// The shape of this name for all operations.
    Shape(String),
    /// This tree for all operations.
    Given(Tree),
}

/// What a group uses for each operation, and why.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The tree that broadcasts go down.
    pub broadcast: Plan,
    /// The tree that reductions go up.
    pub reduce: Plan,
    /// The tree that a barrier by messages would use.
    pub barrier_tree: Plan,
    /// True if members do not have a CPU each, which decides trees and barrier unless they were asked for.
    pub is_crowded: bool,
    /// The barrier.
    pub barrier: Barrier,
    /// Why this barrier, in words.
    pub why: String,
}

impl Choice {
    /// Chooses for the members of `problem`; `is_crowded` says that they do not have a CPU each.
    pub(crate) fn make(
        problem: &Problem,
        trees: &Trees,
        barrier: Option<Barrier>,
        is_crowded: bool,
    ) -> Result<Self, BuildError> {
        let plan = |operation| match trees {
            Trees::Cheapest if is_crowded => plan_or_refuse(problem, operation, SHALLOWEST),
            Trees::Cheapest => plan_or_refuse(problem, operation, AUTO),
            Trees::Shape(name) => plan_or_refuse(problem, operation, name),
            Trees::Given(tree) => Ok(Plan::of_tree(problem, operation, "given", tree.clone())),
        };
        let barrier_tree = plan(Operation::Barrier)?;
        let (barrier, why) = match barrier {
            Some(barrier) => (barrier, "it was asked for".to_owned()),
            None => cheapest_barrier(problem, &barrier_tree, is_crowded),
        };
        Ok(Self {
            broadcast: plan(Operation::Broadcast)?,
            reduce: plan(Operation::Reduce)?,
            barrier_tree,
            is_crowded,
            barrier,
            why,
        })
    }
}

fn plan_or_refuse(problem: &Problem, operation: Operation, shape: &str) -> Result<Plan, BuildError> {
    Request::new(operation).planner(shape).plan(problem).map_err(|_| BuildError::UnknownShape {
        name: shape.to_owned(),
        known: corecast_plan::SHAPES.iter().map(|shape| shape.name()).collect(),
    })
}

fn cheapest_barrier(problem: &Problem, tree: &Plan, is_crowded: bool) -> (Barrier, String) {
    let members = problem.len();
    if is_crowded {
        let why = "members share CPUs, and with tickets nobody waits for one particular member".to_owned();
        return (Barrier::Ticket, why);
    }
    if members <= 2 {
        return (Barrier::Dissemination, "for two members it is the bare exchange of two flags".to_owned());
    }
    let dissemination = predict_dissemination(problem);
    let unit = problem.unit();
    let compared = format!("predicted: dissemination {dissemination:.0} {unit}, tree {:.0} {unit}", tree.predicted);
    let barrier = if dissemination <= tree.predicted { Barrier::Dissemination } else { Barrier::Tree };
    (barrier, compared)
}

/// The cost of a dissemination barrier among members in rank order, by the pairwise model.
fn predict_dissemination(problem: &Problem) -> f64 {
    let n = problem.len();
    let mut ready = vec![0.0_f64; n];
    let mut distance = 1;
    while distance < n {
        let sent: Vec<f64> = (0..n).map(|i| ready[i] + problem.send(i, (i + distance) % n)).collect();
        for (i, ready) in ready.iter_mut().enumerate() {
            let from = (i + n - distance) % n;
            *ready = sent[i].max(sent[from]) + problem.receive(from, i);
        }
        distance *= 2;
    }
    ready.into_iter().fold(0.0, f64::max)
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for plan in [&self.broadcast, &self.reduce] {
            let operation = plan.operation.name();
            let reason = match (plan.effort.is_some(), self.is_crowded) {
                (true, _) => ", the cheapest found",
                (false, true) => ", and switches of threads besides, as members share CPUs",
                (false, false) => "",
            };
            let (root, predicted, unit) = (plan.root(), plan.predicted, plan.unit);
            writeln!(f, "{operation}: {} from CPU {root}, predicted {predicted:.0} {unit}{reason}", plan.planner)?;
        }
        write!(f, "barrier: {} ({}); {}", self.barrier, self.barrier.about(), self.why)
    }
}
