//! Memory that all members of a group lay out in the same way: equal requests in the same order get equal values.
//!
//! **When to take it:** several threads or processes each build their own part of one protocol, without telling each other
//! where its lines lie. **When not:** one thread can make all ends and hand them out; then a
//! [`Place`](crate::Place) and its clones do.
//!
//! An [`Arena`] is a position in a memory. [`slice`](Arena::slice) gives the values there and moves on;
//! [`part`](Arena::part) gives a memory within it that only some of the members lay out. On the heap the first caller makes
//! the values. In a section of a region the values are what lies there already, zeroes in a fresh one. **The rule:** all
//! members lay out slices of the same types and lengths in the same order. On the heap a difference is an error. The bytes
//! of a section do not tell types, so there a difference would place values across each other.
//!
//! ```
//! use corecast_base::Arena;
//! use corecast_base::sync::{AtomicU64, Ordering};
//! let mut mine = Arena::heap();
//! let mut theirs = mine.from_start();
//! // ORDERING: Relaxed, one thread
//! mine.slice::<AtomicU64>(3)?[1].store(7, Ordering::Relaxed);
//! assert_eq!(theirs.slice::<AtomicU64>(3)?[1].load(Ordering::Relaxed), 7);
//! assert_eq!(mine.bytes(), 128, "every slice begins on lines of its own");
//! # Ok::<(), corecast_base::ArenaError>(())
//! ```

mod heap;
#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

use crate::CacheLine;
use crate::place::{Place, PlaceSlice, Shareable};
use heap::Pieces;
use std::fmt;

#[cfg(loom)]
use model::SectionMemory;
#[cfg(not(loom))]
use native::SectionMemory;

/// The alignment of slices: each begins on lines that no other slice has.
const ALIGN: usize = align_of::<CacheLine<u8>>();

/// The reason why memory could not be laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ArenaError {
    /// The memory is used up.
    #[error(
        "{bytes} bytes more do not fit into a memory of {len} bytes, of which {used} are used: it has as much room as \
        was asked for when it was made"
    )]
    Full {
        /// The bytes asked for; saturated.
        bytes: usize,
        /// The bytes laid out before.
        used: usize,
        /// The bytes there are.
        len: usize,
    },
    /// Another member laid out another type or length here. Noticed on the heap only; a section cannot tell.
    #[error(
        "slice {slice} of this memory has another type or length: all must lay out the same slices in the same order"
    )]
    Different {
        /// Its number, from 0.
        slice: usize,
    },
    /// This process is a forked child of the one that attached, and does not have the memory.
    #[error("this process is a forked child of the one that attached to the memory: attach anew")]
    Forked,
}

/// A position in memory that others lay out in the same way. A clone begins at the same position and moves on by itself.
#[derive(Clone)]
pub struct Arena {
    memory: Memory,
    /// Slices laid out so far.
    slices: usize,
    /// Bytes laid out so far.
    bytes: usize,
}

#[derive(Debug, Clone)]
enum Memory {
    Heap(Pieces),
    SectionMemory(SectionMemory),
}

impl Arena {
    /// The beginning of a new memory on the heap, for the threads of this process.
    #[must_use]
    pub fn heap() -> Self {
        Self::of(Memory::Heap(Pieces::default()))
    }

    /// The beginning of the same memory.
    #[must_use]
    pub fn from_start(&self) -> Self {
        Self::of(self.memory.clone())
    }

    /// The bytes laid out so far, by this arena and those that it was cloned from. A section for the same slices needs this
    /// size.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// True if other processes may write the memory, whatever the protocol says.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        matches!(self.memory, Memory::SectionMemory(_))
    }

    /// The bytes that are not laid out yet; `None` on the heap, which has no end.
    #[must_use]
    pub fn left(&self) -> Option<usize> {
        match &self.memory {
            Memory::Heap(_) => None,
            Memory::SectionMemory(memory) => Some(memory.len().saturating_sub(self.bytes)),
        }
    }

    /// The next `bytes` bytes as a memory of its own, which not every member has to lay out. On the heap it is a new
    /// memory; the other members that lay it out get it by [`share`](Self::share).
    ///
    /// # Errors
    /// As for [`slice`](Self::slice).
    pub fn part(&mut self, bytes: usize) -> Result<Self, ArenaError> {
        let memory = match &self.memory {
            Memory::Heap(_) => return Ok(Self::heap()),
            Memory::SectionMemory(memory) => memory.part(self.bytes, bytes)?,
        };
        self.slices += 1;
        self.bytes = self.bytes.saturating_add(bytes).next_multiple_of(ALIGN);
        Ok(Self::of(Memory::SectionMemory(memory)))
    }

    /// An object that the threads which lay out the same memory need only once. On the heap the first caller makes it while
    /// the others wait, and all get clones. In a section each caller makes its own.
    ///
    /// # Errors
    /// [`ArenaError::Different`], on the heap.
    pub fn share<P: Clone + Send + Sync + 'static>(&mut self, make: impl FnOnce() -> P) -> Result<P, ArenaError> {
        let piece = match &self.memory {
            Memory::Heap(pieces) => pieces.piece(self.slices, make)?,
            Memory::SectionMemory(_) => make(),
        };
        self.slices += 1;
        Ok(piece)
    }

    /// The next `len` values, beginning on a line of their own. The first caller finds them zero, which is the default of a
    /// shareable type. On the heap, values that are never touched take no memory.
    ///
    /// # Errors
    /// [`ArenaError`] if the memory is a section without room for them or is not in this process, or if another member laid
    /// out another type or length here on the heap. The position stays.
    pub fn slice<T: Shareable + Default>(&mut self, len: usize) -> Result<PlaceSlice<T>, ArenaError> {
        let slice = match &self.memory {
            Memory::Heap(pieces) => pieces.slice(self.slices, len)?,
            Memory::SectionMemory(memory) => memory.slice(self.bytes, len)?,
        };
        self.slices += 1;
        self.bytes = size_of::<T>().saturating_mul(len).saturating_add(self.bytes).next_multiple_of(ALIGN);
        Ok(slice)
    }

    /// The next value, on lines of its own: a [`slice`](Self::slice) of one.
    ///
    /// # Errors
    /// As for [`slice`](Self::slice).
    pub fn place<T: Shareable + Default>(&mut self) -> Result<Place<T>, ArenaError> {
        Ok(self.slice(1)?.place(0).expect("one of one"))
    }

    fn of(memory: Memory) -> Self {
        Self { memory, slices: 0, bytes: 0 }
    }
}

impl fmt::Debug for Arena {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Arena({} bytes in {} slices)", self.bytes, self.slices)
    }
}
