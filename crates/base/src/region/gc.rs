//! The removal of named regions of which no participant lives.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;

use rustix::fs::{AtFlags, OFlags, unlinkat};

use super::attachment::{RegionLock, close};
use super::error::{AttachError, Subject};
use super::file::check_file;
use super::header::MAGIC;
use super::link::{Link, each, open};
use super::lock;
use super::region_dir::{DirLock, RegionDir};

/// A removed region.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Removed {
    /// Its path.
    pub path: String,
    /// The memory that this frees, in bytes.
    pub bytes: u64,
}

/// Removes every region of the directory whose locks are all free, whatever its version; never by age or pid. Files that do
/// not begin as regions do, or belong to other users, are left alone.
///
/// # Errors
/// [`AttachError`] if the directory is not to be trusted or cannot be read. A missing directory is no error.
pub fn gc(dir: &RegionDir) -> Result<Vec<Removed>, AttachError> {
    let handle = match dir.open() {
        Err(AttachError::NotFound(_)) => return Ok(Vec::new()),
        handle => handle?,
    };
    let names = each(dir, &handle)?;
    Ok(names.into_iter().filter_map(|name| sweep(dir, &handle, name)).collect())
}

/// The same for one name; true if the name is free now.
pub(super) fn sweep_name(dir: &RegionDir, name: &str) -> bool {
    dir.open().is_ok_and(|handle| sweep(dir, &handle, name.to_owned()).is_some())
}

fn sweep(dir: &RegionDir, handle: &OwnedFd, name: String) -> Option<Removed> {
    let path = dir.path_of(&name);
    let file = open(handle, &name, OFlags::RDWR).ok()?;
    let bytes = check_file(Subject(&path), &file, dir.owner()).ok()? as u64;
    let mut magic = [0; 8];
    file.read_exact_at(&mut magic, 0).ok()?;
    if u64::from_le_bytes(magic) != MAGIC {
        return None;
    }
    // A process that wants to join waits for this lock, and then finds the region closed.
    let _held = RegionLock::try_take(Some(&file)).ok()??;
    if !is_deserted(&file) {
        return None;
    }
    let link = Link { dir: handle.try_clone().ok()?, name };
    let _right = DirLock::wait(handle).ok()?;
    if !link.is_of(&file) {
        return None;
    }
    close(&file);
    unlinkat(handle, &link.name, AtFlags::empty()).ok()?;
    Some(Removed { path, bytes })
}

/// True if no process holds any lock of the file. It does not matter where the records and the region's lock are, so this
/// holds for regions of all versions.
fn is_deserted(file: &File) -> bool {
    matches!(lock::is_locked_by_another(file, &(0..u64::MAX)), Ok(false))
}
