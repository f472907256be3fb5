//! The libraries that the loader takes for a program or a library before it runs.

use std::path::Path;
use std::process::Command;

/// Their names, as `ldd` has them; `None` where there is no `ldd`.
fn needed_libraries(file: &Path) -> Option<Vec<String>> {
    let output = Command::new("ldd").arg(file).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.split_whitespace().next());
    Some(names.filter_map(|path| path.rsplit('/').next()).map(str::to_owned).collect())
}

/// Fails if the loader takes an MPI for a file, as nothing of corecast is to need one before it is used.
///
/// # Panics
/// If the file needs an MPI.
#[track_caller]
pub fn assert_no_mpi(file: &Path) {
    match needed_libraries(file) {
        None => crate::skipped(&format!("the libraries of {}", file.display()), "there is no ldd"),
        Some(names) => {
            assert!(names.iter().any(|name| name.starts_with("libc.")), "{}: {names:?}", file.display());
            let of_mpi = names.iter().filter(|name| ["mpi", "pmi", "open-rte"].iter().any(|part| name.contains(part)));
            assert_eq!(of_mpi.collect::<Vec<_>>(), Vec::<&String>::new(), "{}", file.display());
        }
    }
}
