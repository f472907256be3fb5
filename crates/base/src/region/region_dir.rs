//! The directory of named regions, which belongs to one user.

use std::env;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, Mode, OFlags, fchmod, flock, mkdir, open};
use rustix::io::Errno;

use super::error::{AttachError, Subject};
use super::process;

/// The environment variable that names another directory.
pub const DIR_VARIABLE: &str = "CORECAST_REGION_DIR";

/// The directory of named regions, and its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionDir {
    path: PathBuf,
    owner: u32,
    is_open_to_group: bool,
}

impl RegionDir {
    /// The directory of this user: the one that [`DIR_VARIABLE`] names, else `/dev/shm/corecast-UID`.
    #[must_use]
    pub fn of_user() -> Self {
        let default = || format!("/dev/shm/corecast-{}", process::own_uid()).into();
        Self::at(env::var_os(DIR_VARIABLE).filter(|path| !path.is_empty()).map_or_else(default, PathBuf::from))
    }

    /// A directory of this user at `path`; created with mode 0700 when the first region is made.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), owner: process::own_uid(), is_open_to_group: false }
    }

    /// The same directory, expected to belong to another user, whose regions are trusted as this user's own.
    #[must_use]
    pub fn owned_by(mut self, uid: u32) -> Self {
        self.owner = uid;
        self
    }

    /// The same directory, open to its group too: mode 0770 instead of 0700. Where it has to be created, its group is that
    /// of this process.
    #[must_use]
    pub fn open_to_group(mut self) -> Self {
        self.is_open_to_group = true;
        self
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn owner(&self) -> u32 {
        self.owner
    }

    /// The path of a region with this name, for errors.
    pub(super) fn path_of(&self, name: &str) -> String {
        self.path.join(name).display().to_string()
    }

    pub(crate) fn is_open_to_group(&self) -> bool {
        self.is_open_to_group
    }

    fn mode(&self) -> u32 {
        if self.is_open_to_group { 0o770 } else { 0o700 }
    }

    pub(crate) fn make_and_open(&self) -> Result<OwnedFd, AttachError> {
        let what = self.path.display().to_string();
        let mode = Mode::from_raw_mode(self.mode());
        match mkdir(&self.path, mode) {
            Ok(()) => {
                let handle = self.open()?;
                // The umask may have removed permissions that the group shall have.
                fchmod(&handle, mode).map_err(|errno| Subject(&what).refused("open to its users")(errno.into()))?;
                Ok(handle)
            }
            Err(Errno::EXIST) => self.open(),
            Err(errno) => Err(Subject(&what).refused("make the directory")(errno.into())),
        }
    }

    /// Opens the directory and checks it.
    pub(crate) fn open(&self) -> Result<OwnedFd, AttachError> {
        let what = self.path.display().to_string();
        let subject = Subject(&what);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = open(&self.path, flags, Mode::empty()).map_err(|errno| match errno {
            Errno::NOENT => AttachError::NotFound(what.clone()),
            Errno::LOOP | Errno::NOTDIR => {
                AttachError::NotOurs(subject.doubt("a symbolic link or file, expected a directory"))
            }
            errno => subject.refused("open the directory")(errno.into()),
        })?;
        let file = File::from(handle);
        let data = file.metadata().map_err(subject.refused("look at the directory"))?;
        subject.expect(data.st_uid() == self.owner, AttachError::NotOurs, || {
            format!("a directory of user {}, expected one of user {}", data.st_uid(), self.owner)
        })?;
        subject.expect(data.st_mode() & 0o777 & !self.mode() == 0, AttachError::NotOurs, || {
            format!("a directory of mode {:o}, expected at most {:o}", data.st_mode() & 0o777, self.mode())
        })?;
        Ok(file.into())
    }
}

/// The time limit for others that remove names, each for microseconds unless it is stopped.
const LOCK_PATIENCE: Duration = Duration::from_secs(2);
const LOCK_PAUSE: Duration = Duration::from_micros(200);

/// The right to remove names.
#[derive(Debug)]
pub(super) struct DirLock<'a>(&'a OwnedFd);

impl<'a> DirLock<'a> {
    pub(super) fn wait(dir: &'a OwnedFd) -> io::Result<Self> {
        let begin = Instant::now();
        loop {
            match flock(dir, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(dir)),
                Err(Errno::WOULDBLOCK | Errno::INTR) if begin.elapsed() < LOCK_PATIENCE => {
                    std::thread::sleep(LOCK_PAUSE);
                }
                Err(errno) => return Err(errno.into()),
            }
        }
    }
}

impl Drop for DirLock<'_> {
    fn drop(&mut self) {
        // Freeing a lock that we hold cannot fail; if it does, closing the directory frees it.
        let _ = flock(self.0, FlockOperation::Unlock);
    }
}
