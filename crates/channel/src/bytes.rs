//! Views of messages in shared memory, as bytes and as values.
//!
//! A `&[u8]` into memory that another process may write is undefined behaviour, whatever that process promised. So a view
//! reaches the bytes of a message in place, word by word, by relaxed atomic accesses: that is safe against any neighbour
//! and needs no second buffer. A neighbour that breaks the protocol can only change bytes while they are read.
//!
//! Where no other thread can write, views also give slices: the protocol ensures that among the threads of one process, and
//! in a region the user may promise it for all processes ([`Honest`](corecast_base::region::Honest)).

use std::fmt;
use std::mem::MaybeUninit;

use corecast_base::sync::{AtomicU64, Ordering};
#[cfg(not(loom))]
use corecast_base::sync::{before_read, before_write};
pub use corecast_base::{Plain, zeroed};

use crate::bulk;

const WORD_BYTES: usize = size_of::<u64>();
/// The bytes that [`Bytes::fold`] hands out at a time.
const CHUNK_BYTES: usize = 64;

/// The bytes of a received message, in place.
pub struct Bytes<'a> {
    words: &'a [AtomicU64],
    len: usize,
    is_stable: bool,
}

/// Room for the bytes of a message where the receiver will read them.
pub struct BytesMut<'a> {
    words: &'a [AtomicU64],
    len: usize,
    #[cfg_attr(loom, expect(dead_code, reason = "the model has no slices"))]
    is_own: bool,
}

impl<'a> Bytes<'a> {
    /// The first `len` bytes of `words`, which others may change at any time.
    ///
    /// # Panics
    /// If there are fewer.
    #[track_caller]
    #[inline]
    #[must_use]
    pub fn shared(words: &'a [AtomicU64], len: usize) -> Self {
        assert!(len <= words.len() * WORD_BYTES, "the message lies in its words");
        Self { words, len, is_stable: false }
    }

    /// As [`shared`](Self::shared), where slices may be given out.
    ///
    /// # Safety
    /// - No thread writes these bytes while the view lives.
    #[track_caller]
    #[inline]
    pub(crate) unsafe fn stable(words: &'a [AtomicU64], len: usize) -> Self {
        Self { is_stable: true, ..Self::shared(words, len) }
    }

    /// The same view, for no longer than this one is borrowed.
    pub(crate) fn reborrow(&self) -> Bytes<'_> {
        Bytes { words: self.words, len: self.len, is_stable: self.is_stable }
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a message of no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies the bytes from `offset` on into all of `into`.
    ///
    /// # Panics
    /// If the message ends before.
    #[track_caller]
    #[inline]
    pub fn read_at(&self, offset: usize, into: &mut [u8]) {
        check_range(offset, into.len(), self.len);
        let (first, rest) = into.split_at_mut(bytes_before_word(offset).min(into.len()));
        if !first.is_empty() {
            let skew = offset % WORD_BYTES;
            first.copy_from_slice(&self.word(offset / WORD_BYTES)[skew..skew + first.len()]);
        }
        let begin = offset.div_ceil(WORD_BYTES);
        let end = begin + rest.len() / WORD_BYTES;
        let (whole, last) = rest.split_at_mut((end - begin) * WORD_BYTES);
        if !whole.is_empty() {
            bulk::load(&self.words[begin..end], whole);
        }
        if !last.is_empty() {
            last.copy_from_slice(&self.word(end)[..last.len()]);
        }
    }

    /// Copies all bytes to the beginning of `into`.
    ///
    /// # Panics
    /// If `into` is shorter than the message.
    #[track_caller]
    #[inline]
    pub fn copy_to(&self, into: &mut [u8]) {
        assert!(self.len <= into.len(), "a message of {} bytes does not fit into {} bytes", self.len, into.len());
        self.read_at(0, &mut into[..self.len]);
    }

