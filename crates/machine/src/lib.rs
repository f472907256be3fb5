//! Stub.
mod machine;
mod topology;
pub use machine::*;
pub use topology::*;
