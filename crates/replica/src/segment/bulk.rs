//! Bodies that are too long for a slot: written once, into an arena of the segment of the node that submits them.
//!
//! The arena is a ring of values, each in one piece and on lines of its own. A value stays until its index is known and
//! `stable` has passed it, whichever node leads. That of a request which is never ordered gets the index of a command after which
//! no replica would look at it: the end of its session. Space returns in the order in which it was taken, so one request that
//! stays open holds back those behind it. (Lists of free pieces would return it earlier, and fall to pieces with values of
//! changing sizes; requests are answered in about the order in which they are made.)
//!
//! The bookkeeping is private to the owner. A request that was ordered twice is applied once: nobody reads the value for
//! the second time, so it may be gone then, and another value in its place. A reader that comes too late finds another checksum.

use std::collections::VecDeque;

use corecast_base::PlaceSlice;
use corecast_base::sync::{AtomicU64, Ordering};

use super::body::BulkPlace;
use super::checksum::Checksum;
use super::layout::SegmentLayout;
use super::reader::SegmentReader;
use crate::{Index, NodeId};

/// The longest value, in bytes: 16 MiB and room for a header of its user.
pub const MAX_BULK_BYTES: usize = (16 << 20) + (64 << 10);
/// Values begin on lines.
const ALIGN: u64 = 64;

/// The reason why a value was not written or read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BulkError {
    /// The value is longer than the arena, or than any value may be.
    #[error("a value of {len} bytes is longer than {max}")]
    TooLarge {
        /// Its length, in bytes.
        len: usize,
        /// The longest that is possible, in bytes.
        max: usize,
    },
    /// There is no room now: values have to become stable first.
    #[error("the arena for long values is full")]
    Full,
    /// The place is not one of this arena.
    #[error("a place outside of the arena")]
    Outside,
    /// The value is damaged, or was overwritten because all members have applied it.
    #[error("a long value that was overwritten or damaged")]
    Corrupt,
}

/// The owner's end of an arena.
#[derive(Debug)]
pub struct BulkWriter {
    words: PlaceSlice<AtomicU64>,
    /// The first word of the arena.
    at: usize,
    node: NodeId,
    /// The size of the arena.
    bytes: u64,
    /// The position after the last value: it grows for ever, and its rest modulo the size is the offset.
    tail: u64,
    /// The values there, in the order of their positions.
    values: VecDeque<Value>,
}

/// A value in the arena.
#[derive(Debug, Clone, Copy)]
struct Value {
    position: u64,
    /// The index under which it was ordered, the largest if there are several; `None`: not known yet.
    index: Option<Index>,
}

impl BulkWriter {
    pub(super) fn new(words: PlaceSlice<AtomicU64>, layout: &SegmentLayout, node: NodeId) -> Self {
        let (at, bytes) = (layout.bulk(), layout.bulk_bytes());
        Self { words, at, node, bytes, tail: 0, values: VecDeque::new() }
    }

    /// The longest value that fits into the empty arena, in bytes.
    #[must_use]
    pub fn max_bytes(&self) -> usize {
        MAX_BULK_BYTES.min(usize::try_from(self.bytes).unwrap_or(usize::MAX))
    }

    /// Writes a value. Publish its place after that, in a request.
    ///
    /// # Errors
    /// [`BulkError::TooLarge`], or [`BulkError::Full`]: try again when `stable` has grown.
    pub fn write(&mut self, value: &[u8]) -> Result<BulkPlace, BulkError> {
        let offset = self.allocate(value.len())?;
        let mut sum = Checksum::new(value.len());
        let first = self.at + (offset / 8) as usize;
        let words = &self.words[first..][..(padded(value.len()) / 8) as usize];
        for (chunk, words) in value.chunks(16).zip(words.chunks_exact(2)) {
            let pair = to_pair(chunk);
            sum.add(pair[0], pair[1]);
            // ORDERING: Relaxed, the request that names the place releases it
            words[0].store(pair[0], Ordering::Relaxed);
            // ORDERING: Relaxed, the request that names the place releases it
            words[1].store(pair[1], Ordering::Relaxed);
        }
        Ok(BulkPlace { node: self.node, len: value.len() as u32, offset, crc: sum.finish() })
    }

    /// The value at this offset was ordered with this index: it is free when `stable` passes that.
    pub fn set_index(&mut self, offset: u64, index: Index) {
        if let Some(value) = self.find(offset) {
            value.index = value.index.max(Some(index));
        }
    }

