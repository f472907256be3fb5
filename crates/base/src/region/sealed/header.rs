//! The first words of sealed memory, and where a process finds it.
//!
//! | offset | field, written once before the memory is announced |
//! |---|---|
//! | 0x00 | magic u64; identity u64 (random, not 0); bytes u64 (of the words, without the header) |
//! | 0x80 | the words |

use rustix::fs::SealFlags;

use crate::region::mapping::Mapping;
use crate::sync::Ordering;

/// The bytes before the words.
pub(super) const HEADER_BYTES: usize = 128;
/// The size of the file is a multiple of this.
const PAGE_BYTES: usize = 4096;
/// "ccsealed", as bytes in memory.
const MAGIC: u64 = u64::from_le_bytes(*b"ccsealed");
/// Nobody can change the size, write, map for writing, or take these seals off.
pub(super) const SEALS: SealFlags =
    SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::FUTURE_WRITE).union(SealFlags::SEAL);

/// Where a process finds sealed memory: in the descriptors of a process that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Announcement {
    /// The process that holds it, by its number in the namespace of all who look.
    pub pid: u32,
    /// The number of its descriptor.
    pub fd: u32,
    /// A random number, not 0, that no other sealed memory has.
    pub identity: u64,
}

/// The contents of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) identity: u64,
    pub(super) bytes: usize,
}

impl Header {
    /// The size of the file with this header. Two pages at least, which is what [`check_file`](crate::region::file::check_file)
    /// asks of every file.
    pub(super) fn file_bytes(self) -> Option<usize> {
        let bytes = self.bytes.checked_add(HEADER_BYTES)?.checked_next_multiple_of(PAGE_BYTES)?;
        Some(bytes.max(2 * PAGE_BYTES))
    }

    /// Writes it, before any other process knows of the memory.
    pub(super) fn write(self, mapping: &Mapping) {
        mapping.write(0, &[MAGIC, self.identity, self.bytes as u64]);
    }

    /// The header, which any process of this user may have written; `None` if it is none.
    pub(super) fn read(mapping: &Mapping) -> Option<Self> {
        // ORDERING: Relaxed, written before the memory was sealed and announced, and checked
        let [magic, identity, bytes] = [0, 8, 16].map(|at| mapping.word(at).load(Ordering::Relaxed));
        let header = Self { identity, bytes: usize::try_from(bytes).ok()? };
        let is_valid = magic == MAGIC && identity != 0 && header.file_bytes() == Some(mapping.len());
        is_valid.then_some(header)
    }
}
