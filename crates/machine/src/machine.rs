//! A machine as the planner sees it: its CPUs and what a message between every two of them costs.

use corecast_base::CpuId;

use crate::topology::Cpu;

/// The unit of every cost of a [`Machine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Cycles of the machine's clock.
    Cycles,
}
