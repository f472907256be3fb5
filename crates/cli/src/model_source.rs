//! Gets the model for `tune`, `measure locks` and `measure coherence`:
//! given by the user, cached, measured now, or as a last resort assumed.

use corecast::Machine;
use corecast::machine::Topology;
use corecast::machine::measure::MeasureError;

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::machine_args::{MachineArgs, Model};
use crate::measuring::{keep, measure_machine};
use crate::output::Output;

/// The model in the file given or in the cache, or else one that is measured now.
pub(crate) fn model(
    machine: &MachineArgs,
    quick: bool,
    remeasure: bool,
    output: &Output,
    interrupt: &Interrupt,
) -> Result<Model, Failure> {
    if !remeasure {
        if let Ok(model) = machine.known_model()? {
            return Ok(model);
        }
    }
    measured(&machine.topology_to_measure(output)?, quick, output, interrupt)
}

/// A machine that refuses to be measured is still worth a plan: its costs are assumed, and the user is told.
fn measured(topology: &Topology, quick: bool, output: &Output, interrupt: &Interrupt) -> Result<Model, Failure> {
    match measure_machine(topology, quick, output, interrupt) {
        Ok(machine) => {
            let file = keep(&machine, topology, false, output);
            let kept = file.as_ref().map(|path| format!("model kept in {}", path.display()));
            Ok(Model { machine, origin: kept.unwrap_or_else(|| "measured now".to_owned()), file, is_foreign: false })
        }
        Err(refusal @ (MeasureError::Pin(_) | MeasureError::Stalled { .. } | MeasureError::Spawn { .. })) => {
            let mut machine = Machine::from_topology(topology);
            machine.extended.warnings.push(format!("costs are assumed, not measured: {refusal}"));
            Ok(Model { machine, origin: "assumed from the topology".to_owned(), file: None, is_foreign: false })
        }
        Err(error) => Err(error.into()),
    }
}
