//! The CPUs on which an instance's participants are started, as far as this process may use them.

use corecast_base::{CpuId, CpuSet};
use corecast_machine::{Machine, pin};

use crate::config::Config;
use crate::error::OpenError;
use crate::placement::Placement;

/// The CPUs of the machine that this process may use, or all if it may use none. The mask of the calling thread does not count: it
/// may be bound to a CPU, and participants are threads of their own.
fn usable(machine: &Machine) -> CpuSet {
    let all = machine.cpu_set();
    let mine = pin::process_affinity().unwrap_or_else(|_| all.clone());
    let usable = all.intersection(&mine);
    if usable.is_empty() { all } else { usable }
}

/// The placement of an instance on the CPUs that this process may use.
pub(crate) fn placement(machine: &Machine, config: &Config) -> Result<Placement, OpenError> {
    let every = (!config.is_shared).then_some(config.every);
    Placement::new(machine, &usable(machine), config.participants, every)
        .map_err(|error| OpenError::Machine(error.to_string()))
}

/// The CPU of each participant. With more participants than CPUs the scheduler knows better.
pub(crate) fn cpus(machine: &Machine, config: &Config) -> Vec<Option<CpuId>> {
    let placed = placement(machine, config).ok().filter(|_| config.participants <= usable(machine).len());
    match placed {
        Some(placement) => placement.cpus().iter().copied().map(Some).collect(),
        None => vec![None; config.participants],
    }
}
