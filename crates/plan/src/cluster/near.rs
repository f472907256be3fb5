//! The work inside the nodes of a cluster: planned once for each kind of machine.

use std::collections::BTreeMap;
use std::path::Path;

use corecast_base::CpuId;
use corecast_machine::source::{DiscoverError, DiscoveryRequest, discover};
use corecast_machine::{Machine, ModelFileError, Unit, model_file};

use super::model::{ClusterModel, MachineKind, MachineSource};
use crate::effort::Effort;
use crate::operation::Operation;
use crate::plan::PlanError;
use crate::problem::{Problem, ProblemError};
use crate::request::Request;

/// Why the inside of a node cannot be planned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NearError {
    /// The file of a machine is not read.
    #[error("machine `{kind}`: {error}")]
    File {
        /// The kind of machine.
        kind: String,
        /// The fault.
        error: ModelFileError,
    },
    /// The notation of a machine is wrong.
    #[error("machine `{kind}`: {error}")]
    Synthetic {
        /// The kind of machine.
        kind: String,
        /// The fault.
        error: DiscoverError,
    },
    /// The machine's costs have another unit than those of the network.
    #[error("machine `{kind}` has costs in cycles, expected nanoseconds, as between nodes")]
    Cycles {
        /// The kind of machine.
        kind: String,
    },
    /// The members cannot be planned for.
    #[error("machine `{kind}`: {error}")]
    Problem {
        /// The kind of machine.
        kind: String,
        /// The fault.
        error: ProblemError,
    },
    /// There is no plan.
    #[error("machine `{kind}`: {error}")]
    Plan {
        /// The kind of machine.
        kind: String,
        /// The fault.
        error: PlanError,
    },
}

/// The time that the members of one node take for values of a cache line.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Members of the node.
    pub members: u32,
    /// Nanoseconds of a reduction to the leader.
    pub up_ns: f64,
    /// Nanoseconds of a broadcast from the leader.
    pub down_ns: f64,
    /// The machine, the provenance of its costs, and the planner, in words.
    pub about: String,
}

/// [`Near`] for each kind of machine.
///
/// ```
/// use corecast_plan::Effort;
/// use corecast_plan::cluster::{MachineKind, MachineSource, Near};
/// let kind = MachineKind::of(MachineSource::Synthetic("pack:2 core:4 pu:1".to_owned()));
/// let near = Near::plan("small", &kind, std::path::Path::new("."), Effort::Quick)?;
/// assert_eq!(near.members, 8);
/// assert!(near.up_ns > 0.0 && near.down_ns > 0.0);
/// # Ok::<(), corecast_plan::cluster::NearError>(())
/// ```
pub type NearCosts = BTreeMap<String, Near>;

impl Near {
    /// A node with a single member has nothing to do inside.
    #[must_use]
    pub fn alone() -> Self {
        Self { members: 1, up_ns: 0.0, down_ns: 0.0, about: "one member".to_owned() }
    }

    /// Plans the inside of a kind of machine: a reduction to the leader, and a broadcast from the same leader. Paths of machine
    /// files are from `folder`.
    ///
    /// # Errors
    ///
    /// If there is no model of the machine, its unit is cycles, or it cannot be planned for.
    pub fn plan(kind: &str, of: &MachineKind, folder: &Path, effort: Effort) -> Result<Self, NearError> {
        let kind = kind.to_owned();
        let machine = machine(&kind, &of.machine, folder)?;
        if machine.unit != Unit::Ns {
            return Err(NearError::Cycles { kind });
        }
        let members = members(&machine, of.members);
        let problem = match Problem::of_members(&machine, &members) {
            Ok(problem) => problem,
            Err(error) => return Err(NearError::Problem { kind, error }),
        };
        if members.len() == 1 {
            return Ok(Self::alone());
        }
        let plans = Request::new(Operation::Reduce).effort(effort).plan(&problem).and_then(|up| {
            let down = Request::new(Operation::Broadcast).effort(effort).root(Some(up.tree.root())).plan(&problem)?;
            Ok((up, down))
        });
        let (up, down) = plans.map_err(|error| NearError::Plan { kind, error })?;
        let planners = format!("reduction by {}, broadcast by {}", up.planner, down.planner);
        Ok(Self {
            members: u32::try_from(members.len()).expect("a checked model has at most 65536 members"),
            up_ns: up.predicted,
            down_ns: down.predicted,
            about: format!("{}, costs {}; {planners}", machine.name, machine.provenance.kind),
        })
    }

    /// Plans the inside of every kind that a cluster has.
    ///
    /// # Errors
    ///
    /// As [`Near::plan`], for the first kind that has no plan.
    pub fn plan_all(model: &ClusterModel, folder: &Path, effort: Effort) -> Result<NearCosts, NearError> {
        let used = model.machines.iter().filter(|(kind, _)| model.nodes.iter().any(|run| run.kind == **kind));
        used.map(|(kind, of)| Ok((kind.clone(), Self::plan(kind, of, folder, effort)?))).collect()
    }
}

fn machine(kind: &str, source: &MachineSource, folder: &Path) -> Result<Machine, NearError> {
    match source {
        MachineSource::File(path) => {
            model_file::read(&folder.join(path)).map_err(|error| NearError::File { kind: kind.to_owned(), error })
        }
        MachineSource::Synthetic(text) => {
            let request = DiscoveryRequest { synthetic: Some(text.clone()), ..DiscoveryRequest::default() };
            let topology = discover(&request);
            let topology = topology.map_err(|error| NearError::Synthetic { kind: kind.to_owned(), error })?;
            Ok(Machine { name: text.clone(), ..Machine::from_topology(&topology) })
        }
    }
}

/// The CPUs of the members: the first ones, or several on one where there are more members than CPUs.
fn members(machine: &Machine, members: Option<u32>) -> Vec<CpuId> {
    let cpus = machine.cpu_set();
    let len = members.map_or(cpus.as_slice().len(), |members| members as usize);
    cpus.as_slice().iter().copied().cycle().take(len).collect()
}
