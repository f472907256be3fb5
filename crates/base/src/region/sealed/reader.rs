//! The end of a process that reads.

use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{OFlags, fcntl_get_seals};

use super::header::{Announcement, HEADER_BYTES, Header, SEALS};
use super::words::SealedWords;
use crate::region::error::{AttachError, Forked, Subject};
use crate::region::file::check_file;
use crate::region::fork::OwnFile;
use crate::region::mapping::Mapping;
use crate::region::process::own_uid;
use crate::sync::AtomicU64;

/// Sealed memory of another process, mapped read-only. A clone is the same; it, and all [words](Self::words), keep the
/// memory and the descriptor, so that further processes may open it here when its writer is dead.
#[derive(Clone)]
pub struct SealedReader(Arc<Held>);

#[derive(Debug)]
struct Held {
    mapping: Mapping,
    file: OwnFile,
    header: Header,
}

impl SealedReader {
    /// Opens the memory behind a descriptor, and checks that it is sealed memory of this user.
    ///
    /// # Errors
    /// [`AttachError`] if it is not, or the system refuses a call.
    pub fn open(fd: OwnedFd) -> Result<Self, AttachError> {
        let what = "sealed memory";
        let file = OwnFile::open(|| Ok(fd.into())).map_err(Subject(what).refused("keep"))?;
        Self::begin(file, what)
    }

    /// Opens the memory that a process announced, and checks that it is this one.
    ///
    /// # Errors
    /// [`AttachError::NotFound`] if the process does not hold it any longer, [`AttachError::NotOurs`] if the descriptor is
    /// another one by now or is not to be trusted, [`AttachError::System`] if there is no /proc or it refuses.
    pub fn open_announced(at: Announcement) -> Result<Self, AttachError> {
        let what = format!("/proc/{}/fd/{}", at.pid, at.fd);
        let file = OwnFile::open(|| open_regular(what.as_ref())).map_err(|error| not_opened(&what, error))?;
        let reader = Self::begin(file, &what)?;
        let found = reader.0.header.identity;
        Subject(&what).expect(found == at.identity, AttachError::NotOurs, || {
            format!("the sealed memory {found:#x}, expected {:#x}", at.identity)
        })?;
        Ok(reader)
    }

    fn begin(file: OwnFile, what: &str) -> Result<Self, AttachError> {
        let subject = Subject(what);
        let len = check_file(subject, &file, own_uid())?;
        let seals = fcntl_get_seals(&*file).unwrap_or(rustix::fs::SealFlags::empty());
        subject.expect(seals.contains(SEALS), AttachError::NotOurs, || {
            format!("sealed against {seals:?}, expected a memfd with the seals {SEALS:?}")
        })?;
        let mapping = Mapping::read_only(&file, len).map_err(subject.refused("map"))?;
        let header = Header::read(&mapping);
        let damaged = || AttachError::Layout(subject.doubt("its header is not one of sealed memory of this size"));
        Ok(Self(Arc::new(Held { header: header.ok_or_else(damaged)?, mapping, file })))
    }

    /// The words.
    ///
    /// # Errors
    /// [`Forked`] in a forked child, which does not have the memory.
    pub fn words(&self) -> Result<SealedWords, Forked> {
        self.check_fork()?;
        // SAFETY: the file is longer than its header, as was checked.
        let first = unsafe { self.0.mapping.start().add(HEADER_BYTES) }.cast::<AtomicU64>();
        let (len, keep) = (self.0.header.bytes / size_of::<u64>(), Arc::clone(&self.0));
        // SAFETY: aligned, inside the mapping as was checked, and `keep` holds it; the writer's words are atomics, and the
        // file's size is sealed.
        Ok(unsafe { SealedWords::within(first, len, keep) })
    }

    /// Where other processes find the memory at this one.
    #[must_use]
    pub fn announcement(&self) -> Announcement {
        let fd = self.0.file.as_raw_fd().unsigned_abs();
        Announcement { pid: std::process::id(), fd, identity: self.0.header.identity }
    }

    /// # Errors
    /// [`Forked`] in a forked child of the process that opened it. Costs one relaxed load.
    #[inline(always)]
    pub fn check_fork(&self) -> Result<(), Forked> {
        self.0.mapping.check_fork()
    }
}

impl fmt::Debug for SealedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedReader({:#x}, {} bytes)", self.0.header.identity, self.0.header.bytes)
    }
}

/// Opens a file for reading. By now the number may be that of a pipe or a device, which must not be opened, as that may wait
/// or do something.
pub(super) fn open_regular(path: &Path) -> io::Result<File> {
    if !path.metadata()?.is_file() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let flags = OFlags::NONBLOCK.union(OFlags::NOCTTY).bits() as i32;
    File::options().read(true).custom_flags(flags).open(path)
}

/// The error where the descriptor of another process could not be opened.
pub(super) fn not_opened(what: &str, error: io::Error) -> AttachError {
    match error.kind() {
        io::ErrorKind::NotFound if Path::new("/proc/self/fd").exists() => AttachError::NotFound(what.to_owned()),
        io::ErrorKind::NotFound => Subject(what).refused("open, as /proc is not mounted,")(error),
        _ => Subject(what).refused("open")(error),
    }
}
