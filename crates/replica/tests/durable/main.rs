//! Files that survive power loss: damage, versions, and a process that dies between two steps.

mod crash;
mod snapshot;
mod toy;
mod wal;

/// A directory in memory where there is one: many files are damaged here, and none has to survive the machine.
fn dir() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a temporary directory")
}
