//! The part of a region that belongs to one channel, and checked views of it.

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;

use super::attachment::Attachment;
use super::error::{Forked, SectionError};
use crate::place::{KeepAlive, Place, PlaceSlice, Shareable};
use crate::sync::AtomicU64;

/// The bytes of one channel. A section, and every place in it, keeps the attachment alive; a clone is the same bytes.
#[derive(Clone)]
pub struct Section {
    attachment: Arc<Attachment>,
    at: usize,
    len: usize,
}

impl Section {
    /// The bytes from `at` on, which are inside the mapping.
    pub(super) fn within(attachment: Arc<Attachment>, at: usize, len: usize) -> Self {
        assert!(
            at <= attachment.mapping.len() && len <= attachment.mapping.len() - at,
            "a section is inside its region"
        );
        Self { attachment, at, len }
    }

    /// Its length in bytes, a multiple of 128.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there are no bytes, which no section of a valid region has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The value at `offset`, in bytes from the section's start.
    ///
    /// # Errors
    /// [`SectionError`] if it is not inside, not aligned, or not in this process.
    pub fn place<T: Shareable>(&self, offset: usize) -> Result<Place<T>, SectionError> {
        let value = self.find::<T>(offset, 1)?;
        // SAFETY: inside the mapping and aligned, and the attachment keeps it mapped; every process that maps a region reaches
        // its contents through atomics only, and so does Shareable; any bytes are a value.
        Ok(unsafe { Place::within(value, self.keep()) })
    }

    /// `len` values from `offset` on, in bytes from the section's start.
    ///
    /// # Errors
    /// As for [`place`](Self::place).
    pub fn slice<T: Shareable>(&self, offset: usize, len: usize) -> Result<PlaceSlice<T>, SectionError> {
        let first = self.find::<T>(offset, len)?;
        // SAFETY: as for a single place.
        Ok(unsafe { PlaceSlice::within(first, len, self.keep()) })
    }

    /// `len` words from `offset` on, in bytes from the section's start.
    ///
    /// # Errors
    /// As for [`place`](Self::place).
    pub fn words(&self, offset: usize, len: usize) -> Result<PlaceSlice<AtomicU64>, SectionError> {
        self.slice(offset, len)
    }

    /// The address of its first byte in this process. Only with an [`Honest`](super::Honest) region may these bytes be
    /// reached other than through atomics, and only for as long as the section lives.
    ///
    /// # Errors
    /// [`Forked`] if the memory is not in this process.
    pub fn start(&self) -> Result<NonNull<u8>, Forked> {
        self.attachment.mapping.check_fork()?;
        // SAFETY: inside the mapping, as `within` checked.
        Ok(unsafe { self.attachment.mapping.start().add(self.at) })
    }

    /// The owner that keeps its memory, and the slot of this participant.
    #[must_use]
    pub fn keep(&self) -> KeepAlive {
        Arc::clone(&self.attachment) as Arc<dyn Any + Send + Sync>
    }

    fn find<T>(&self, offset: usize, count: usize) -> Result<NonNull<T>, SectionError> {
        let bytes = size_of::<T>().saturating_mul(count);
        if offset > self.len || bytes > self.len - offset {
            return Err(SectionError::Outside { offset, bytes, len: self.len });
        }
        let start = self.start()?;
        // SAFETY: inside the section.
        let value = unsafe { start.add(offset) }.cast::<T>();
        if value.is_aligned() { Ok(value) } else { Err(SectionError::Unaligned { offset, align: align_of::<T>() }) }
    }
}

impl fmt::Debug for Section {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Section({} bytes at {:#x})", self.len, self.at)
    }
}
