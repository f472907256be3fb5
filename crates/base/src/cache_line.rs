//! A value alone on its cache line.

use std::ops::{Deref, DerefMut};

/// Bytes that one transfer between cores moves, and the size of a message slot.
pub const LINE_BYTES: usize = 64;

/// Puts a control word on a line of its own, so that a write to it disturbs no thread that works on a neighbour.
///
/// Aligned to two lines, because the adjacent-line prefetcher of current x86 cores fetches lines in pairs. Message
/// *slots* are not wrapped, because there it helps to fetch the neighbour.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct CacheLine<T>(pub T);

impl<T> CacheLine<T> {
    /// `value` on a line of its own.
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for CacheLine<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CacheLine<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

const _: () = assert!(size_of::<CacheLine<u64>>() == 2 * LINE_BYTES && align_of::<CacheLine<u64>>() == 2 * LINE_BYTES);
