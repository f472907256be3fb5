//! Where the stores of `corecast kv` listen.

use std::path::PathBuf;

use corecast::region::check_region_name;
use corecast::rendezvous::SocketDir;
use pyo3::prelude::*;

use crate::error;

/// The socket of the store that `corecast kv serve` serves under this name.
#[pyfunction]
pub(crate) fn store_socket(name: &str) -> PyResult<PathBuf> {
    check_region_name(name).map_err(error::value)?;
    Ok(SocketDir::of_user().path().join("kv").join(name))
}
