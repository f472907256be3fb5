//! Stub.
mod assumed;
mod atomic_file;
mod bounded_file;
mod cache;
mod cost_matrix;
mod fingerprint;
mod machine;
pub mod model_file;
mod topology;
pub use atomic_file::write_atomically;
pub use bounded_file::{BoundedReadError, read_bounded};
pub use cache::{Cache, CacheMiss};
pub use cost_matrix::{CostMatrix, CostMatrixError, MAX_COST};
pub use fingerprint::Fingerprint;
pub use machine::{Extended, Machine, MachineError, Provenance, Unit};
pub use model_file::{ModelError, ModelFileError};
pub use topology::*;
