//! The end of the process that writes.

use std::fmt;
use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use rustix::fs::{MemfdFlags, fcntl_add_seals, memfd_create};

use super::header::{Announcement, HEADER_BYTES, Header, SEALS};
use super::words::SealedWords;
use crate::place::PlaceSlice;
use crate::region::error::{CreateError, Forked};
use crate::region::fork::OwnFile;
use crate::region::mapping::Mapping;
use crate::region::process::random_word;
use crate::region::storage::reserve;
use crate::sync::AtomicU64;

/// Words that this process may write and others may read. A clone is the same memory; it, and every place in it, keeps the
/// memory and the descriptor.
#[derive(Clone)]
pub struct SealedMemory(Arc<Held>);

#[derive(Debug)]
struct Held {
    mapping: Mapping,
    file: OwnFile,
    header: Header,
}

impl SealedMemory {
    /// Zeroed words of `bytes` bytes, rounded up to whole words. All of the memory is there when this returns, so that no
    /// store ends in SIGBUS.
    ///
    /// # Errors
    /// [`CreateError::NoSpace`] if there is not enough memory, [`CreateError::System`] if the system refuses a call (Linux
    /// before 5.1 has not all the seals).
    pub fn create(bytes: usize) -> Result<Self, CreateError> {
        let no_space = |source| CreateError::NoSpace { bytes: bytes as u64, source };
        let too_large = || no_space(io::Error::from(rustix::io::Errno::NOMEM));
        let bytes = bytes.checked_next_multiple_of(size_of::<u64>()).ok_or_else(too_large)?;
        let header = Header { identity: random_word(), bytes };
        let file_bytes = header.file_bytes().filter(|&len| len <= isize::MAX as usize).ok_or_else(too_large)?;
        let make = || Ok(memfd_create(c"corecast-sealed", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?.into());
        let file = OwnFile::open(make).map_err(failed("make"))?;
        file.set_permissions(Permissions::from_mode(0o600)).map_err(failed("protect"))?;
        reserve(&file, file_bytes as u64).map_err(no_space)?;
        let mapping = Mapping::shared(&file, file_bytes).map_err(no_space)?;
        header.write(&mapping);
        fcntl_add_seals(&*file, SEALS).map_err(io::Error::from).map_err(failed("seal"))?;
        Ok(Self(Arc::new(Held { mapping, file, header })))
    }

    /// The words, for writing. Nobody else writes them.
    ///
    /// # Errors
    /// [`Forked`] in a forked child, which does not have the memory.
    pub fn words(&self) -> Result<PlaceSlice<AtomicU64>, Forked> {
        self.check_fork()?;
        // SAFETY: the file is longer than its header.
        let first = unsafe { self.0.mapping.start().add(HEADER_BYTES) }.cast::<AtomicU64>();
        let keep = Arc::clone(&self.0);
        // SAFETY: aligned, inside the mapping by the size of the file, which `keep` holds; other processes can only read, and
        // this one reaches them through atomics only.
        Ok(unsafe { PlaceSlice::within(first, self.len(), keep) })
    }

    /// The words, for reading.
    ///
    /// # Errors
    /// As for [`words`](Self::words).
    pub fn read_only(&self) -> Result<SealedWords, Forked> {
        Ok(SealedWords::from(&self.words()?))
    }

    /// The number of words.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.header.bytes / size_of::<u64>()
    }

    /// True if there are no words.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where other processes find it.
    #[must_use]
    pub fn announcement(&self) -> Announcement {
        let fd = self.0.file.as_raw_fd().unsigned_abs();
        Announcement { pid: std::process::id(), fd, identity: self.0.header.identity }
    }

    /// The descriptor, for a process that is to have it otherwise.
    ///
    /// # Errors
    /// [`Forked`] in a forked child, which does not have it.
    pub fn fd(&self) -> Result<BorrowedFd<'_>, Forked> {
        self.check_fork()?;
        Ok(self.0.file.as_fd())
    }

    /// # Errors
    /// [`Forked`] in a forked child of the process that made it. Costs one relaxed load.
    #[inline(always)]
    pub fn check_fork(&self) -> Result<(), Forked> {
        self.0.mapping.check_fork()
    }
}

impl fmt::Debug for SealedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SealedMemory({:#x}, {} words)", self.0.header.identity, self.len())
    }
}

fn failed(verb: &str) -> impl FnOnce(io::Error) -> CreateError {
    let what = format!("{verb} a file in memory");
    |source| CreateError::System { what, source }
}
