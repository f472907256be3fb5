//! Checks before a long run that the folder of its output file exists.

use std::io;
use std::path::Path;

use crate::failure::NotWritten;

/// The trouble that writing `what` to `path` would end in for want of its folder.
///
/// # Errors
/// If the file cannot be written there.
pub fn check(what: &'static str, path: &Path) -> Result<(), NotWritten> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => return Ok(()),
    };
    let error = match folder.metadata() {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => io::Error::from(io::ErrorKind::NotADirectory),
        Err(error) => error,
    };
    Err(NotWritten { what, path: path.to_owned(), error })
}
