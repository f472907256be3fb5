//! The runtimes of OpenMP and MPI among a program's files: told by the functions that they define, not by their names, as wheels
//! rename theirs.

use std::path::Path;

use serde::Serialize;

use super::libraries::Loaded;

/// A runtime that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Runtime {
    pub(crate) runtime: &'static str,
    /// The file that has it.
    pub(crate) library: String,
    pub(crate) path: Option<String>,
    /// Whether it is a part of the program itself, where nothing can be put before it.
    pub(crate) is_linked_in: bool,
    /// Whether the file has another name than that of the system, as those that come with Python's wheels.
    pub(crate) is_copy: bool,
}

/// The standard of a runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standard {
    OpenMp,
    Mpi,
}

impl Runtime {
    /// Its standard.
    pub(crate) fn standard(&self) -> Standard {
        if self.runtime == "libgomp" || self.has_tools() { Standard::OpenMp } else { Standard::Mpi }
    }

    /// True of OpenMP's.
    pub(crate) fn is_openmp(&self) -> bool {
        self.standard() == Standard::OpenMp
    }

    /// True if it is of LLVM's family, of which the shim is the tool.
    pub(crate) fn has_tools(&self) -> bool {
        matches!(self.runtime, "libomp" | "libiomp5")
    }

    /// One of this name, for tests.
    #[cfg(test)]
    pub(super) fn named(runtime: &'static str) -> Self {
        Self { runtime, library: runtime.to_owned(), path: None, is_linked_in: false, is_copy: false }
    }
}

/// Those of all files of a program, which is the first.
pub(crate) fn all(files: &[Loaded]) -> Vec<Runtime> {
    files.iter().flat_map(|file| openmp(file).into_iter().chain(mpi(file)).map(|name| told(name, file))).collect()
}

fn told(runtime: &'static str, file: &Loaded) -> Runtime {
    let is_linked_in = file.needed_by.is_none() && file.facts.is_program();
    let soname = file.facts.soname.as_deref().unwrap_or(&file.name);
    let is_copy = runtime == "libgomp" && !is_linked_in && !soname.starts_with("libgomp.so");
    let path = file.path.as_deref().map(Path::to_string_lossy).map(|path| path.into_owned());
    Runtime { runtime, library: file.name.clone(), path, is_linked_in, is_copy }
}

fn openmp(file: &Loaded) -> Option<&'static str> {
    let has = |name| file.facts.definitions.contains(name);
    match (has("__kmpc_barrier"), has("GOMP_barrier")) {
        (true, _) if file.name.starts_with("libiomp") => Some("libiomp5"),
        (true, _) => Some("libomp"),
        (false, true) => Some("libgomp"),
        (false, false) => None,
    }
}

fn mpi(file: &Loaded) -> Option<&'static str> {
    let has = |name| file.facts.definitions.contains(name);
    if !has("MPI_Barrier") || !has("PMPI_Barrier") {
        return None;
    }
    Some(match () {
        () if has("ompi_mpi_byte") => "Open MPI",
        () if file.name.starts_with("libmpi_abi") => "MPI standard ABI",
        () if has("I_MPI_Check_image_status") => "Intel MPI",
        () => "MPICH",
    })
}
