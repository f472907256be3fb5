//! Choosing a tree: build the shape asked for, or every shape and keep the cheapest.

use corecast_base::{CpuId, CpuSet};
use corecast_machine::{Machine, Unit};

use crate::operation::Operation;
use crate::problem::{Problem, ProblemError};
use crate::shape::{self, SHAPES};
use crate::tree::Tree;

/// The name that asks for the cheapest of all shapes.
pub const AUTO: &str = "auto";

/// A tree for one operation, and what it should cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The machine's name.
    pub machine: String,
    /// What the tree is for.
    pub operation: Operation,
    /// The shape that made it, or what [`Plan::of_tree`] was told.
    pub shape: String,
    /// True if the shape was chosen as the cheapest, false if it was asked for.
    pub is_cheapest: bool,
    /// True if the root was asked for, false if the shape chose it.
    pub is_root_given: bool,
    /// The tree over the ranks of `cpus`.
    pub tree: Tree,
    /// The CPU of each member, by rank.
    pub cpus: Vec<CpuId>,
    /// The cost of the operation by the machine model.
    pub predicted: f64,
    /// The unit of `predicted`.
    pub unit: Unit,
}

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

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The set of CPUs does not do.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// No shape has that name.
    #[error("'{name}' is no shape; expected {AUTO} or one of {}", shape_names())]
    UnknownShape {
        /// The name.
        name: String,
    },
    /// The root is not among the CPUs to plan for.
    #[error("root CPU {root} is not among the CPUs to plan for, {cpus}")]
    RootOutside {
        /// The root.
        root: CpuId,
        /// The CPUs.
        cpus: CpuSet,
    },
}

fn shape_names() -> String {
    SHAPES.iter().map(|shape| shape.name()).collect::<Vec<_>>().join(", ")
}

/// Plans an operation among `cpus` of a machine. `shape` is one of [`SHAPES`] by name, or [`AUTO`] for the one with the
/// least predicted cost. Without a `root` each shape takes its own.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Operation, plan};
/// let cpus = (0..4).map(|id| Cpu::flat(CpuId::new(id))).collect();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let plan = plan(&machine, Operation::Broadcast, "binary", &machine.cpu_set(), None)?;
/// assert_eq!(plan.tree.children(0), [1, 2]);
/// assert_eq!(plan.predicted, 300.0, "CPU 0 tells CPU 1 and that one CPU 3, for 30 + 120 ns each");
/// # Ok::<(), corecast_plan::PlanError>(())
/// ```
///
/// # Errors
///
/// If the set is empty or not of this machine, the root is not in it, or no shape has that name.
pub fn plan(
    machine: &Machine,
    operation: Operation,
    shape: &str,
    cpus: &CpuSet,
    root: Option<CpuId>,
) -> Result<Plan, PlanError> {
    let problem = Problem::new(machine, cpus)?;
    let outside = |root| PlanError::RootOutside { root, cpus: cpus.clone() };
    let root = root.map(|root| problem.member_on(root).ok_or_else(|| outside(root))).transpose()?;
    plan_problem(&problem, operation, shape, root)
}

/// As [`plan`], for members that may share CPUs; the root is a rank.
///
/// # Errors
///
/// If no shape has that name.
///
/// # Panics
///
/// If `root` is not below [`Problem::len`].
#[track_caller]
pub fn plan_problem(
    problem: &Problem,
    operation: Operation,
    shape: &str,
    root: Option<usize>,
) -> Result<Plan, PlanError> {
    let is_cheapest = shape == AUTO;
    let (shape, tree) = if is_cheapest {
        let candidates = candidates(problem, operation, root);
        let cheapest = candidates.into_iter().min_by(|a, b| a.predicted.total_cmp(&b.predicted));
        cheapest.map(|candidate| (candidate.shape, candidate.tree)).expect("there are shapes")
    } else {
        let found = shape::find(shape).ok_or_else(|| PlanError::UnknownShape { name: shape.to_owned() })?;
        (found.name(), found.build(problem, root))
    };
    Ok(Plan { is_cheapest, is_root_given: root.is_some(), ..Plan::of_tree(problem, operation, shape, tree) })
}

/// What every shape makes of the problem, in the order of [`SHAPES`].
///
/// # Panics
///
/// If `root` is not below [`Problem::len`].
#[must_use]
#[track_caller]
pub fn candidates(problem: &Problem, operation: Operation, root: Option<usize>) -> Vec<Candidate> {
    let candidate = |shape: &&'static dyn shape::Shape| {
        let tree = shape.build(problem, root);
        Candidate { shape: shape.name(), predicted: operation.cost(problem, &tree), tree }
    };
    SHAPES.iter().map(candidate).collect()
}

impl Plan {
    /// The plan to use this tree, which `shape` says where it comes from.
    ///
    /// # Panics
    ///
    /// If the tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn of_tree(problem: &Problem, operation: Operation, shape: &str, tree: Tree) -> Self {
        Self {
            machine: problem.machine().to_owned(),
            operation,
            shape: shape.to_owned(),
            is_cheapest: false,
            is_root_given: false,
            predicted: operation.cost(problem, &tree),
            tree,
            cpus: problem.cpus().to_vec(),
            unit: problem.unit(),
        }
    }

    /// The CPU of the root.
    #[must_use]
    pub fn root(&self) -> CpuId {
        self.cpus[self.tree.root()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_machine::{Cpu, Topology};

    fn machine(len: u32) -> Machine {
        let cpus = (0..len).map(|id| Cpu { numa: Some(id / 4), ..Cpu::flat(CpuId::new(id)) }).collect();
        Machine::from_topology(&Topology { cpus, ..Topology::default() })
    }

    fn cpus(list: &str) -> CpuSet {
        list.parse().expect("a list")
    }

    #[test]
    fn wrong_requests_are_refused_by_name() {
        let machine = machine(4);
        for (shape, list, root, expected) in [
            ("star", "0-3", None, "'star' is no shape; expected auto or one of sequential, binary"),
            ("mst", "0-99", None, "CPU 4 is not in the machine model"),
            ("mst", "", None, "the set of CPUs is empty"),
            ("mst", "0-2", Some(3), "root CPU 3 is not among the CPUs to plan for, 0-2"),
        ] {
            let error = plan(&machine, Operation::Reduce, shape, &cpus(list), root.map(CpuId::new));
            let error = error.expect_err(expected).to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn auto_takes_the_cheapest() {
        let problem = Problem::of_machine(&machine(16)).expect("a machine");
        for operation in Operation::ALL {
            let plan = plan_problem(&problem, operation, AUTO, None).expect("a plan");
            let candidates = candidates(&problem, operation, None);
            assert!(candidates.iter().all(|candidate| plan.predicted <= candidate.predicted));
            assert!(candidates.iter().any(|candidate| plan.shape == candidate.shape && plan.tree == candidate.tree));
            assert!(plan.is_cheapest);
        }
    }

    #[test]
    fn a_root_is_honoured_among_a_subset() {
        let machine = machine(8);
        for shape in SHAPES {
            let plan = plan(&machine, Operation::Barrier, shape.name(), &cpus("1,3-6"), Some(CpuId::new(5)));
            let plan = plan.expect("a plan");
            assert_eq!((plan.root(), plan.tree.len()), (CpuId::new(5), 5), "{}", shape.name());
        }
    }
}
