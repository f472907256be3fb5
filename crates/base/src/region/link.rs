//! The names of regions: directory entries, which other processes may make and remove at any time.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::linux::fs::MetadataExt;

use rustix::fs::{AtFlags, Dir, Mode, OFlags, linkat, openat, statat, unlinkat};
use rustix::io::Errno;

use super::error::{AttachError, Subject};
use super::name::check_region_name;
use super::region_dir::{DirLock, RegionDir};

/// A name in a directory.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) dir: OwnedFd,
    pub(super) name: String,
}

impl Link {
    /// Gives the name to `file`, unless another file has it.
    pub(super) fn give_to(&self, file: &File) -> Result<(), Errno> {
        let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd());
        match linkat(rustix::fs::CWD, &unnamed, &self.dir, &self.name, AtFlags::SYMLINK_FOLLOW) {
            // Without /proc: some kernels let any process link a file that it holds open.
            Err(Errno::NOENT) => linkat(file, c"", &self.dir, &self.name, AtFlags::EMPTY_PATH),
            result => result,
        }
    }

    /// Removes the name if it is still that of `file`. If this fails, gc does it later.
    pub(super) fn remove(&self, file: &File) {
        // Only holders of this lock remove names, so no process can give the name to another file in between.
        let Ok(_held) = DirLock::wait(&self.dir) else { return };
        if self.is_of(file) {
            let _ = unlinkat(&self.dir, &self.name, AtFlags::empty());
        }
    }

    pub(super) fn is_of(&self, file: &File) -> bool {
        is_named(&self.dir, &self.name, file)
    }
}

/// True if `name` is the name of `file`.
pub(crate) fn is_named(dir: &OwnedFd, name: &str, file: &File) -> bool {
    let named = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW);
    let ours = file.metadata();
    matches!((named, ours), (Ok(named), Ok(ours)) if (named.st_dev, named.st_ino) == (ours.st_dev(), ours.st_ino()))
}

/// Opens a name without following links, and without waiting if it is a pipe.
pub(super) fn open(dir: &OwnedFd, name: &str, access: OFlags) -> io::Result<File> {
    let flags = access | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(openat(dir, name, flags, Mode::empty())?.into())
}

/// The names in an open directory.
pub(super) fn each(dir: &RegionDir, handle: &OwnedFd) -> Result<Vec<String>, AttachError> {
    let what = dir.path().display().to_string();
    let files = Dir::read_from(handle).map_err(|errno| Subject(&what).refused("read")(errno.into()))?;
    let files = files.flatten().filter_map(|entry| entry.file_name().to_str().ok().map(str::to_owned));
    let mut names: Vec<_> = files.filter(|name| check_region_name(name).is_ok()).collect();
    names.sort_unstable();
    Ok(names)
}
