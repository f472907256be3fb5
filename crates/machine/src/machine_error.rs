//! Why the parts of a machine's model do not fit together.

use corecast_base::CpuId;

use crate::cost_matrix::MAX_COST;
use crate::race::MOST_RACES;

/// Why the parts of a [`Machine`](crate::Machine) do not fit together.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// There is no CPU.
    #[error("`cpus` is empty, expected at least one CPU")]
    NoCpus,
    /// A CPU is listed twice.
    #[error("CPU {cpu} is listed twice in `cpus`")]
    DuplicateCpu {
        /// The CPU.
        cpu: CpuId,
    },
    /// A matrix does not have one row for each CPU.
    #[error("`{matrix}` has {found} rows, expected {expected}, one for each CPU")]
    RowCount {
        /// The matrix.
        matrix: &'static str,
        /// Its rows.
        found: usize,
        /// The number of CPUs.
        expected: usize,
    },
    /// An extended cost is negative, not a number, or absurdly large.
    #[error("`{field}` is {cost}, expected a number from 0 to {MAX_COST:e}")]
    NoCost {
        /// The field.
        field: &'static str,
        /// Its value.
        cost: f64,
    },
    /// A [`Curve`](crate::Curve) is invalid.
    #[error("`{field}` {rule}")]
    NoCurve {
        /// The field.
        field: &'static str,
        /// The fault in it.
        rule: String,
    },
    /// A field of `coherence` is invalid.
    #[error("`coherence.{field}` {rule}")]
    Coherence {
        /// The field.
        field: String,
        /// The fault in it.
        rule: String,
    },
    /// An entry of `races` does not belong to this machine.
    #[error("in `races`, `{operation}` by `{algorithm}` {rule}")]
    NoRace {
        /// Its operation.
        operation: String,
        /// Its algorithm.
        algorithm: String,
        /// The fault in it.
        rule: String,
    },
    /// There are more races than are kept.
    #[error("`races` has {found} entries, expected at most {MOST_RACES}")]
    TooManyRaces {
        /// Their number.
        found: usize,
    },
}
