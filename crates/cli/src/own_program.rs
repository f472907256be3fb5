//! This program's file, by which processes of a benchmark are started as this program again.

use std::path::PathBuf;

use crate::failure::Failure;

/// Where it is.
///
/// # Errors
/// A `Failure` with its exit code: bad input, or trouble of the environment.
pub fn path() -> Result<PathBuf, Failure> {
    std::env::current_exe().map_err(|error| {
        Failure::environment(format!("cannot find this program's file, to start it as another process: {error}"))
    })
}
