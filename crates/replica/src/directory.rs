//! A directory of files that survive power loss, which one process owns at a time.
//!
//! A file appears in it whole or not at all: [`publish`](Directory::publish) makes the contents of a temporary file durable,
//! renames it, and makes the name durable. The owner holds a lock of the kernel, which ends with its process and the copies that
//! it has forked.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process;

use rustix::fs::{FlockOperation, flock};

use crate::crash_point;

/// The end of the names of files that are not yet whole.
const TEMPORARY: &str = ".tmp";

/// An operation on a file or directory failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct FileError {
    /// The operation: a verb.
    pub action: &'static str,
    /// The file or directory.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

impl FileError {
    /// Gives an error of the system its place; for `map_err`.
    pub(crate) fn at(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self { action, path, source }
    }
}

/// The directory, and the lock on it.
#[derive(Debug)]
pub(crate) struct Directory {
    path: PathBuf,
    file: File,
    owner: u32,
}

impl Directory {
    /// Opens the directory, which is created if it is missing, takes its lock, and removes files that never became whole.
    pub(crate) fn open(path: &Path) -> Result<Self, FileError> {
        create(path)?;
        let file = File::open(path).map_err(FileError::at("open", path))?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            let used = error == rustix::io::Errno::WOULDBLOCK;
            let source = if used { io::Error::new(io::ErrorKind::ResourceBusy, "it is in use") } else { error.into() };
            FileError { action: "lock", path: path.to_owned(), source }
        })?;
        let directory = Self { path: path.to_owned(), file, owner: process::id() };
        for name in directory.names()?.iter().filter(|name| name.ends_with(TEMPORARY)) {
            directory.remove(name)?;
        }
        Ok(directory)
    }

    /// The path of the file of this name.
    pub(crate) fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The names of all files that are UTF-8, in order.
    pub(crate) fn names(&self) -> Result<Vec<String>, FileError> {
        let entries = fs::read_dir(&self.path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = entries.map_err(FileError::at("list", &self.path))?;
        let mut names: Vec<String> = entries.iter().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort_unstable();
        Ok(names)
    }

    /// An empty file that will have this name once it is published.
    pub(crate) fn create_temporary(&self, name: &str) -> Result<File, FileError> {
        let path = self.temporary(name);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        options.open(&path).map_err(FileError::at("create", path))
    }

    /// Makes a temporary file durable under its name, in place of an older one. An error before the rename leaves the older
    /// one as it is; after the rename the new one is there, and may be gone after power loss.
    pub(crate) fn publish(&self, name: &str, file: &File) -> Result<(), FileError> {
        let from = self.temporary(name);
        file.sync_all().map_err(FileError::at("sync", &from))?;
        crash_point::here("before-rename");
        fs::rename(&from, self.path_of(name)).map_err(FileError::at("rename", &from))?;
        crash_point::here("after-rename");
        self.sync()
    }

    /// Removes the temporary file of this name, as far as that is possible: the next owner tries again.
    pub(crate) fn discard_temporary(&self, name: &str) {
        let _ = fs::remove_file(self.temporary(name));
    }

    /// Removes a file, which may come back after power loss until [`sync`](Self::sync).
    pub(crate) fn remove(&self, name: &str) -> Result<(), FileError> {
        crash_point::here("before-remove");
        fs::remove_file(self.path_of(name)).map_err(FileError::at("remove", self.path_of(name)))
    }

    /// Makes all names durable: those that are there, and those that are gone.
    pub(crate) fn sync(&self) -> Result<(), FileError> {
        self.file.sync_all().map_err(FileError::at("sync", &self.path))
    }

    fn temporary(&self, name: &str) -> PathBuf {
        self.path_of(&format!("{name}{TEMPORARY}"))
    }
}

impl Drop for Directory {
    /// Gives up the lock, which a process that was forked a moment ago would hold until it starts its program. A forked copy
    /// of the owner must not give it up.
    fn drop(&mut self) {
        if process::id() == self.owner {
            let _ = flock(&self.file, FlockOperation::Unlock);
        }
    }
}

/// Creates the directory and those above it, and makes their names durable.
fn create(path: &Path) -> Result<(), FileError> {
    if path.is_dir() {
        return Ok(());
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if above != path {
        create(above)?;
    }
    match fs::DirBuilder::new().mode(0o700).create(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(FileError::at("create", path)(error)),
        _ => {}
    }
    File::open(above).and_then(|above| above.sync_all()).map_err(FileError::at("sync", above))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_file_appears_whole_and_one_that_never_was_is_removed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let path = dir.path().join("a/b");
        let directory = Directory::open(&path).expect("it is created");
        directory.create_temporary("half").expect("a file").write_all(b"ha").expect("room");
        let mut file = directory.create_temporary("whole").expect("a file");
        file.write_all(b"whole").expect("room");
        assert!(!directory.path_of("whole").exists());
        directory.publish("whole", &file).expect("a rename");
        assert_eq!(fs::read(directory.path_of("whole")).expect("it is there"), b"whole");
        drop(directory);
        assert_eq!(Directory::open(&path).expect("nobody has it").names().expect("a list"), ["whole"]);
    }

    #[test]
    fn a_second_owner_is_refused() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let first = Directory::open(dir.path()).expect("nobody has it");
        let error = Directory::open(dir.path()).expect_err("the first has it");
        assert_eq!(error.source.kind(), io::ErrorKind::ResourceBusy);
        drop(first);
        Directory::open(dir.path()).expect("nobody has it");
    }
}
