//! A plan as JSON, as `corecast plan --json` prints it: stable fields, CPUs by id.

use std::collections::BTreeMap;

use corecast_machine::Unit;
use serde::Serialize;

use crate::plan::Plan;

/// The fields of a plan, in the order of the text.
///
/// ```
/// use corecast_base::CpuId;
/// use corecast_machine::{Cpu, Machine, Topology};
/// use corecast_plan::{Operation, PlanJson, plan};
/// let cpus = [5, 7, 9].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
/// let machine = Machine::from_topology(&Topology { cpus, ..Topology::default() });
/// let plan = plan(&machine, Operation::Broadcast, "sequential", &machine.cpu_set(), None)?;
/// let json = serde_json::to_string(&PlanJson::of(&plan)?)?;
/// assert!(json.contains(r#""shape":"sequential","root":5,"children":{"5":[7,9]},"predicted":180.0,"unit":"ns""#));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlanJson {
    /// The machine's name.
    pub machine: String,
    /// The operation's name.
    pub op: &'static str,
    /// The shape's name.
    pub shape: String,
    /// The CPU of the root.
    pub root: u32,
    /// For each CPU that has children: theirs in send order.
    pub children: BTreeMap<u32, Vec<u32>>,
    /// The predicted cost.
    pub predicted: f64,
    /// The unit of `predicted`.
    pub unit: Unit,
    /// Every CPU planned for, ascending.
    pub cpus: Vec<u32>,
    /// The number of edges from the root to the farthest CPU.
    pub depth: usize,
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
        let parents = (0..plan.tree.len()).filter(|&member| !plan.tree.children(member).is_empty());
        let children = parents.map(|parent| {
            let children = plan.tree.children(parent).iter().map(|&child| cpu(child));
            (cpu(parent), children.collect())
        });
        Ok(Self {
            machine: plan.machine.clone(),
            op: plan.operation.name(),
            shape: plan.shape.clone(),
            root: plan.root().get(),
            children: children.collect(),
            predicted: plan.predicted,
            unit: plan.unit,
            cpus,
            depth: plan.tree.depth(),
        })
    }
}
