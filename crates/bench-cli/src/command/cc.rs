//! `corecast cc`: what single operations on a cache line cost, by the state that the line is in.

use corecast::Machine;
use corecast_bench::{CoherenceOptions, coherence, coherence_cases};
use corecast_race::Options;

use crate::coherence_text;
use crate::html_arg::HtmlArg;
use crate::page::render_coherence;
use crate::tell::tell;
use corecast_cli::failure::Failure;
use corecast_cli::interrupt::Interrupt;
use corecast_cli::machine_args::MachineArgs;
use corecast_cli::meter::Meter;
use corecast_cli::output::Output;

/// Options of `cc`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// Measure these cases only, by name or by their number in ccbench [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    cases: Vec<String>,
    /// Measure nothing, and list the cases.
    #[arg(long, conflicts_with_all = ["cases", "quick", "seed", "html"])]
    list: bool,
    /// A tenth of the samples.
    #[arg(long)]
    quick: bool,
    /// The seed of the order of lines [default: drawn, and reported].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    html: HtmlArg,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    if arguments.list {
        return tell(output, &coherence_cases()[..], coherence_text::list);
    }
    arguments.html.check()?;
    let machine = Machine::from_topology(&arguments.machine.topology_to_measure(output)?);
    let Arguments { quick, seed, .. } = *arguments;
    let (cpus, cancel) = (Some(machine.cpu_set()), Interrupt::watch()?.cancel());
    let options = Options { cpus, quick, seed, cancel, ..Options::default() };
    let options = CoherenceOptions { options, cases: arguments.cases.clone() };
    let report = coherence(&machine, &options, &mut Meter::start(output))?;
    arguments.html.tell(output, (&report, report.seed), coherence_text::describe, render_coherence)
}
