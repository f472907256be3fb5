//! Libraries that users preload beside corecast's objects, where they are installed.

use std::path::PathBuf;
use std::process::Command;

use crate::skipped;

/// jemalloc; `None`, and a line about `what` cannot be checked, if it is not here.
#[must_use]
pub fn jemalloc(what: &str) -> Option<PathBuf> {
    let places = ["x86_64", "aarch64"].map(|machine| format!("/usr/lib/{machine}-linux-gnu/libjemalloc.so.2"));
    let found = places.into_iter().map(PathBuf::from).find(|path| path.exists());
    if found.is_none() {
        skipped(what, "jemalloc is not installed");
    }
    found
}

/// GCC's runtime of a sanitizer, such as `asan`; `None`, and a line about `what` cannot be checked, if it is not here.
#[must_use]
pub fn sanitizer(name: &str, what: &str) -> Option<PathBuf> {
    let library = format!("lib{name}.so");
    let asked = Command::new("gcc").arg(format!("-print-file-name={library}")).output();
    let told = asked.ok().map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    // Without it gcc repeats the name.
    let found = told.filter(|path| path.is_absolute()).and_then(|path| path.canonicalize().ok());
    if found.is_none() {
        skipped(what, format!("{library} is not installed"));
    }
    found
}