    /// A copy of all bytes.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        let mut copy = vec![0; self.len];
        self.read_at(0, &mut copy);
        copy
    }

    /// Combines all bytes in order, some of them at a time, without a copy of the whole.
    #[inline]
    pub fn fold<A>(&self, first: A, mut combine: impl FnMut(A, &[u8]) -> A) -> A {
        let mut chunk = [0; CHUNK_BYTES];
        let mut sum = first;
        for offset in (0..self.len).step_by(CHUNK_BYTES) {
            let part = &mut chunk[..CHUNK_BYTES.min(self.len - offset)];
            self.read_at(offset, part);
            sum = combine(sum, part);
        }
        sum
    }

    /// The message as a value; `None` if it has another length.
    #[inline]
    #[must_use]
    pub fn read<T: Plain>(&self) -> Option<T> {
        if self.len != size_of::<T>() {
            return None;
        }
        let mut value = MaybeUninit::<T>::zeroed();
        // SAFETY: all bytes of it are initialised, to zero, and it is borrowed by this slice alone.
        let bytes = unsafe { std::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
        self.read_at(0, bytes);
        // SAFETY: any bytes are a value of a plain type.
        Some(unsafe { value.assume_init() })
    }

    /// Copies the bytes from `offset` on into values.
    ///
    /// # Panics
    /// If the message ends before.
    #[track_caller]
    #[inline]
    pub fn read_values_at<T: Plain>(&self, offset: usize, into: &mut [T]) {
        let bytes = into.as_mut_ptr().cast::<u8>();
        // SAFETY: the bytes of plain values: all initialised, any of them make values, and borrowed here alone.
        self.read_at(offset, unsafe { std::slice::from_raw_parts_mut(bytes, size_of_val(into)) });
    }

    /// The bytes as a slice, if no thread can write them: on the heap, or in a region that was declared honest.
    #[cfg(not(loom))]
    #[inline]
    #[must_use]
    pub fn as_slice(&self) -> Option<&[u8]> {
        let first = self.words.as_ptr().cast::<u8>();
        before_read(first, if self.is_stable { self.len } else { 0 });
        // SAFETY: `len` bytes of the words, initialised as they are atomics; no thread writes stable ones while self
        // lives, by the promise of `stable`.
        self.is_stable.then(|| unsafe { std::slice::from_raw_parts(first, self.len) })
    }

    #[inline(always)]
    fn word(&self, index: usize) -> [u8; WORD_BYTES] {
        // ORDERING: Relaxed, ordered by the word that published the message
        self.words[index].load(Ordering::Relaxed).to_ne_bytes()
    }
}

impl<'a> BytesMut<'a> {
    /// The first `len` bytes of `words`, which others may change at any time.
    ///
    /// # Panics
    /// If there are fewer.
    #[track_caller]
    #[inline]
    #[must_use]
    pub fn shared(words: &'a [AtomicU64], len: usize) -> Self {
        assert!(len <= words.len() * WORD_BYTES, "the message lies in its words");
        Self { words, len, is_own: false }
    }

