//! The protocols of corecast on simulated machines: the same sources, behind another door to atomics.
//!
//! [`corecast_sim_core`] is the machine. This crate has the programs: [`contest`] lets threads compete for a lock.

mod assumed;
mod error;
mod locks;

pub use self::assumed::{Known, assumed};
pub use self::error::SimError;
pub use self::locks::{Contest, ContestOutcome, contest};
pub use corecast_lock::Algorithm;
pub use corecast_sim_core as machine;
