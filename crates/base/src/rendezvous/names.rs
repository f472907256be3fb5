//! The names of a directory.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, statat};
use rustix::io::Errno;

use super::error::RendezvousError;
use super::socket_dir::SocketDir;
use crate::region::check_region_name;

/// The names that have a socket in the directory, sorted; their hosts may be dead.
///
/// # Errors
/// [`RendezvousError`] if the directory is not to be trusted or cannot be read. A missing directory is no error.
pub fn names(dir: &SocketDir) -> Result<Vec<String>, RendezvousError> {
    dir.open()?.map_or(Ok(Vec::new()), |handle| each(dir, &handle))
}

/// The names of an open directory.
pub(super) fn each(dir: &SocketDir, handle: &OwnedFd) -> Result<Vec<String>, RendezvousError> {
    let mut names = with_suffix(dir, handle, ".sock")?;
    names.retain(|name| has_socket(handle, name) && has_lock(handle, name));
    Ok(names)
}

/// The names with a lock in an open directory, among them those whose host died before it made their socket.
pub(super) fn each_lock(dir: &SocketDir, handle: &OwnedFd) -> Result<Vec<String>, RendezvousError> {
    let mut names = with_suffix(dir, handle, ".lock")?;
    names.retain(|name| has_lock(handle, name));
    Ok(names)
}

fn with_suffix(dir: &SocketDir, handle: &OwnedFd, suffix: &str) -> Result<Vec<String>, RendezvousError> {
    let failed =
        |errno: Errno| RendezvousError::System { what: format!("read {}", dir.path().display()), source: errno.into() };
    let mut names = Vec::new();
    for entry in Dir::read_from(handle).map_err(failed)?.flatten() {
        let name = entry.file_name().to_str().ok().and_then(|file| file.strip_suffix(suffix));
        names.extend(name.filter(|name| check_region_name(name).is_ok()).map(str::to_owned));
    }
    names.sort_unstable();
    Ok(names)
}

/// True if the socket of this name belongs to another program: a host makes the lock of its name first and removes it last.
pub(super) fn is_foreign(handle: &OwnedFd, name: &str) -> bool {
    has_socket(handle, name) && !has_lock(handle, name)
}

fn has_socket(handle: &OwnedFd, name: &str) -> bool {
    kind_of(handle, &format!("{name}.sock")) == Some(FileType::Socket)
}

fn has_lock(handle: &OwnedFd, name: &str) -> bool {
    kind_of(handle, &format!("{name}.lock")) == Some(FileType::RegularFile)
}

fn kind_of(handle: &OwnedFd, file: &str) -> Option<FileType> {
    let stat = statat(handle, file, AtFlags::SYMLINK_NOFOLLOW).ok()?;
    Some(FileType::from_raw_mode(stat.st_mode))
}
