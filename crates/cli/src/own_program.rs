//! Finds this program's own file, so that benchmarks can start further processes of it.

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
