//! Requests for plans: the operation, the effort of the search, and the limits.

use crate::effort::Effort;
use crate::limits::Limits;
use crate::operation::Operation;
use crate::settings::Settings;

/// The name that asks for the best tree that the effort finds.
pub const AUTO: &str = "auto";

/// The inputs of planning.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Effort, Operation, Problem, Request};
/// let cpus = (0..4).map(|id| Cpu::flat(CpuId::new(id))).collect();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let problem = Problem::of_machine(&machine)?;
/// let plan = Request::new(Operation::Broadcast).effort(Effort::Quick).plan(&problem)?;
/// assert_eq!(plan.predicted, 210.0, "one tells three, 30 ns apart, and each takes 120 ns to receive");
/// let binary = Request::new(Operation::Broadcast).planner("binary").plan(&problem)?;
/// assert_eq!((binary.tree.children(0), binary.predicted), ([1, 2].as_slice(), 300.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Request<'a> {
    pub(crate) operation: Operation,
    pub(crate) planner: String,
    pub(crate) root: Option<usize>,
    pub(crate) settings: Settings<'a>,
}

impl<'a> Request<'a> {
    /// Asks for the best tree that [`Effort::Normal`] finds, with any root.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self { operation, planner: AUTO.to_owned(), root: None, settings: Settings::default() }
    }

    /// The maker of the tree: a shape or a planner by name (see [`crate::planners`]), or [`AUTO`].
    #[must_use]
    pub fn planner(self, name: &str) -> Self {
        Self { planner: name.to_owned(), ..self }
    }

    /// How hard to search.
    #[must_use]
    pub fn effort(mut self, effort: Effort) -> Self {
        self.settings.effort = effort;
        self
    }

    /// The seed of everything random; the same seed gives the same plan.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Start from this member, a rank; without one the root is chosen.
    #[must_use]
    pub fn root(self, root: Option<usize>) -> Self {
        Self { root, ..self }
    }

    /// The limits that the tree must keep.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// A function that a long search calls now and then; once it returns true, the search ends with the best tree so
    /// far.
    #[must_use]
    pub fn stop(mut self, stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        self.settings.stop = stop;
        self
    }
}

impl std::fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Request")
            .field("operation", &self.operation)
            .field("planner", &self.planner)
            .field("root", &self.root)
            .field("effort", &self.settings.effort)
            .field("seed", &self.settings.seed)
            .field("limits", &self.settings.limits)
            .finish_non_exhaustive()
    }
}
