//! The result of planning: the trees of an operation, their predicted cost, and the planner that made them.

use corecast_base::{CpuId, CpuSet};
use corecast_machine::Unit;

use crate::effort::Effort;
use crate::operation::Operation;
use crate::problem::{Problem, ProblemError};
use crate::tree::Tree;

/// The trees for one operation, and what they should cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The machine's name.
    pub machine: String,
    /// The operation that the plan is for.
    pub operation: Operation,
    /// The maker of the tree: a shape or a planner by name, or the name given to [`Plan::of_tree`].
    pub planner: String,
    /// Why this planner, in words.
    pub why: String,
    /// The effort that the planner was given; `None` for shapes and trees that were given.
    pub effort: Option<Effort>,
    /// The seed of the search.
    pub seed: u64,
    /// How many steps the search took: changes of a tree tried, or entries of a table filled.
    pub iterations: u64,
    /// True if the root was asked for, false if it was chosen.
    pub is_root_given: bool,
    /// The tree over the ranks of `cpus`: the one that broadcasts go down, or for a reduction the one it goes up.
    pub tree: Tree,
    /// The tree that reductions go up, for operations that have both phases: its root is that of `tree`.
    pub up: Option<Tree>,
    /// How the members of a barrier meet; trees for everything else.
    pub scheme: Scheme,
    /// The CPU of each member, by rank.
    pub cpus: Vec<CpuId>,
    /// The cost of the operation by the machine model.
    pub predicted: f64,
    /// The unit of `predicted` and `bound`.
    pub unit: Unit,
    /// No plan of this scheme with the root asked for (with any root if none was) costs less; `None` if it was not
    /// computed.
    pub bound: Option<f64>,
    /// True if no plan of this scheme costs less: the search looked at all of them, or the bound says so.
    pub is_proven: bool,
}

/// The way in which members meet.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scheme {
    /// Messages up and down the trees.
    Trees,
    /// Each group reduces to its leader, the leaders exchange by dissemination in this order, and each tells its group.
    /// The groups are the subtrees of [`Plan::up`] and [`Plan::tree`] below each leader; the first leader is the root
    /// of both, the others are children of it by edges that stand for the exchange.
    Leaders(Vec<usize>),
    /// Every member signals those 1, 2, 4, ... places further in this order, and needs no tree; the plan's trees are
    /// for callers that cannot do that.
    Dissemination(Vec<usize>),
    /// Messages up [`Plan::up`]; the root then stores to one line that all others read.
    ReleaseLine,
    /// Every member increments one word; the last one stores to a line that all others read. Needs no tree, as
    /// dissemination.
    Counter,
}

impl Scheme {
    /// The name in JSON.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Trees => "trees",
            Self::Leaders(_) => "leaders",
            Self::Dissemination(_) => "dissemination",
            Self::ReleaseLine => "release-line",
            Self::Counter => "counter",
        }
    }
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// The set of CPUs cannot be planned for.
    #[error(transparent)]
    Problem(#[from] ProblemError),
    /// The name is unknown.
    #[error("'{name}' is not a shape or planner; expected one of {}", known.join(", "))]
    UnknownPlanner {
        /// The name.
        name: String,
        /// The names that are known.
        known: Vec<&'static str>,
    },
    /// The planner asked for cannot plan this.
    #[error("the planner {planner} cannot plan this: {why}")]
    NotApplicable {
        /// The planner.
        planner: String,
        /// Why not.
        why: String,
    },
    /// No tree over this many members keeps within the limits.
    #[error(
        "no tree over {members} members has at most {} children per member and at most {} levels below the root",
        limit(*.children),
        limit(*.depth)
    )]
    Limits {
        /// The number of members.
        members: usize,
        /// The limit on children.
        children: Option<usize>,
        /// The limit on depth.
        depth: Option<usize>,
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

fn limit(limit: Option<usize>) -> String {
    limit.map_or_else(|| "any number of".to_owned(), |limit| limit.to_string())
}

impl Plan {
    /// The plan to use this tree for every phase; `planner` says where the tree comes from.
    ///
    /// # Panics
    ///
    /// If the tree has not as many members as the problem.
    #[must_use]
    #[track_caller]
    pub fn of_tree(problem: &Problem, operation: Operation, planner: &str, tree: Tree) -> Self {
        let up = operation.has_both_phases().then(|| tree.clone());
        Self {
            machine: problem.machine().to_owned(),
            operation,
            planner: planner.to_owned(),
            why: "asked for".to_owned(),
            effort: None,
            seed: 0,
            iterations: 0,
            is_root_given: false,
            predicted: operation.cost(problem, &tree),
            tree,
            up,
            scheme: Scheme::Trees,
            cpus: problem.cpus().to_vec(),
            unit: problem.unit(),
            bound: None,
            is_proven: false,
        }
    }

    /// The same plan over a problem of the same members, such as [`Problem::by_rank`].
    ///
    /// # Panics
    ///
    /// If the number of members differs.
    #[must_use]
    #[track_caller]
    pub fn over(self, problem: &Problem) -> Self {
        assert_eq!(self.cpus.len(), problem.len(), "the plan and the problem have the same members");
        Self { cpus: problem.cpus().to_vec(), ..self }
    }

    /// The CPU of the root.
    #[must_use]
    pub fn root(&self) -> CpuId {
        self.cpus[self.tree.root()]
    }

    /// The tree that reductions go up.
    #[must_use]
    pub fn up(&self) -> &Tree {
        self.up.as_ref().unwrap_or(&self.tree)
    }

    /// The most that the plan is above the bound: 0.01 is one percent. `None` without a bound.
    #[must_use]
    pub fn gap(&self) -> Option<f64> {
        let above = |bound: f64| if self.predicted <= bound { 0.0 } else { self.predicted / bound - 1.0 };
        self.bound.map(above)
    }
}
