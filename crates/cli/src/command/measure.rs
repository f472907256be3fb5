//! `corecast measure`: what messages between the CPUs, or with `--cluster` between nodes, cost, or what locks take from holder
//! to holder, as a model file and in the cache. What single accesses cost the program `corecast-bench` measures.

use std::collections::BTreeSet;
use std::path::PathBuf;

use corecast::Machine;
use corecast::lock::{Mode, measure_hand_overs};
use corecast::machine::measure::Options;

use crate::added_costs::{self, AddedCosts, ModelText};
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

use super::bench;

/// Options of `measure`.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    elsewhere: Option<Elsewhere>,
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

/// The costs that the benchmarks' program measures.
#[derive(Clone, Debug, clap::Subcommand)]
enum Elsewhere {
    /// Add what single accesses to cache lines cost, by state and distance, for `corecast sim`.
    Coherence(bench::Arguments),
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
    if let Some(Elsewhere::Coherence(rest)) = &arguments.elsewhere {
        return bench::run(Some("coherence"), rest, output);
    }
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
    let text = || ModelText {
        before: machine_text::describe(&machine) + "\n",
        picture: cost_matrix::draw(&machine, shading),
        behind: machine_text::notes(&machine),
    };
    added_costs::tell(output, &machine, arguments.out.as_deref(), kept.as_deref(), text)
}

fn measure_locks(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    let Arguments { machine, quick, out, .. } = arguments;
    let added = AddedCosts { what: "locks", machine, quick: *quick, out: out.as_deref(), output };
    let interrupt = Interrupt::watch()?;
    let mut model = added.model(&interrupt)?;
    let options = Options { quick: *quick, cancelled: Some(interrupt.flag()), ..Options::default() };
    let curves = measure_hand_overs(&model.machine, &options, &mut Meter::start(output))?;
    interrupt.check()?;
    let kept = added.keep(&mut model, |machine| machine.extended.lock_hand_over_ns = curves.clone());
    let text = || ModelText {
        before: describe_curves(&model.machine),
        picture: String::new(),
        behind: machine_text::notes(&model.machine),
    };
    added_costs::tell(output, &model.machine, out.as_deref(), kept.as_deref(), text)
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
