//! `corecast measure`: what messages between the CPUs cost, as a model file and in the cache.

use std::path::PathBuf;

use corecast::machine::model_file;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine_args::MachineArgs;
use crate::machine_text;
use crate::measuring::{keep, measure_machine};
use crate::output::Output;
use crate::target_folder;

/// Options of `measure`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    #[command(flatten)]
    machine: MachineArgs,
    /// Look at each pair a few times only.
    #[arg(long)]
    quick: bool,
    /// Also write the model to this file.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

pub(super) fn run(arguments: &Arguments, output: &Output) -> Result<(), Failure> {
    arguments.out.iter().try_for_each(|path| target_folder::check("the model", path))?;
    let topology = arguments.machine.topology_to_measure(output)?;
    let interrupt = Interrupt::watch()?;
    let machine = measure_machine(&topology, arguments.quick, output, &interrupt)?;
    interrupt.check()?;
    let kept = keep(&machine, &topology, output);
    if let Some(path) = &arguments.out {
        model_file::write(&machine, path)?;
    }
    if output.is_json() {
        return output.text(&model_file::render(&machine).map_err(Failure::environment)?);
    }
    let mut text = machine_text::describe(&machine) + &machine_text::notes(&machine);
    for path in kept.iter().chain(&arguments.out) {
        text += &format!("model written to {}\n", path.display());
    }
    output.text(&text)
}
