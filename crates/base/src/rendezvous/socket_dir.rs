//! The directory of the sockets, and the files of one name in it.

use std::env;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::SocketAddrUnix;

use super::error::RendezvousError;
use crate::region::{AttachError, RegionDir, own_uid};

/// The longest path of a socket, in bytes: `sun_path` without the zero at its end.
const MAX_PATH: usize = 107;
/// The suffix of a socket's name while it is made.
const UNFINISHED: &str = ".new";

/// The directory of this user's sockets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SocketDir(RegionDir);

impl SocketDir {
    /// `$XDG_RUNTIME_DIR/corecast`, else `/run/user/UID/corecast`, else `corecast-UID` in `$TMPDIR` or `/tmp`.
    #[must_use]
    pub fn of_user() -> Self {
        let uid = own_uid();
        let named = env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute());
        let runtime = named.or_else(|| Some(format!("/run/user/{uid}").into()).filter(|path: &PathBuf| path.is_dir()));
        let private = || env::temp_dir().join(format!("corecast-{uid}"));
        Self::at(runtime.map_or_else(private, |path| path.join("corecast")))
    }

    /// A directory of this user at `path`; created with mode 0700 when the first name is hosted.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(RegionDir::at(path))
    }

    /// The same directory, expected to belong to another user, whose hosts are trusted.
    #[must_use]
    pub fn owned_by(self, uid: u32) -> Self {
        Self(self.0.owned_by(uid))
    }

    /// The same directory, open to its group too: mode 0770 instead of 0700.
    #[must_use]
    pub fn open_to_group(self) -> Self {
        Self(self.0.open_to_group())
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Creates the directory, as hosting the first name does, if it does not exist, and checks it.
    ///
    /// # Errors
    /// [`RendezvousError`] if it cannot be made, or is not this user's alone.
    pub fn make(&self) -> Result<(), RendezvousError> {
        self.0.make_and_open()?;
        Ok(())
    }

    /// A name in the directory, which is created if it does not exist.
    pub(super) fn make_socket_name(&self, name: &str) -> Result<SocketName, RendezvousError> {
        let socket = self.0.make_and_open().map(|handle| self.socket(name, handle))?;
        socket.check_length()?;
        Ok(socket)
    }

    pub(super) fn find_socket_name(&self, name: &str) -> Result<SocketName, RendezvousError> {
        let handle = match self.0.open() {
            Err(AttachError::NotFound(_)) => {
                return Err(RendezvousError::NotFound(self.path().join(name).display().to_string()));
            }
            handle => handle?,
        };
        let socket = self.socket(name, handle);
        socket.check_length()?;
        Ok(socket)
    }

    /// The directory; `None` if it does not exist.
    pub(super) fn open(&self) -> Result<Option<OwnedFd>, RendezvousError> {
        match self.0.open() {
            Err(AttachError::NotFound(_)) => Ok(None),
            handle => Ok(Some(handle?)),
        }
    }

    pub(super) fn socket(&self, name: &str, handle: OwnedFd) -> SocketName {
        SocketName { dir: self.clone(), handle, name: name.to_owned() }
    }
}

/// One name in a directory.
#[derive(Debug)]
pub(super) struct SocketName {
    dir: SocketDir,
    /// The directory that was checked.
    pub(super) handle: OwnedFd,
    pub(super) name: String,
}

impl SocketName {
    /// The user whose hosts and regions are trusted.
    pub(super) fn owner(&self) -> u32 {
        self.dir.0.owner()
    }

    /// A guest that connects to a socket needs the permission to write it.
    pub(super) fn socket_mode(&self) -> u32 {
        if self.dir.0.is_open_to_group() { 0o660 } else { 0o600 }
    }

    pub(super) fn lock_name(&self) -> String {
        format!("{}.lock", self.name)
    }

    pub(super) fn socket_name(&self) -> String {
        format!("{}.sock", self.name)
    }

    pub(super) fn unfinished_name(&self) -> String {
        self.socket_name() + UNFINISHED
    }

    /// The address of a file in the directory.
    pub(super) fn address(&self, file: &str) -> Result<SocketAddrUnix, Errno> {
        SocketAddrUnix::new(self.dir.path().join(file))
    }

    fn check_length(&self) -> Result<(), RendezvousError> {
        let path = self.to_string();
        let bytes = path.len();
        let max = MAX_PATH - UNFINISHED.len();
        if bytes > max { Err(RendezvousError::PathTooLong { path, bytes, max }) } else { Ok(()) }
    }

    /// The system's error while doing `verb` to it.
    pub(super) fn refused<E: Into<std::io::Error>>(&self, verb: &str) -> impl FnOnce(E) -> RendezvousError {
        let what = format!("{verb} {self}");
        |source| RendezvousError::System { what, source: source.into() }
    }
}

impl fmt::Display for SocketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.dir.path().join(self.socket_name()).display().fmt(f)
    }
}
