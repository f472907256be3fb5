//! The bytes of a region in this process, read and written through atomic words only.

use std::fs::File;
use std::io;
use std::ptr::{self, NonNull};

use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap, mmap_anonymous, munmap};

use super::error::Forked;
use super::fork::Birth;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// The memory of a region in a forked child.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkPolicy {
    /// The child does not have the memory, and every call returns [`Forked`]. A message or loan that was open at the fork
    /// must not be read, written or committed in the child, as that ends the child; dropping it is harmless.
    #[default]
    Refuse,
    /// The child has the same memory. Parent and child are one participant and must agree on its use. The participant is
    /// alive until both have ended, and only the parent can say goodbye.
    Inherit,
}

/// A mapping of a whole region. This crate and its users access these bytes through atomics only.
#[derive(Debug)]
pub(super) struct Mapping {
    start: NonNull<u8>,
    len: usize,
    birth: Birth,
    /// True if forked children have the memory too.
    is_inherited: AtomicBool,
}

// SAFETY: the bytes are reached through atomics only, from any thread.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Zeroes for the threads of this process.
    pub(super) fn private(len: usize) -> io::Result<Self> {
        // SAFETY: a new mapping at an address that the kernel chooses disturbs nobody.
        let start = unsafe { mmap_anonymous(ptr::null_mut(), len, WRITABLE, MapFlags::PRIVATE) }?;
        Self::adopt(start.cast(), len)
    }

    /// The first `len` bytes of the file, shared with all who map it.
    pub(super) fn shared(file: &File, len: usize) -> io::Result<Self> {
        Self::of_file(file, len, WRITABLE)
    }

    /// The same, to be read only.
    pub(super) fn read_only(file: &File, len: usize) -> io::Result<Self> {
        Self::of_file(file, len, ProtFlags::READ)
    }

    fn of_file(file: &File, len: usize, access: ProtFlags) -> io::Result<Self> {
        // SAFETY: a new mapping at an address that the kernel chooses disturbs nobody.
        let start = unsafe { mmap(ptr::null_mut(), len, access, MapFlags::SHARED, file, 0) }?;
        Self::adopt(start.cast(), len)
    }

    fn adopt(start: *mut u8, len: usize) -> io::Result<Self> {
        let start = NonNull::new(start).expect("the kernel never maps the first page unasked");
        let mapping = Self { start, len, birth: Birth::now()?, is_inherited: AtomicBool::new(false) };
        mapping.advise(Advice::LinuxDontFork)?;
        Ok(mapping)
    }

    /// Asks for huge pages. If the kernel refuses, the region works as well with small ones.
    pub(super) fn prefer_huge_pages(&self) {
        let _ = self.advise(Advice::LinuxHugepage);
    }

    pub(super) fn set_fork_policy(&self, policy: ForkPolicy) -> io::Result<()> {
        let inherit = policy == ForkPolicy::Inherit;
        self.advise(if inherit { Advice::LinuxDoFork } else { Advice::LinuxDontFork })?;
        // ORDERING: Relaxed, a fork after this call copies it, and only the copy looks at it
        self.is_inherited.store(inherit, Ordering::Relaxed);
        Ok(())
    }

    fn advise(&self, advice: Advice) -> io::Result<()> {
        // SAFETY: the whole of our own mapping, and advice that leaves its contents alone.
        Ok(unsafe { madvise(self.start.as_ptr().cast(), self.len, advice) }?)
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// True in a forked child of the process that mapped it.
    #[inline(always)]
    pub(super) fn is_copy(&self) -> bool {
        self.birth.is_copy()
    }

    /// # Errors
    /// [`Forked`] if the memory is not in this process.
    #[inline(always)]
    pub(super) fn check_fork(&self) -> Result<(), Forked> {
        if self.is_copy() { self.check_inherited() } else { Ok(()) }
    }

    #[cold]
    fn check_inherited(&self) -> Result<(), Forked> {
        // ORDERING: Relaxed, written before the fork that made this copy
        if self.is_inherited.load(Ordering::Relaxed) { Ok(()) } else { Err(Forked) }
    }

    /// The word at `offset`, in bytes from the start.
    ///
    /// # Panics
    /// If it is not inside, not aligned, or not in this process.
    pub(super) fn word(&self, offset: usize) -> &AtomicU64 {
        let at = self.at(offset, size_of::<AtomicU64>());
        // SAFETY: inside the mapping, aligned, and reached through atomics only for as long as it is mapped.
        unsafe { at.cast().as_ref() }
    }

    /// The half word at `offset`, in bytes from the start.
    ///
    /// # Panics
    /// As [`word`](Self::word).
    pub(super) fn half_word(&self, offset: usize) -> &AtomicU32 {
        let at = self.at(offset, size_of::<AtomicU32>());
        // SAFETY: inside the mapping, aligned, and reached through atomics only for as long as it is mapped.
        unsafe { at.cast().as_ref() }
    }

    #[track_caller]
    fn at(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        let is_inside = offset <= self.len && bytes <= self.len - offset && offset % bytes == 0;
        assert!(is_inside, "a word of {bytes} bytes at offset {offset} of a region must be aligned and inside");
        assert_eq!(self.check_fork(), Ok(()));
        // SAFETY: inside the mapping.
        unsafe { self.start.add(offset) }
    }

    /// A private copy of the words, each read once.
    pub(super) fn copy(&self, offset: usize, words: usize) -> Vec<u64> {
        // ORDERING: Relaxed, the state was read with Acquire before, and words that a stranger wrote are checked
        (0..words).map(|i| self.word(offset + 8 * i).load(Ordering::Relaxed)).collect()
    }

    /// Writes words, one by one. The caller publishes them, by a state that it stores last; without that, or where others
    /// read them already, a reader may find some words of before and some of these, and must be able to bear it.
    pub(super) fn write(&self, offset: usize, words: &[u64]) {
        for (i, &word) in words.iter().enumerate() {
            // ORDERING: Relaxed, released by the state that the caller stores last, if readers need all of the words
            self.word(offset + 8 * i).store(word, Ordering::Relaxed);
        }
    }
}

const WRITABLE: ProtFlags = ProtFlags::READ.union(ProtFlags::WRITE);

impl Drop for Mapping {
    fn drop(&mut self) {
        if self.check_fork().is_ok() {
            // SAFETY: our own mapping; places that point into it keep it alive, so none is left.
            let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.len) };
            debug_assert_eq!(unmapped, Ok(()));
        }
    }
}
