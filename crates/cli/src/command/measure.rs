//! `corecast measure`: what messages between the CPUs, or with `--cluster` between nodes, cost, or what locks take from holder
//! to holder, as a model file and in the cache.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use corecast::lock::{Mode, measure_hand_overs};
use corecast::machine::measure::{MeasureError, Options};
use corecast::machine::{Curve, model_file, pin};
use corecast::{CpuSet, Machine};

use crate::cluster;
use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine_args::MachineArgs;
use crate::machine_text;
use crate::measuring::{keep, measure_machine};
use crate::meter::Meter;
use crate::output::Output;
use crate::shade::Shading;
use crate::{cost_matrix, screen, table, target_folder};

use super::tune::costs;

/// Options of `measure`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The costs to measure. Those of locks are added to the model, which is measured first if there is none.
    #[arg(default_value = "messages")]
    what: What,
    #[command(flatten)]
    machine: MachineArgs,
    /// Measure what messages between nodes cost instead, under the launcher of an MPI: every process calls it, one on each host.
    /// With several on each host, the first ones measure, and then all at once: that shows how lanes of a node share a network.
    #[arg(long, conflicts_with_all = ["force", "what"])]
    cluster: bool,
    /// Look at each pair a few times only, and at locks for a shorter time.
    #[arg(long)]
    quick: bool,
    /// Let a quick model take the place of a full one that is kept.
    #[arg(long, requires = "quick")]
    force: bool,
    /// Also write the model to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// The costs that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// The cost of messages between every two CPUs.
    Messages,
    /// The time of the lock `auto` from holder to holder in each of its modes.
    Locks,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if arguments.cluster {
        return cluster::measure(&arguments.machine, arguments.quick, arguments.out.as_deref(), output);
    }
    arguments.out.iter().try_for_each(|path| target_folder::check("the model", path))?;
    match arguments.what {
        What::Messages => measure_messages(arguments, output),
        What::Locks => measure_locks(arguments, output),
    }
}

fn measure_messages(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let topology = arguments.machine.topology_to_measure(output)?;
    let interrupt = Interrupt::watch()?;
    let machine = measure_machine(&topology, arguments.quick, output, &interrupt)?;
    interrupt.check()?;
    let kept = keep(&machine, &topology, arguments.force, output);
    let shading = if screen::has_colours() { Shading::Colours } else { Shading::Characters };
    let text = || Text {
        before: machine_text::describe(&machine) + "\n",
        picture: cost_matrix::draw(&machine, shading),
        behind: machine_text::notes(&machine),
    };
    arguments.tell(output, &machine, kept, text)
}

/// A result for people, with a picture that may have colours.
struct Text {
    before: String,
    picture: String,
    behind: String,
}

fn measure_locks(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    check_cpus(&arguments.machine)?;
    let interrupt = Interrupt::watch()?;
    let mut model = costs::model(&arguments.machine, arguments.quick, false, output, &interrupt)?;
    if model.is_foreign {
        arguments.check_nothing_is_mixed(output)?;
        output.remark("the model is not known to be of this machine, on which locks are measured: it stays as it is");
    }
    if model.machine.provenance.kind == "assumed" {
        output.remark("what messages cost is assumed in this model: only what locks cost is measured");
    }
    let options = Options { quick: arguments.quick, cancelled: Some(interrupt.flag()), ..Options::default() };
    let curves = measure_hand_overs(&model.machine, &options, &mut Meter::start(output))?;
    interrupt.check()?;
    let kept = model.file.filter(|path| add_to_file(path, &model.machine, &curves, output));
    model.machine.extended.lock_hand_over_ns = curves;
    let text = || Text {
        before: describe_curves(&model.machine),
        picture: String::new(),
        behind: machine_text::notes(&model.machine),
    };
    arguments.tell(output, &model.machine, kept, text)
}

/// That threads can be on the CPUs of a machine that was given.
fn check_cpus(given: &MachineArgs) -> Result<(), Failure> {
    let cpus: CpuSet = given.topology()?.cpus.iter().map(|cpu| cpu.id).collect();
    let usable = pin::affinity().map_err(Failure::environment)?;
    match cpus.difference(&usable).as_slice().first() {
        None => Ok(()),
        Some(&cpu) => {
            let error = MeasureError::NotUsable { cpu, usable };
            Err(Failure::input(format!("the machine of {}: {error}", given.described())))
        }
    }
}

/// Adds them to the model in a file, if that is of the same CPUs. A file that cannot be written loses them, and is no error.
fn add_to_file(path: &Path, machine: &Machine, curves: &BTreeMap<String, Curve>, output: &Output) -> bool {
    let added = model_file::read(path).and_then(|mut whole| {
        let is_whole = whole.cpu_set() == machine.cpu_set();
        whole.extended.lock_hand_over_ns = curves.clone();
        if is_whole { model_file::write(&whole, path).map(|()| true) } else { Ok(false) }
    });
    match added {
        Ok(true) => return true,
        Ok(false) => output.remark("what locks cost is not kept: the model is of more CPUs; `--out FILE` writes it"),
        Err(error) => output.remark(&format!("what locks cost is not kept: {error}")),
    }
    false
}

/// A line for each number of threads.
fn describe_curves(machine: &Machine) -> String {
    let curves = &machine.extended.lock_hand_over_ns;
    if curves.is_empty() {
        return match machine.cpus.len() {
            1 => "only one CPU can be used, so no lock is handed over\n".to_owned(),
            _ => "no lock was handed over in the time there was: other programs had the CPUs, perhaps\n".to_owned(),
        };
    }
    let modes = Mode::ALL.map(|mode| format!(">{mode} ns"));
    let headings: Vec<&str> = std::iter::once(">waiting").chain(modes.iter().map(String::as_str)).collect();
    let mut rows = table::table(&headings);
    let numbers: BTreeSet<u32> = curves.values().flatten().map(|&(waiting, _)| waiting).collect();
    for waiting in numbers {
        let ns = |mode: Mode| curves.get(mode.name())?.iter().find(|(k, _)| *k == waiting).map(|&(_, ns)| ns);
        let times = Mode::ALL.map(|mode| table::number(ns(mode), 0));
        rows.add_row(std::iter::once(waiting.to_string()).chain(times).collect::<Vec<_>>());
    }
    format!(
        "from one holder of the lock auto to the next, by how threads wait for it and how many do\n{}",
        table::text(&rows)
    )
}

impl Arguments {
    /// That nobody wants a model which has the costs of another machine and the locks of this one.
    fn check_nothing_is_mixed(&self, output: &Output) -> Result<(), Failure> {
        if self.out.is_none() && !output.is_json() {
            return Ok(());
        }
        let model = self.machine.described();
        let error =
            format!("the model {model} is not known to be of this machine, whose locks cannot be written into it");
        Err(Failure::input(error).with_help("without --machine the model of this machine is taken, or measured"))
    }

    /// Writes the model where it is wanted, and tells it: `kept` is where it is already.
    fn tell(
        &self,
        output: &Output,
        machine: &Machine,
        kept: Option<PathBuf>,
        text: impl FnOnce() -> Text,
    ) -> Result<(), Failure> {
        if let Some(path) = &self.out {
            model_file::write(machine, path)?;
        }
        if output.is_json() {
            return output.json_text(&model_file::render(machine).map_err(Failure::environment)?);
        }
        let paths = kept.iter().chain(&self.out);
        let written: String = paths.map(|path| format!("model written to {}\n", path.display())).collect();
        let Text { before, picture, behind } = text();
        output.text_around(&before, &picture, &(behind + &written))
    }
}