    /// As [`shared`](Self::shared), where slices may be given out.
    ///
    /// # Safety
    /// - No other thread reads or writes these bytes while the view lives.
    #[track_caller]
    #[inline]
    pub(crate) unsafe fn own(words: &'a [AtomicU64], len: usize) -> Self {
        Self { is_own: true, ..Self::shared(words, len) }
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True for a message of no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Writes all of `from` to where the bytes from `offset` on will be.
    ///
    /// # Panics
    /// If the message ends before.
    #[track_caller]
    #[inline]
    pub fn write_at(&mut self, offset: usize, from: &[u8]) {
        check_range(offset, from.len(), self.len);
        let (first, rest) = from.split_at(bytes_before_word(offset).min(from.len()));
        if !first.is_empty() {
            self.patch(offset / WORD_BYTES, offset % WORD_BYTES, first);
        }
        let begin = offset.div_ceil(WORD_BYTES);
        let end = begin + rest.len() / WORD_BYTES;
        let (whole, last) = rest.split_at((end - begin) * WORD_BYTES);
        if !whole.is_empty() {
            bulk::store(&self.words[begin..end], whole);
        }
        if !last.is_empty() {
            self.patch(end, 0, last);
        }
    }

    /// Writes all of `from`, which is as long as the message.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    #[inline]
    pub fn copy_from(&mut self, from: &[u8]) {
        assert_eq!(from.len(), self.len, "the bytes must be as many as were reserved");
        self.write_at(0, from);
    }

    /// Writes the bytes of a value, which is as long as the message.
    ///
    /// # Panics
    /// If it is not.
    #[track_caller]
    #[inline]
    pub fn write<T: Plain>(&mut self, value: &T) {
        let bytes = std::ptr::from_ref(value).cast::<u8>();
        // SAFETY: the bytes of a plain value, all of which are initialised, for as long as it is borrowed.
        self.copy_from(unsafe { std::slice::from_raw_parts(bytes, size_of::<T>()) });
    }

    /// Writes the bytes of values, which are as long as the message.
    ///
    /// # Panics
    /// If they are not.
    #[track_caller]
    #[inline]
    pub fn write_values<T: Plain>(&mut self, values: &[T]) {
        assert_eq!(size_of_val(values), self.len, "the bytes must be as many as were reserved");
        self.write_values_at(0, values);
    }

    /// Writes the bytes of values to where those from `offset` on will be.
    ///
    /// # Panics
    /// If the message ends before.
    #[track_caller]
    #[inline]
    pub fn write_values_at<T: Plain>(&mut self, offset: usize, values: &[T]) {
        let bytes = values.as_ptr().cast::<u8>();
        // SAFETY: the bytes of plain values, all of which are initialised, for as long as they are borrowed.
        self.write_at(offset, unsafe { std::slice::from_raw_parts(bytes, size_of_val(values)) });
    }

    /// The bytes as a slice, if no other thread reaches them: on the heap, or in a region that was declared honest. At
    /// first it holds the bytes of earlier messages.
    #[cfg(not(loom))]
    #[inline]
    #[must_use]
    pub fn as_mut_slice(&mut self) -> Option<&mut [u8]> {
        let first = self.words.as_ptr().cast::<u8>().cast_mut();
        before_write(first, if self.is_own { self.len } else { 0 });
        // SAFETY: `len` bytes of atomics, which may be changed behind a shared reference; no other thread reaches own ones
        // while self lives, by the promise of `own`, and this borrow of self is the only one.
        self.is_own.then(|| unsafe { std::slice::from_raw_parts_mut(first, self.len) })
    }

    #[inline(always)]
    fn set_word(&mut self, index: usize, bytes: [u8; WORD_BYTES]) {
        // ORDERING: Relaxed, made visible by the word that publishes the message
        self.words[index].store(u64::from_ne_bytes(bytes), Ordering::Relaxed);
    }

    /// Writes some bytes of a word.
    #[inline]
    fn patch(&mut self, index: usize, skew: usize, part: &[u8]) {
        // ORDERING: Relaxed, only this end writes here before the message is published
        let mut bytes = self.words[index].load(Ordering::Relaxed).to_ne_bytes();
        bytes[skew..skew + part.len()].copy_from_slice(part);
        self.set_word(index, bytes);
    }
}

/// The bytes from `offset` to the beginning of the next word.
#[inline(always)]
fn bytes_before_word(offset: usize) -> usize {
    offset.next_multiple_of(WORD_BYTES) - offset
}

#[track_caller]
#[inline(always)]
fn check_range(offset: usize, bytes: usize, len: usize) {
    let is_inside = offset <= len && bytes <= len - offset;
    assert!(is_inside, "{bytes} bytes at offset {offset} are not inside a message of {len} bytes");
}

// Contents may change under the reader, and may be long: only the length is shown.
impl fmt::Debug for Bytes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bytes({})", self.len)
    }
}

