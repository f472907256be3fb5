//! LMDB where it was not built.

use std::path::Path;

use super::super::host::{Entrance, Host, Setting};
use corecast_race::failure::Failure;

/// Refuses to make a store.
pub(in crate::replica) fn open(_setting: &Setting) -> Result<Box<dyn Host>, Failure> {
    Err(not_built())
}

/// Refuses to come to one.
pub(in crate::replica) fn join(_setting: &Setting, _entrance: Entrance) -> Result<Box<dyn Host>, Failure> {
    Err(not_built())
}

/// Refuses to begin a write.
pub(in crate::replica) fn hold_write(_path: &Path, _wait: impl FnOnce() -> Result<(), Failure>) -> Result<(), Failure> {
    Err(not_built())
}

fn not_built() -> Failure {
    Failure::Refused("not built: cargo build --features lmdb, which takes a C compiler".to_owned())
}
