//! Writes files atomically: a reader finds the old contents or the new ones, never a part.
//!
//! The text goes to a temporary file in the same folder, is flushed to the disk, and takes the file's name in one step.
//! A full disk, a crash or a killed process therefore leaves the old file in place, never a half-written one.
//! Where the name belongs to a pipe or a device, such as `/dev/stdout`, there is nothing to replace,
//! and the text is simply written to it.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// How many names are tried for the temporary file: far more than threads of one process write one file at a time.
const ATTEMPTS: u32 = 1000;

/// Makes `path` a file with these contents, replacing what was there.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let file = folder.path().join("report.txt");
/// corecast_machine::write_atomically(&file, b"all of it")?;
/// assert_eq!(std::fs::read(&file)?, b"all of it");
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
///
/// The system's error; the file is then as it was before.
pub fn write_atomically(path: &Path, contents: &[u8]) -> io::Result<()> {
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => OpenOptions::new().write(true).open(path)?.write_all(contents),
        // Through a symbolic link the file it points to is replaced, not the link.
        Ok(_) => replace(&fs::canonicalize(path)?, contents),
        Err(_) => replace(path, contents),
    }
}

fn replace(path: &Path, contents: &[u8]) -> io::Result<()> {
    let (temporary, mut file) = temporary_beside(path)?;
    let written = file.write_all(contents).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to tell; a file that cannot be removed either is not worth a second.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file in the folder of `path`, under a name that nothing else uses.
fn temporary_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    for attempt in 0..ATTEMPTS {
        let mut temporary = OsString::from(".");
        temporary.push(name);
        temporary.push(format!(".{}.{attempt}.tmp", std::process::id()));
        let temporary = path.with_file_name(temporary);
        match File::create_new(&temporary) {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_a_file_and_leaves_no_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("model.json");
        write_atomically(&file, b"first").expect("written");
        write_atomically(&file, b"second").expect("replaced");
        assert_eq!(fs::read(&file).expect("there"), b"second");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 1);
    }

    #[test]
    fn a_failure_leaves_what_was_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("full");
        std::os::unix::fs::symlink("/dev/full", &file).expect("linked");
        let error = write_atomically(&file, b"too much").expect_err("the device is always full");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        assert!(fs::symlink_metadata(&file).expect("there").is_symlink(), "the link was not replaced");

        let taken = folder.path().join("taken");
        fs::create_dir(&taken).expect("a folder");
        write_atomically(&taken, b"x").expect_err("a folder is no file");
        write_atomically(&folder.path().join("none/such"), b"x").expect_err("no such folder");
        assert_eq!(fs::read_dir(folder.path()).expect("listed").count(), 2, "no temporary file stays");
    }

    #[test]
    fn a_link_keeps_pointing_to_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, "old").expect("written");
        std::os::unix::fs::symlink(&file, &link).expect("linked");
        write_atomically(&link, b"new").expect("written");
        assert_eq!(fs::read(&file).expect("there"), b"new");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    }
}
