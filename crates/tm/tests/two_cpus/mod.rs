//! The machine of the tests of instances.

use corecast_base::CpuId;
use corecast_machine::{Cpu, Machine, Topology};

/// Two CPUs that share nothing known.
pub(crate) fn machine() -> Machine {
    let cpus = [0, 1].map(|id| Cpu::flat(CpuId::new(id))).to_vec();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}
