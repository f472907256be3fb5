//! The machine: topology, measurement and model files of `corecast-machine`, and [`detect`].

pub use corecast_machine::*;

use corecast_machine::source::{DiscoverError, Request, discover};

/// The model of the machine this runs on: the one that was measured and cached (`corecast measure` does that), or else
/// one with costs assumed from the topology alone, whose `provenance.kind` says so. Takes about a millisecond.
///
/// # Errors
/// Only if not even the CPUs of this process can be found out.
pub fn detect() -> Result<Machine, DiscoverError> {
    let topology = discover(&Request::default())?;
    let cached = Cache::of_user().and_then(|cache| cache.load(&Fingerprint::of_this_machine(&topology)).ok());
    Ok(cached.unwrap_or_else(|| Machine::from_topology(&topology)))
}
