//! Memory that threads and processes share, for the published protocols that are raced here.
//!
//! Not corecast's regions: a rival must not profit from what is raced against it, and needs less. Only this program maps the
//! memory, so its contents are trusted.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::NonNull;

use corecast::base::sync::{AtomicBool, AtomicU64};
use rustix::fs::{MemfdFlags, fstat, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::Seed;
use corecast_race::contender::Unfit;

/// Control words lie this far apart, so that fetching the neighbour line does not join them.
pub(super) const LINE_BYTES: usize = 128;

/// A mapping, shared with all processes that map the same descriptor.
#[derive(Debug)]
pub(super) struct SharedMemory {
    start: NonNull<u8>,
    len: usize,
}

// SAFETY: the mapping belongs to no thread, and all ways to its bytes are atomics or unsafe.
unsafe impl Send for SharedMemory {}
// SAFETY: as for Send.
unsafe impl Sync for SharedMemory {}

impl SharedMemory {
    /// Fresh memory, all zero, and the seeds by which this many receivers get to it.
    pub(super) fn create(len: usize, receivers: usize) -> Result<(Self, Vec<Seed>), Unfit> {
        let made = || -> io::Result<_> {
            let fd = memfd_create(c"corecast-bench", MemfdFlags::CLOEXEC)?;
            ftruncate(&fd, len.next_multiple_of(4096) as u64)?;
            let seed = |receiver| Ok(Seed { fds: vec![fd.try_clone()?], word: receiver as u64 });
            let seeds = (0..receivers).map(seed).collect::<io::Result<Vec<Seed>>>()?;
            Ok((Self::map(&fd)?, seeds))
        };
        made().map_err(|error| Unfit(format!("no shared memory of {len} bytes: {error}")))
    }

    /// The memory that a seed leads to.
    pub(super) fn of(seed: &Seed) -> Result<Self, Unfit> {
        let fd = seed.fds.first().ok_or_else(|| Unfit("a seed without shared memory".to_owned()))?;
        Self::map(fd).map_err(|error| Unfit(format!("shared memory cannot be mapped: {error}")))
    }

    fn map(fd: &OwnedFd) -> io::Result<Self> {
        let len = usize::try_from(fstat(fd)?.st_size).map_err(io::Error::other)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the kernel's choice replaces nothing.
        let start = unsafe { mmap(std::ptr::null_mut(), len, protection, MapFlags::SHARED, fd.as_fd(), 0) }?;
        let start = NonNull::new(start.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Self { start, len })
    }

    /// The word at `offset`.
    #[inline(always)]
    pub(super) fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset % 8 == 0 && offset + 8 <= self.len, "a word within the memory");
        // SAFETY: within the mapping, as was just checked.
        let at = unsafe { self.start.add(offset) };
        // SAFETY: aligned and mapped as long as self lives; protocols reach control words through atomics only.
        unsafe { at.cast().as_ref() }
    }

    /// The flag at `offset`: one byte.
    #[inline(always)]
    pub(super) fn flag(&self, offset: usize) -> &AtomicBool {
        assert!(offset < self.len, "a flag within the memory");
        // SAFETY: within the mapping, as was just checked.
        let at = unsafe { self.start.add(offset) };
        // SAFETY: as for words; the memory begins as zeros and only flags are stored there, so it is 0 or 1.
        unsafe { at.cast().as_ref() }
    }

    /// The bytes at `offset`, for reading.
    ///
    /// # Safety
    /// - Nobody writes them while the slice lives.
    #[inline(always)]
    pub(super) unsafe fn bytes(&self, offset: usize, len: usize) -> &[u8] {
        assert!(offset <= self.len && len <= self.len - offset, "bytes within the memory");
        // SAFETY: within the mapping, as was just checked.
        let at = unsafe { self.start.add(offset) };
        // SAFETY: mapped as long as self lives; not written, by the caller's promise.
        unsafe { std::slice::from_raw_parts(at.as_ptr(), len) }
    }

    /// The bytes at `offset`, for writing.
    ///
    /// # Safety
    /// - Nobody else reads or writes them while the slice lives.
    #[expect(clippy::mut_from_ref, reason = "the memory is shared; the caller promises to be alone in this part of it")]
    #[inline(always)]
    pub(super) unsafe fn bytes_mut(&self, offset: usize, len: usize) -> &mut [u8] {
        assert!(offset <= self.len && len <= self.len - offset, "bytes within the memory");
        // SAFETY: within the mapping, as was just checked.
        let at = unsafe { self.start.add(offset) };
        // SAFETY: mapped as long as self lives; not shared now, by the caller's promise.
        unsafe { std::slice::from_raw_parts_mut(at.as_ptr(), len) }
    }
}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: mapped by self, and every reference into it borrowed self. A refusal leaves it mapped, which is harmless.
        let _ = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
    }
}
