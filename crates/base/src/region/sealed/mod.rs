//! Memory that one process writes and others may only read, for as long as any of them holds it.
//!
//! **When to take it:** what a process has written must be readable after its death, and no other process may damage it.
//! **When not:** several processes write; then a [`SharedRegion`](super::SharedRegion) does.
//!
//! - [`SealedMemory`]: the writer's end, a memfd whose every byte has memory behind it;
//! - [`SealedReader`]: the end of a process that opens it by what the holder [announced](Announcement);
//! - [`SealedWords`]: words that can be loaded and not stored, of such memory or of the heap;
//! - [`GrowingFile`], [`GrowingFileReader`]: bytes that are written once and copied by others while they come, without a mapping.
//!
//! The writer maps the file, and then seals it: from then on nobody can map it writable, write to it, or change its size, the
//! writer itself included, whose mapping stays as it is. A reader maps it read-only and keeps the descriptor. So the memory
//! outlives the writer, and a third process may open it from any holder: `/proc/<pid>/fd/<number>`.
//!
//! Nothing here waits. Words are ordered by those who use them.
//!
//! ```
//! use corecast_base::region::{SealedMemory, SealedReader};
//! use corecast_base::sync::Ordering;
//! let mine = SealedMemory::create(4096)?;
//! mine.words()?[3].store(7, Ordering::Relaxed);
//! // As another process would, which is told by some shared words where to look:
//! let theirs = SealedReader::open_announced(mine.announcement())?;
//! assert_eq!(theirs.words()?.load(3), 7);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod growing;
mod header;
mod memory;
mod reader;
#[cfg(test)]
mod tests;
mod words;

pub use growing::{GrowingFile, GrowingFileReader};
pub use header::Announcement;
pub use memory::SealedMemory;
pub use reader::SealedReader;
pub use words::SealedWords;
