//! Measuring this machine, and keeping what was found.

use std::path::PathBuf;

use corecast::Machine;
use corecast::UmpProbe;
use corecast::machine::measure::{MeasureError, Options};
use corecast::machine::{Cache, Fingerprint, Topology, measure};

use crate::interrupt::Interrupt;
use crate::meter::Meter;
use crate::output::Output;

/// Measures what messages between these CPUs cost, over the channel that collectives use.
pub(crate) fn measure_machine(
    topology: &Topology,
    quick: bool,
    output: &Output,
    interrupt: &Interrupt,
) -> Result<Machine, MeasureError> {
    let options = Options { quick, cancelled: Some(interrupt.flag()), ..Options::default() };
    measure::measure(topology, &UmpProbe, &options, &mut Meter::start(output))
}

/// Keeps a model for the next time. A cache that cannot be written costs time then, and is no error now.
pub(crate) fn keep(machine: &Machine, topology: &Topology, output: &Output) -> Option<PathBuf> {
    let Some(cache) = Cache::of_user() else {
        output.remark("the model is not kept: neither XDG_CACHE_HOME nor HOME names a folder");
        return None;
    };
    let kept = cache.store(&Fingerprint::of_this_machine(topology), machine);
    kept.inspect_err(|error| output.remark(&format!("the model is not kept: {error}"))).ok()
}
