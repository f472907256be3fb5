//! Stub.
mod assumed;
mod cost_matrix;
mod machine;
mod topology;
pub use cost_matrix::{CostMatrix, CostMatrixError, MAX_COST};
pub use machine::{Extended, Machine, MachineError, Provenance, Unit};
pub use topology::*;