    /// All members have applied the commands below `stable`: frees the oldest values as far as they are among them.
    pub fn free_below(&mut self, stable: Index) {
        let is_free = |value: &Value| value.index.is_some_and(|index| index < stable);
        while self.values.front().is_some_and(is_free) {
            self.values.pop_front();
        }
    }

    /// The index under which the oldest value was ordered: all have to apply that before there is more room. `None` if there is
    /// no value, or it was not ordered yet.
    #[must_use]
    pub fn oldest_index(&self) -> Option<Index> {
        self.values.front()?.index
    }

    /// The number of values that are not free yet.
    #[must_use]
    pub fn values(&self) -> usize {
        self.values.len()
    }

    /// The offset of the next value.
    fn allocate(&mut self, len: usize) -> Result<u64, BulkError> {
        if len > self.max_bytes() || self.bytes == 0 {
            return Err(BulkError::TooLarge { len, max: self.max_bytes() });
        }
        let taken = (len as u64).next_multiple_of(ALIGN).max(ALIGN);
        let into_lap = self.tail % self.bytes;
        // A value lies in one piece: if the rest of the lap is too short, it is left out.
        let position = if into_lap + taken > self.bytes { self.tail - into_lap + self.bytes } else { self.tail };
        let oldest = self.values.front().map_or(position, |value| value.position);
        if position + taken - oldest > self.bytes {
            return Err(BulkError::Full);
        }
        self.tail = position + taken;
        self.values.push_back(Value { position, index: None });
        Ok(position % self.bytes)
    }

    /// The value that begins at this offset.
    fn find(&mut self, offset: u64) -> Option<&mut Value> {
        let oldest = self.values.front()?.position;
        let into_lap = oldest % self.bytes;
        let lap = oldest - into_lap + if offset < into_lap { self.bytes } else { 0 };
        let at = self.values.binary_search_by_key(&(lap + offset), |value| value.position).ok()?;
        self.values.get_mut(at)
    }
}

impl SegmentReader {
    /// Appends a value of this node's arena to `to`. On an error `to` is as it was.
    ///
    /// # Errors
    /// [`BulkError::Outside`] if the place is not one of this arena, [`BulkError::Corrupt`] if the value is not there any more.
    pub fn bulk(&self, place: &BulkPlace, to: &mut Vec<u8>) -> Result<(), BulkError> {
        let len = place.len as usize;
        let is_inside = place.offset.checked_add(padded(len)).is_some_and(|end| end <= self.layout().bulk_bytes());
        if place.node != self.node() || !is_inside || place.offset % ALIGN != 0 || len > MAX_BULK_BYTES {
            return Err(BulkError::Outside);
        }
        let before = to.len();
        to.reserve(padded(len) as usize);
        let first = self.layout().bulk() + (place.offset / 8) as usize;
        let mut sum = Checksum::new(len);
        for at in (first..).step_by(2).take(len.div_ceil(16)) {
            let pair = self.words().read::<2>(at);
            sum.add(pair[0], pair[1]);
            to.extend_from_slice(&pair[0].to_le_bytes());
            to.extend_from_slice(&pair[1].to_le_bytes());
        }
        let is_whole = sum.finish() == place.crc;
        to.truncate(before + if is_whole { len } else { 0 });
        is_whole.then_some(()).ok_or(BulkError::Corrupt)
    }
}

/// The bytes that a value is read and written in: whole pairs of words.
fn padded(len: usize) -> u64 {
    (len as u64).next_multiple_of(16)
}

