//! The machine that the tests run on, with assumed costs.

use corecast::machine::{Cpu, Machine, Topology, pin};

/// The CPUs that this process may use.
pub(crate) fn this_machine() -> Machine {
    let cpus = pin::affinity().expect("the mask of this thread can be read");
    let cpus = cpus.iter().map(Cpu::flat).collect();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}
