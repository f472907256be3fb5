//! A plan as JSON, as `corecast plan --json` prints it: stable fields, CPUs by id.

use std::collections::BTreeMap;

use corecast_machine::Unit;
use serde::Serialize;

use crate::effort::Effort;
use crate::plan::{Plan, Scheme};
use crate::shape;
use crate::tree::Tree;

/// The fields of a plan, in the order of the text.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Operation, PlanJson, Problem, Request};
/// let cpus = [5, 7, 9].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let problem = Problem::of_machine(&machine)?;
/// let plan = Request::new(Operation::Broadcast).planner("sequential").plan(&problem)?;
/// let json = serde_json::to_string(&PlanJson::of(&plan)?)?;
/// assert!(json.contains(r#""shape":"sequential","root":5,"children":{"5":[7,9]},"#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanJson {
    /// The machine's name.
    pub machine: String,
    /// The operation's name.
    pub op: &'static str,
    /// The maker of the plan: the name of a planner or shape.
    pub planner: String,
    /// The seed shape that made the tree, or `searched`.
    pub shape: String,
    /// The CPU of the root.
    pub root: u32,
    /// For each CPU that has children: theirs in send order. In operations of both phases this is `down`.
    pub children: BTreeMap<u32, Vec<u32>>,
    /// In operations of both phases: the tree that reductions go up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub up: Option<TreeJson>,
    /// In operations of both phases: the tree that broadcasts go down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<TreeJson>,
    /// How the members meet: `trees`, `leaders`, `dissemination`, `release-line` or `counter`.
    pub scheme: &'static str,
    /// The leaders, or every member in the order of dissemination.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<u32>,
    /// The predicted cost.
    pub predicted: f64,
    /// The unit of `predicted` and `bound`.
    pub unit: Unit,
    /// No plan of this scheme costs less; `null` if it was not computed.
    pub bound: Option<f64>,
    /// `predicted / bound - 1`; `null` without a bound.
    pub gap: Option<f64>,
    /// True if it is proven that no plan of this scheme costs less.
    pub proven: bool,
    /// How hard the search was; `null` for shapes and trees that were given.
    pub effort: Option<&'static str>,
    /// The seed of the search.
    pub seed: u64,
    /// How many steps the search took.
    pub iterations: u64,
    /// Milliseconds that planning took; `null` if it was not measured. The only field that differs between two runs.
    pub time_ms: Option<f64>,
    /// Why this plan, in words.
    pub why: String,
    /// Every CPU planned for, ascending.
    pub cpus: Vec<u32>,
    /// The number of edges from the root to the farthest CPU.
    pub depth: usize,
}

/// A tree by CPUs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TreeJson {
    /// The CPU of the root.
    pub root: u32,
    /// For each CPU that has children: theirs in send order.
    pub children: BTreeMap<u32, Vec<u32>>,
}

/// Several members of the plan share a CPU, so that its children cannot be told apart by CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "several members of the plan run on CPU {cpu}: a tree in JSON names members by their CPUs, which must be distinct"
)]
pub struct SharedCpu {
    /// The CPU.
    pub cpu: u32,
}

impl PlanJson {
    /// The fields of this plan.
    ///
    /// # Errors
    ///
    /// If two members of the plan run on one CPU.
    pub fn of(plan: &Plan) -> Result<Self, SharedCpu> {
        let cpu = |member: usize| plan.cpus[member].get();
        let mut cpus: Vec<u32> = (0..plan.cpus.len()).map(cpu).collect();
        cpus.sort_unstable();
        if let Some(pair) = cpus.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(SharedCpu { cpu: pair[0] });
        }
        let down = TreeJson::of(plan, &plan.tree);
        let has_both = plan.operation.has_both_phases();
        let order = match &plan.scheme {
            Scheme::Trees | Scheme::ReleaseLine | Scheme::Counter => &[],
            Scheme::Leaders(order) | Scheme::Dissemination(order) => order.as_slice(),
        };
        Ok(Self {
            machine: plan.machine.clone(),
            op: plan.operation.name(),
            planner: plan.planner.clone(),
            shape: shape::find(&plan.planner).map_or("searched", |shape| shape.name()).to_owned(),
            root: down.root,
            children: down.children.clone(),
            up: has_both.then(|| TreeJson::of(plan, plan.up())),
            down: has_both.then_some(down),
            scheme: plan.scheme.name(),
            order: order.iter().map(|&member| cpu(member)).collect(),
            predicted: plan.predicted,
            unit: plan.unit,
            bound: plan.bound,
            gap: plan.gap(),
            proven: plan.is_proven,
            effort: plan.effort.map(Effort::name),
            seed: plan.seed,
            iterations: plan.iterations,
            time_ms: None,
            why: plan.why.clone(),
            cpus,
            depth: plan.tree.depth(),
        })
    }
}

impl TreeJson {
    fn of(plan: &Plan, tree: &Tree) -> Self {
        let cpu = |member: usize| plan.cpus[member].get();
        let parents = (0..tree.len()).filter(|&member| !tree.children(member).is_empty());
        let children = parents.map(|parent| {
            let children = tree.children(parent).iter().map(|&child| cpu(child));
            (cpu(parent), children.collect())
        });
        Self { root: cpu(tree.root()), children: children.collect() }
    }
}
