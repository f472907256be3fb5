//! Why a machine could not be measured.

use corecast_base::{CpuId, CpuSet};

use crate::cost_matrix::CostMatrixError;
use crate::machine_error::MachineError;
use crate::pin::PinError;

/// Why there is no measurement. Doubts about one that was made are [`Extended::warnings`](crate::Extended::warnings).
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// The user asked to stop.
    #[error("the measurement was cancelled")]
    Cancelled,
    /// There is no CPU to measure.
    #[error("there is no CPU to measure")]
    NoCpus,
    /// A CPU asked for is not among those of the topology.
    #[error("CPU {cpu} cannot be measured: it is not among the usable CPUs {usable}")]
    NotUsable {
        /// The CPU asked for.
        cpu: CpuId,
        /// The CPUs of the topology.
        usable: CpuSet,
    },
    /// A thread could not be bound to its CPU.
    #[error("cannot measure costs without pinned threads: {0}")]
    Pin(PinError),
    /// The system gave no thread.
    #[error("no thread could be started for CPU {cpu}: {reason}")]
    Spawn {
        /// The CPU it was meant for.
        cpu: CpuId,
        /// The system's error.
        reason: String,
    },
    /// The code on a CPU panicked, which a probe may do.
    #[error("the measuring thread on CPU {cpu} panicked: {message}")]
    Panicked {
        /// The CPU.
        cpu: CpuId,
        /// The error of the probe.
        message: String,
    },
    /// A message or an answer did not arrive in a time longer than any delay by the scheduler.
    #[error("nothing arrived for {waited_s} s: the channel lost a message, or the other CPU's thread does not run")]
    Stalled {
        /// How long the thread waited.
        waited_s: u64,
    },
    /// A measured value cannot be a cost.
    #[error("the measured costs do not make a matrix: {0}")]
    Costs(CostMatrixError),
    /// The measured values do not make a machine.
    #[error("the measured costs do not make a machine: {0}")]
    Machine(MachineError),
}
