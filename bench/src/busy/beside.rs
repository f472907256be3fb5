//! Busy processes beside the whole run of another benchmark.

use std::fmt;
use std::path::PathBuf;

use corecast::machine::Machine;
use corecast_race::error::BenchError;
use corecast_race::options::Options;

use super::neighbours::{Load, Neighbours};
use super::starter::Starter;
use super::{BusyOptions, Neighbour};

/// Processes of one busy thread each, on the CPUs of a benchmark, until it is dropped.
pub struct ForeignLoad {
    /// The program in which they run ends them when they are dropped.
    processes: Neighbours,
}

impl ForeignLoad {
    /// Starts `options.busy` of them, and waits until all are at work. The program with these arguments calls
    /// [`busy_member`](super::busy_member).
    ///
    /// # Errors
    /// A [`BenchError`] if the options do not fit the machine, the run is cancelled, or a process cannot be started.
    pub fn start(
        machine: &Machine,
        options: &Options,
        program: PathBuf,
        arguments: Vec<String>,
    ) -> Result<Self, BenchError> {
        let cpus: Vec<u32> = options.usable_cpus(machine)?.iter().map(|cpu| cpu.get()).collect();
        let wanted = BusyOptions { options: options.clone(), program, arguments, ..BusyOptions::default() };
        let load = Load { neighbour: Neighbour::Normal, in_bursts: false };
        let processes = Neighbours::start(options.busy, load, &cpus, &Starter { options: &wanted })?;
        Ok(Self { processes })
    }
}

impl fmt::Debug for ForeignLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignLoad({:?} CPUs)", self.processes.alone)
    }
}
