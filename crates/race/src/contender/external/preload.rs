//! Where corecast's preload object for MPI is.

use std::env;
use std::path::{Path, PathBuf};

/// The variable by which the loader is told of it.
pub(super) const VARIABLE: &str = "LD_PRELOAD";

/// The variable that names the folder of preload objects, the only one if it is set.
const FOLDER: &str = "CORECAST_SHIM_DIR";
const FILE: &str = "libcorecast_mpi.so";

/// The object in the folder that the user names, or else beside this program or in `../lib/corecast`.
pub(super) fn find() -> Result<PathBuf, String> {
    let beside = env::current_exe().ok().and_then(|program| program.parent().map(Path::to_owned)).unwrap_or_default();
    let folders = match env::var_os(FOLDER).filter(|named| !named.is_empty()) {
        Some(named) => vec![PathBuf::from(named)],
        None => vec![beside.join("../lib/corecast"), beside],
    };
    let found = folders.iter().rev().map(|folder| folder.join(FILE)).find(|object| object.is_file());
    let found = found.and_then(|object| object.canonicalize().ok());
    found.ok_or_else(|| format!("no {FILE} is there: `cargo build --release -p corecast-shim-mpi`, and {FOLDER}"))
}
