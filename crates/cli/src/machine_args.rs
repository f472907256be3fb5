//! Which machine a command is about, as options that several commands share.
//!
//! Nothing given means the machine that the program runs on. A model that was measured and cached serves it; without
//! one, costs are assumed from the topology, and the user is told.

use std::error::Error;
use std::path::{Path, PathBuf};

use corecast::machine::source::{DiscoveryRequest, discover};
use corecast::machine::{Cache, CacheMiss, Fingerprint, RaceCheck, Topology, model_file};
use corecast::{CpuSet, Machine};
use corecast_race::Report;

use crate::failure::Failure;
use crate::output::Output;
use crate::{cpus_arg, drift, printable, race_checks};

/// Which machine, and which of its CPUs.
#[derive(Clone, Debug, Default, PartialEq, clap::Args)]
pub struct MachineArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// Use these CPUs only, such as 0-3,8 [default: all that are usable].
    #[arg(long, value_name = "LIST", value_parser = cpus_arg::parse)]
    pub cpus: Option<CpuSet>,
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
pub struct Model {
    /// The machine, restricted to the CPUs asked for.
    pub machine: Machine,
    /// Where it comes from, in words.
    pub origin: String,
    /// The file that keeps what this machine was found to be, if there is one: races are added to it.
    pub file: Option<PathBuf>,
    /// Whether it was given, and is not known to be of this machine.
    pub is_foreign: bool,
}

impl Model {
    /// Keeps what a race among its CPUs said about it, here and in its file. A file that cannot be written loses that,
    /// and is no error.
    /// Prints a remark and returns true if the race disagrees with the model; `again` is the command that measures anew.
    pub fn check_by(&mut self, race: &Report, again: &str, output: &Output) -> bool {
        let checks = race_checks::checks(&self.machine, race);
        let disagreement = drift::describe(&self.machine, race, &checks, again).filter(|_| !self.is_foreign);
        disagreement.iter().for_each(|words| output.remark(words));
        if !checks.is_empty() {
            self.keep_checks(checks, output);
        }
        disagreement.is_some()
    }

    fn keep_checks(&mut self, checks: Vec<RaceCheck>, output: &Output) {
        checks.iter().cloned().for_each(|check| self.machine.record_race(check).expect("a race among its own CPUs"));
        if let Some(path) = &self.file {
            if let Err(error) = add_to_file(path, checks) {
                output.remark(&format!("what the race said about the model is not kept: {error}"));
            }
        }
    }
}

/// The file is read anew, as it may have more CPUs than are used here.
fn add_to_file(path: &Path, checks: Vec<RaceCheck>) -> Result<(), Box<dyn Error>> {
    let mut machine = model_file::read(path)?;
    for check in checks {
        machine.record_race(check)?;
    }
    Ok(model_file::write(&machine, path)?)
}

impl MachineArgs {
    /// The CPUs asked for and what they share.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn topology(&self) -> Result<Topology, Failure> {
        let topology = self.whole_topology()?;
        self.restrict(topology)
    }

    /// The machine with costs: from the file given, or measured before, or assumed.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn model(&self, output: &Output) -> Result<Model, Failure> {
        match self.known_model()? {
            // JSON has the name as it is; texts have it on their line wherever it stands.
            Ok(model) if output.is_json() => Ok(model),
            Ok(mut model) => {
                model.machine.name = printable::line(&model.machine.name).into_owned();
                Ok(model)
            }
            Err(topology) => {
                output.remark("costs are assumed from the topology; `corecast measure` measures them");
                let origin = "assumed from the topology".to_owned();
                Ok(Model { machine: Machine::from_topology(&topology), origin, file: None, is_foreign: false })
            }
        }
    }

    /// The model in the file given or in the cache; or else the topology, of which there is no model.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn known_model(&self) -> Result<Result<Model, Topology>, Failure> {
        let whole = self.whole_topology()?;
        if let (Some(path), "file") = (&self.source.machine, whole.source.as_str()) {
            let machine = model_file::read(path)?;
            let cpus = cpus_arg::choose(self.cpus.as_ref(), machine.cpu_set(), &self.described())?;
            let origin = format!("model {}", path.display());
            let file = is_of_this_machine(&machine).then(|| path.clone());
            let is_foreign = file.is_none();
            return Ok(Ok(Model { machine: machine.restricted_to(&cpus), origin, file, is_foreign }));
        }
        let part = self.restrict(whole.clone())?;
        Ok(if self.source.is_given() { Err(part) } else { cached(&whole, &part).ok_or(part) })
    }

    /// The topology to measure, which is this machine's whatever describes it.
    ///
    /// # Errors
    /// A `Failure` with its exit code: bad input, or trouble of the environment.
    pub fn topology_to_measure(&self, output: &Output) -> Result<Topology, Failure> {
        if self.source.is_given() {
            output.remark(&format!("measuring this machine as if it were {}", self.described()));
        }
        self.topology()
    }

    fn whole_topology(&self) -> Result<Topology, Failure> {
        let SourceArgs { machine, sysfs_root, synthetic } = self.source.clone();
        let found = discover(&DiscoveryRequest { file: machine, sysfs_root, synthetic });
        // Nothing was given, so nothing given can be wrong.
        if self.source.is_given() { Ok(found?) } else { found.map_err(Failure::environment) }
    }

    fn restrict(&self, mut topology: Topology) -> Result<Topology, Failure> {
        let all = topology.cpus.iter().map(|cpu| cpu.id).collect();
        let cpus = cpus_arg::choose(self.cpus.as_ref(), all, &self.described())?;
        topology.cpus.retain(|cpu| cpus.contains(cpu.id));
        Ok(topology)
    }

    /// The words by which the user knows the machine.
    pub fn described(&self) -> String {
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

/// True if the model was measured here: only then do races run here say something about it.
fn is_of_this_machine(machine: &Machine) -> bool {
    let Ok(mut topology) = discover(&DiscoveryRequest::default()) else { return false };
    let cpus = machine.cpu_set();
    topology.cpus.retain(|cpu| cpus.contains(cpu.id));
    machine.extended.fingerprint == Some(Fingerprint::of_this_machine(&topology).id())
}

/// The model of exactly these CPUs if there is one, else that of the whole machine.
fn cached(whole: &Topology, part: &Topology) -> Option<Model> {
    let cache = Cache::of_user()?;
    let load = |topology| {
        let fingerprint = Fingerprint::of_this_machine(topology);
        let (machine, path) = (cache.load(&fingerprint)?, cache.path(&fingerprint));
        let origin = format!("cached model {}", path.display());
        Ok::<_, CacheMiss>(Model { machine, origin, file: Some(path), is_foreign: false })
    };
    let mut model = load(part).or_else(|_| load(whole)).ok()?;
    let cpus: CpuSet = part.cpus.iter().map(|cpu| cpu.id).collect();
    model.machine = model.machine.restricted_to(&cpus);
    Some(model)
}