/// Up to 16 bytes as two words, with zeroes behind them.
fn to_pair(chunk: &[u8]) -> [u64; 2] {
    let both = match chunk.try_into() {
        Ok(whole) => u128::from_le_bytes(whole),
        Err(_) => {
            let mut bytes = [0; 16];
            bytes[..chunk.len()].copy_from_slice(chunk);
            u128::from_le_bytes(bytes)
        }
    };
    [both as u64, (both >> 64) as u64]
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::segment::SegmentWriter;
    use proptest::prelude::*;

    const NODE: NodeId = NodeId::new(0, 1);

    fn ends(bytes: u64) -> (BulkWriter, SegmentReader) {
        let mut segment = SegmentWriter::on_heap(SegmentLayout::with_requests(1, 1, 1, bytes), NODE);
        let reader = segment.reader();
        (segment.take_bulk().expect("once"), reader)
    }

    fn read(reader: &SegmentReader, place: &BulkPlace) -> Result<Vec<u8>, BulkError> {
        let mut value = vec![1, 2];
        let read = reader.bulk(place, &mut value);
        assert_eq!(value[..2], [1, 2], "it appends");
        assert!(read.is_ok() || value.len() == 2);
        read.map(|()| value[2..].to_vec())
    }

    proptest! {
        #[test]
        fn values_stay_until_they_are_free(lens in proptest::collection::vec(0..700_usize, 1..100), seed: u64) {
            let (mut arena, reader) = ends(2048);
            let mut random = fastrand::Rng::with_seed(seed);
            let mut kept: std::collections::VecDeque<(BulkPlace, Vec<u8>, Index)> = Default::default();
            for (index, len) in (0..).zip(lens) {
                let value: Vec<u8> = (0..len).map(|_| random.u8(..)).collect();
                if kept.len() == 4 {
                    let count = random.usize(1..=4);
                    arena.free_below(kept[count - 1].2 + 1);
                    kept.drain(..count);
                }
                match arena.write(&value) {
                    Ok(place) => {
                        arena.set_index(place.offset, index);
                        kept.push_back((place, value, index));
                    }
                    Err(error) => prop_assert_eq!((error, kept.is_empty()), (BulkError::Full, false)),
                }
                for (place, value, _) in &kept {
                    let found = read(&reader, place);
                    prop_assert_eq!(found.as_ref(), Ok(value));
                }
                prop_assert_eq!(arena.values(), kept.len());
            }
        }
    }

    #[test]
    fn space_returns_in_the_order_in_which_it_was_taken() {
        let (mut arena, reader) = ends(256);
        let [a, b] = [arena.write(&[1; 128]).expect("room"), arena.write(&[2; 128]).expect("room")];
        assert_eq!(arena.write(&[]), Err(BulkError::Full));
        arena.set_index(b.offset, 4);
        arena.free_below(100);
        assert_eq!(arena.write(&[]), Err(BulkError::Full), "the first one has no index yet");
        arena.set_index(a.offset, 9);
        arena.set_index(a.offset, 3);
        arena.free_below(9);
        assert_eq!(arena.values(), 2, "it was ordered twice, and the second time counts");
        arena.free_below(10);
        assert_eq!(arena.values(), 0);
        arena.write(&[3; 200]).expect("room");
        assert_eq!(read(&reader, &a), Err(BulkError::Corrupt), "it was overwritten");
    }

    #[test]
    fn a_value_that_never_fits_is_refused() {
        let (mut arena, _) = ends(128);
        assert_eq!(arena.write(&[0; 129]), Err(BulkError::TooLarge { len: 129, max: 128 }));
        let (mut none, reader) = ends(0);
        assert_eq!(none.write(&[]), Err(BulkError::TooLarge { len: 0, max: 0 }));
        let nowhere = BulkPlace { node: NODE, len: 1, offset: 0, crc: 0 };
        assert_eq!(read(&reader, &nowhere), Err(BulkError::Outside));
    }

    #[test]
    fn a_place_of_another_arena_or_outside_is_refused() {
        let (mut arena, reader) = ends(1024);
        let place = arena.write(&[7; 100]).expect("room");
        assert_eq!(read(&reader, &place), Ok(vec![7; 100]));
        let wrong = [
            BulkPlace { node: NodeId::new(0, 2), ..place },
            BulkPlace { offset: 1024, ..place },
            BulkPlace { offset: 960, ..place },
            BulkPlace { offset: 8, ..place },
            BulkPlace { offset: u64::MAX - 63, ..place },
            BulkPlace { len: u32::MAX, ..place },
        ];
        for place in wrong {
            assert_eq!(read(&reader, &place), Err(BulkError::Outside), "{place:?}");
        }
        for damaged in [BulkPlace { len: 99, ..place }, BulkPlace { crc: place.crc ^ 1, ..place }] {
            assert_eq!(read(&reader, &damaged), Err(BulkError::Corrupt));
        }
    }

    #[test]
    fn sixteen_mebibytes_fit() {
        let (mut arena, reader) = ends(20 << 20);
        let value: Vec<u8> = (0..16 << 20).map(|at: u32| at as u8 ^ (at >> 8) as u8).collect();
        let place = arena.write(&value).expect("room");
        assert_eq!(read(&reader, &place), Ok(value));
    }
}
