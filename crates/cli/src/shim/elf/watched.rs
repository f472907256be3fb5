//! The names of symbols that concern a shim: all others are dropped as they are read.

/// The beginnings of names of runtimes' functions. `mpi_` and `pmpi_` are those of Fortran, `mtx_` and `cnd_` of C's threads.
const PREFIXES: [&str; 14] = [
    "GOMP_", "__kmpc_", "omp_", "pthread_", "MPI_", "PMPI_", "mpi_", "pmpi_", "__asan_", "__tsan_", "__msan_",
    "__ubsan_", "mtx_", "cnd_",
];
/// Names by which runtimes are told apart, and functions that open libraries or look for functions at run time.
const NAMES: [&str; 6] =
    ["dlopen", "dlmopen", "dlvsym", "ompi_mpi_byte", "I_MPI_Check_image_status", "ompt_start_tool"];

/// The name as text, if it is watched.
pub(super) fn name(name: &[u8]) -> Option<&str> {
    let name = std::str::from_utf8(name).ok()?;
    let is_watched = PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || NAMES.contains(&name);
    is_watched.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_runtimes_are_kept() {
        assert_eq!(name(b"GOMP_barrier"), Some("GOMP_barrier"));
        assert_eq!(name(b"dlopen"), Some("dlopen"));
        assert_eq!([name(b"main"), name(b"\xff"), name(b"")], [None; 3]);
    }
}
