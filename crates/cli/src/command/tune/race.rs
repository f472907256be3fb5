//! The race that `tune` runs: every collective, on the CPUs of the model.

use std::time::Duration;

use corecast::Machine;
use corecast_race::{BenchError, Options, Report, collectives};

use crate::failure::Failure;
use crate::interrupt::Interrupt;
use crate::meter::Meter;
use crate::output::Output;

/// How long the race should take.
const BUDGET: Duration = Duration::from_secs(10);
const QUICK_BUDGET: Duration = Duration::from_secs(3);

/// The results of the race, or why nothing could be raced.
pub(super) type Raced = Result<Report, String>;

/// Races, unless the CPUs of the model are not ours to run on.
pub(super) fn run(machine: &Machine, quick: bool, output: &Output, interrupt: &Interrupt) -> Result<Raced, Failure> {
    let options = Options {
        cpus: Some(machine.cpu_set()),
        quick,
        budget: Some(if quick { QUICK_BUDGET } else { BUDGET }),
        cancel: interrupt.cancel(),
        ..Options::default()
    };
    match collectives(machine, &options, &mut Meter::start(output)) {
        Ok(report) => Ok(Ok(report)),
        Err(refusal @ (BenchError::Cpu { .. } | BenchError::Pin(_))) => {
            let why = format!("nothing is raced: {refusal}");
            output.remark(&why);
            Ok(Err(why))
        }
        Err(error) => Err(error.into()),
    }
}
