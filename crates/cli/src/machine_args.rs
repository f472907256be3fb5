//! Which machine a command is about, as options that several commands share.
//!
//! Nothing given means the machine that the program runs on. A model that was measured and cached serves it; without
//! one, costs are assumed from the topology, and the user is told.

use std::path::PathBuf;

use corecast::machine::source::{Request, discover};
use corecast::machine::{Cache, CacheMiss, Fingerprint, Topology, model_file};
use corecast::{CpuSet, Machine};

use crate::cpus_arg;
use crate::failure::Failure;
use crate::output::Output;

/// Which machine, and which of its CPUs.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub(crate) struct MachineArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Use these CPUs only, such as 0-3,8 [default: all that are usable].
    #[arg(long, value_name = "LIST", value_parser = cpus_arg::parse)]
    pub(crate) cpus: Option<CpuSet>,
}

/// Where the machine is described, if it is not the one that the program runs on.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
#[group(multiple = false)]
struct SourceArgs {
    /// Take the machine from this file: a corecast-machine/1 model, or hwloc XML.
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// Take the machine from the Linux system below this directory, such as a captured tree.
    #[arg(long, value_name = "DIR")]
    sysfs_root: Option<PathBuf>,
    /// Make up a machine in hwloc's notation, such as "pack:2 core:4 pu:2".
    #[arg(long, value_name = "TEXT")]
    synthetic: Option<String>,
}

/// A machine with costs, and where they come from.
#[derive(Debug)]
pub(crate) struct Model {
    /// The machine, restricted to the CPUs asked for.
    pub(crate) machine: Machine,
    /// Where it comes from, in words.
    pub(crate) origin: String,
}

impl MachineArgs {
    /// The CPUs asked for and what they share.
    pub(crate) fn topology(&self) -> Result<Topology, Failure> {
        let topology = self.whole_topology()?;
        self.restrict(topology)
    }

    /// The machine with costs: from the file given, or measured before, or assumed.
    pub(crate) fn model(&self, output: &Output) -> Result<Model, Failure> {
        match self.known_model()? {
            Ok(model) => Ok(model),
            Err(topology) => {
                output.remark("costs are assumed from the topology; `corecast measure` measures them");
                Ok(Model { machine: Machine::from_topology(&topology), origin: "assumed from the topology".to_owned() })
            }
        }
    }

    /// The model in the file given or in the cache; or else the topology, of which there is no model.
    pub(crate) fn known_model(&self) -> Result<Result<Model, Topology>, Failure> {
        let whole = self.whole_topology()?;
        if let (Some(path), "file") = (&self.source.machine, whole.source.as_str()) {
            let machine = model_file::read(path)?;
            let cpus = cpus_arg::choose(self.cpus.as_ref(), machine.cpu_set(), &self.described())?;
            let origin = format!("model {}", path.display());
            return Ok(Ok(Model { machine: machine.restricted_to(&cpus), origin }));
        }
        let part = self.restrict(whole.clone())?;
        Ok(if self.source.is_given() { Err(part) } else { cached(&whole, &part).ok_or(part) })
    }

    /// The topology to measure, which is this machine's whatever describes it.
    pub(crate) fn topology_to_measure(&self, output: &Output) -> Result<Topology, Failure> {
        if self.source.is_given() {
            output.remark(&format!("measuring this machine as if it were {}", self.described()));
        }
        self.topology()
    }

    fn whole_topology(&self) -> Result<Topology, Failure> {
        let SourceArgs { machine, sysfs_root, synthetic } = self.source.clone();
        let found = discover(&Request { file: machine, sysfs_root, synthetic });
        // Nothing was given, so nothing given can be wrong.
        if self.source.is_given() { Ok(found?) } else { found.map_err(Failure::environment) }
    }

    fn restrict(&self, mut topology: Topology) -> Result<Topology, Failure> {
        let all = topology.cpus.iter().map(|cpu| cpu.id).collect();
        let cpus = cpus_arg::choose(self.cpus.as_ref(), all, &self.described())?;
        topology.cpus.retain(|cpu| cpus.contains(cpu.id));
        Ok(topology)
    }

    /// What the user knows the machine as.
    fn described(&self) -> String {
        let SourceArgs { machine, sysfs_root, synthetic } = &self.source;
        let file = machine.as_ref().or(sysfs_root.as_ref()).map(|path| path.display().to_string());
        let made_up = || synthetic.as_ref().map(|text| format!("'{text}'"));
        file.or_else(made_up).unwrap_or_else(|| "this machine that may be used".to_owned())
    }
}

impl SourceArgs {
    fn is_given(&self) -> bool {
        *self != Self::default()
    }
}

/// The model of exactly these CPUs if there is one, else that of the whole machine.
fn cached(whole: &Topology, part: &Topology) -> Option<Model> {
    let cache = Cache::of_user()?;
    let load = |topology| {
        let fingerprint = Fingerprint::of_this_machine(topology);
        let machine = cache.load(&fingerprint)?;
        Ok::<_, CacheMiss>(Model { machine, origin: format!("cached model {}", cache.path(&fingerprint).display()) })
    };
    let mut model = load(part).or_else(|_| load(whole)).ok()?;
    let cpus: CpuSet = part.cpus.iter().map(|cpu| cpu.id).collect();
    model.machine = model.machine.restricted_to(&cpus);
    Some(model)
}