impl fmt::Debug for BytesMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BytesMut({})", self.len)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn words(count: usize) -> Vec<AtomicU64> {
        (0..count).map(|_| AtomicU64::new(u64::MAX)).collect()
    }

    proptest! {
        #[test]
        fn any_cut_writes_and_reads_as_a_slice_would(
            cuts in prop::collection::vec((0..100usize, prop::collection::vec(any::<u8>(), 0..40)), 0..8),
            (from, len) in (0..100usize, 0..100usize),
        ) {
            let memory = words(13);
            let mut view = BytesMut::shared(&memory, 100);
            let mut expected = [u8::MAX; 100];
            for (offset, bytes) in cuts {
                let fit = bytes.len().min(100 - offset);
                view.write_at(offset, &bytes[..fit]);
                expected[offset..offset + fit].copy_from_slice(&bytes[..fit]);
            }
            let view = Bytes::shared(&memory, 100);
            prop_assert_eq!(view.to_vec(), &expected);
            let len = len.min(100 - from);
            let mut part = vec![0; len];
            view.read_at(from, &mut part);
            prop_assert_eq!(&part, &expected[from..from + len]);
            let sum = |bytes: &[u8]| bytes.iter().map(|&byte| u64::from(byte)).sum::<u64>();
            prop_assert_eq!(view.fold(0, |sum_so_far, chunk| sum_so_far + sum(chunk)), sum(&expected));
        }
    }

    #[test]
    fn values_have_their_length_and_nothing_else() {
        let memory = words(4);
        BytesMut::shared(&memory, 12).write(&[1u32, 2, 3]);
        assert_eq!(Bytes::shared(&memory, 12).read(), Some([1u32, 2, 3]));
        assert_eq!(Bytes::shared(&memory, 12).read::<u64>(), None);
        assert_eq!(Bytes::shared(&memory, 0).read(), Some([0u8; 0]));
        assert_eq!(Bytes::shared(&memory, 13).to_vec()[12], u8::MAX, "what was not written stays");
    }

    #[test]
    fn slices_of_values_are_their_bytes() {
        let memory = words(4);
        BytesMut::shared(&memory, 6).write_values(&[1u16, 2, 3]);
        let view = Bytes::shared(&memory, 8);
        let mut values = [0u16; 3];
        view.read_values_at(2, &mut values);
        assert_eq!(values, [2, 3, u16::MAX], "what was not written stays");
        view.read_values_at(8, &mut [0u16; 0]);
        BytesMut::shared(&memory, 8).write_values_at(4, &[7u16, 8]);
        view.read_values_at(2, &mut values);
        assert_eq!(values, [2, 7, 8]);
        BytesMut::shared(&memory, 0).write_values(&[(), ()]);
        view.read_values_at(0, &mut [(); 3]);
    }

    #[test]
    #[should_panic(expected = "2 bytes at offset 7 are not inside a message of 8 bytes")]
    fn values_beyond_the_end_are_refused() {
        Bytes::shared(&words(1), 8).read_values_at(7, &mut [0u16]);
    }

    #[test]
    #[should_panic(expected = "2 bytes at offset 7 are not inside a message of 8 bytes")]
    fn values_are_not_written_beyond_the_end() {
        BytesMut::shared(&words(1), 8).write_values_at(7, &[0u16]);
    }

    #[test]
    #[should_panic(expected = "the bytes must be as many as were reserved")]
    fn values_of_another_length_are_refused() {
        BytesMut::shared(&words(1), 8).write_values(&[0u16; 3]);
    }

    #[test]
    fn only_undisturbed_views_are_slices() {
        let memory = words(2);
        assert!(BytesMut::shared(&memory, 9).as_mut_slice().is_none());
        // SAFETY: nobody else knows of the memory.
        let mut own = unsafe { BytesMut::own(&memory, 9) };
        own.as_mut_slice().expect("own").copy_from_slice(b"slice two");
        assert!(Bytes::shared(&memory, 9).as_slice().is_none());
        // SAFETY: as above.
        let stable = unsafe { Bytes::stable(&memory, 9) };
        assert_eq!(stable.as_slice(), Some(b"slice two".as_slice()));
    }

    #[test]
    #[should_panic(expected = "2 bytes at offset 4 are not inside a message of 5 bytes")]
    fn reading_beyond_the_end_is_refused() {
        Bytes::shared(&words(1), 5).read_at(4, &mut [0; 2]);
    }
}
