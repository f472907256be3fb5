//! Places of a normal build: a pointer, and the owner that keeps the memory alive.

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::Arc;

use super::Shareable;
use crate::CacheLine;
use crate::sync::before_free;

/// The owner of a place's memory, such as a mapping.
pub type KeepAlive = Arc<dyn Any + Send + Sync>;

/// A value in shared memory; a clone is the same value.
pub struct Place<T> {
    value: NonNull<T>,
    keep: KeepAlive,
}

/// Several values side by side in shared memory; a clone is the same values.
pub struct PlaceSlice<T> {
    values: NonNull<[T]>,
    keep: KeepAlive,
}

impl<T: Shareable> Place<T> {
    /// A value on the heap, for the threads of this process.
    #[must_use]
    pub fn new(value: T) -> Self {
        let keep = Arc::new(value);
        Self { value: NonNull::from(&*keep), keep }
    }

    /// A value in memory that `keep` owns.
    ///
    /// # Safety
    /// - `value` is aligned for T and its bytes are readable and writable for as long as `keep` lives.
    /// - No thread of any process accesses these bytes but through atomics of the same widths.
    #[must_use]
    pub unsafe fn within(value: NonNull<T>, keep: KeepAlive) -> Self {
        Self { value, keep }
    }
}

impl<T: Shareable> PlaceSlice<T> {
    /// Values on the heap, for the threads of this process.
    #[must_use]
    pub fn new(values: Vec<T>) -> Self {
        let keep = Arc::new(values);
        Self { values: NonNull::from(keep.as_slice()), keep }
    }

    /// `len` values on the heap, all zero, for the threads of this process. Of a large slice, the system gives memory only
    /// to the parts that are touched. They begin with a line.
    ///
    /// # Panics
    /// If memory cannot hold that many values.
    #[must_use]
    pub fn zeroed(len: usize) -> Self {
        // As slices of sections begin: parts of a slice of words are laid out by lines.
        let align = align_of::<T>().max(align_of::<CacheLine<u8>>());
        let bytes = len.checked_mul(size_of::<T>()).and_then(|bytes| bytes.checked_add(align));
        // Words, because a vector of zeroes is not written; an allocator that is asked for aligned lines writes all of
        // them.
        let mut words = vec![0u64; bytes.expect("values that fit into memory").div_ceil(size_of::<u64>())];
        let first = NonNull::new(words.as_mut_ptr().cast::<u8>()).expect("a vector's address is not null");
        let skew = first.as_ptr().align_offset(align);
        // SAFETY: skew is below the alignment, and the words are longer than the values by that much.
        let first = unsafe { first.add(skew) }.cast::<T>();
        // SAFETY: aligned, inside the words, which nothing else reaches; zeroes are a value of a shareable type.
        unsafe { Self::within(first, len, Arc::new(Zeroed(words))) }
    }

    /// `len` values, from `first` on, in memory that `keep` owns.
    ///
    /// # Safety
    /// As for [`Place::within`], for all of them.
    #[must_use]
    pub unsafe fn within(first: NonNull<T>, len: usize, keep: KeepAlive) -> Self {
        Self { values: NonNull::slice_from_raw_parts(first, len), keep }
    }
}

/// Memory that was zeroed, in which values of any shareable type lie.
struct Zeroed(Vec<u64>);

impl Drop for Zeroed {
    fn drop(&mut self) {
        before_free(self.0.as_ptr().cast(), size_of_val(self.0.as_slice()));
    }
}

impl<T> Place<T> {
    /// The owner that keeps the memory alive.
    #[must_use]
    pub fn keep(&self) -> &KeepAlive {
        &self.keep
    }
}

impl<T> PlaceSlice<T> {
    /// One of the values; `None` if the index is beyond the last.
    #[must_use]
    pub fn place(&self, index: usize) -> Option<Place<T>> {
        let value = NonNull::from(self.get(index)?);
        Some(Place { value, keep: Arc::clone(&self.keep) })
    }

    /// The owner that keeps the memory alive.
    #[must_use]
    pub fn keep(&self) -> &KeepAlive {
        &self.keep
    }
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        Self { value: self.value, keep: Arc::clone(&self.keep) }
    }
}

impl<T> Clone for PlaceSlice<T> {
    fn clone(&self) -> Self {
        Self { values: self.values, keep: Arc::clone(&self.keep) }
    }
}

impl<T> Deref for Place<T> {
    type Target = T;

    #[inline(always)]
    fn deref(&self) -> &T {
        // SAFETY: valid while `keep` lives, which self holds, and changed through atomics only: the promises of `new`'s
        // bound and of `within`.
        unsafe { self.value.as_ref() }
    }
}

impl<T> Deref for PlaceSlice<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: as for a single place.
        unsafe { self.values.as_ref() }
    }
}

impl<T> fmt::Debug for Place<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Place({:p})", self.value)
    }
}

impl<T> fmt::Debug for PlaceSlice<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PlaceSlice({:p}; {})", self.values, self.values.len())
    }
}

// SAFETY: the value behind a place is shareable, hence Sync, and its keeper is Send and Sync.
unsafe impl<T: Shareable> Send for Place<T> {}
// SAFETY: as above.
unsafe impl<T: Shareable> Sync for Place<T> {}
// SAFETY: as above.
unsafe impl<T: Shareable> Send for PlaceSlice<T> {}
// SAFETY: as above.
unsafe impl<T: Shareable> Sync for PlaceSlice<T> {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::{AtomicU32, Ordering};

    #[test]
    fn zeroed_values_are_zero_and_lie_on_lines_of_their_own() {
        for len in [0, 1, 3, 1000] {
            let lines = PlaceSlice::<CacheLine<AtomicU32>>::zeroed(len);
            assert!(lines.len() == len && lines.iter().all(|line| line.load(Ordering::Relaxed) == 0));
            assert!(lines.iter().all(|line| std::ptr::from_ref(line).addr() % align_of::<CacheLine<u8>>() == 0));
            lines.iter().enumerate().for_each(|(i, line)| line.store(i as u32, Ordering::Relaxed));
            assert!(lines.iter().enumerate().all(|(i, line)| line.load(Ordering::Relaxed) == i as u32));
        }
        assert_eq!(PlaceSlice::<AtomicU32>::zeroed(7).len(), 7);
    }

    #[test]
    fn zeroed_words_begin_with_a_line() {
        for len in [1, 7, 100, 1000, 100_000] {
            let words = PlaceSlice::<AtomicU32>::zeroed(len);
            assert_eq!(words.as_ptr().addr() % align_of::<CacheLine<u8>>(), 0, "{len}");
        }
    }

    #[test]
    #[should_panic(expected = "values that fit into memory")]
    fn more_values_than_memory_can_hold_are_refused() {
        let _ = PlaceSlice::<AtomicU32>::zeroed(usize::MAX / 2);
    }

    #[test]
    #[should_panic(expected = "values that fit into memory")]
    fn so_are_as_many_as_leave_no_room_to_align_them() {
        let _ = PlaceSlice::<AtomicU32>::zeroed(usize::MAX / 4);
    }

    #[test]
    fn clones_are_the_same_values_and_keep_them_alive() {
        let slice = PlaceSlice::new((0..4).map(AtomicU32::new).collect());
        let clone = slice.clone();
        let one = slice.place(1).expect("one of four");
        assert!(slice.place(4).is_none());
        drop(slice);
        one.store(7, Ordering::Relaxed);
        let seen: Vec<u32> = clone.iter().map(|value| value.load(Ordering::Relaxed)).collect();
        assert_eq!(seen, [0, 7, 2, 3]);
    }
}
