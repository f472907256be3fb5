//! Memory for the long values of a state that is restored: a few large pieces with huge pages.
//!
//! With memory for each value, every 4 KiB of a restored state were a page fault, and its bytes were copied once more: 64 MiB took
//! 50 to 75 ms. A value keeps the piece that it lies in, so a piece is given back when all its values are gone; a store
//! whose values are replaced one by one has at most the size of the restored state beside its own for that time.

use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use corecast_base::prefer_huge_pages;

use super::key::Key;
use super::value::Value;

/// The shortest value that lies in a piece.
pub(super) const LONG_BYTES: usize = 16 << 10;
/// The first piece, and the largest. Each is twice as large as the one before.
const FIRST_BYTES: usize = 1 << 20;
const MOST_BYTES: usize = 16 << 20;

/// Entries whose values are read into one piece.
#[derive(Default)]
pub(super) struct Pool {
    bytes: Vec<u8>,
    used: usize,
    entries: Vec<(Key, Range<usize>)>,
}

impl Pool {
    /// True if a value of this length has no room in the piece.
    pub(super) fn is_full_for(&self, len: usize) -> bool {
        len > self.bytes.len() - self.used
    }

    /// The entries of the piece; the next one begins, and has room for `len` bytes.
    pub(super) fn renew(&mut self, len: usize) -> impl Iterator<Item = (Key, Value)> + use<> {
        let next = (self.bytes.len() * 2).clamp(FIRST_BYTES, MOST_BYTES).max(len);
        let (piece, entries) = (Arc::new(self.take_bytes(next)), std::mem::take(&mut self.entries));
        entries.into_iter().map(move |(key, at)| (key, Value::part(&piece, at)))
    }

    fn take_bytes(&mut self, next: usize) -> Box<[u8]> {
        let mut bytes = vec![0; next];
        prefer_huge_pages(&mut bytes);
        self.used = 0;
        std::mem::replace(&mut self.bytes, bytes).into_boxed_slice()
    }

    /// Reads a value for which there is room.
    ///
    /// # Errors
    /// Those of the reader.
    pub(super) fn read(&mut self, key: Key, len: usize, from: &mut dyn Read) -> io::Result<()> {
        let at = self.used..self.used + len;
        from.read_exact(&mut self.bytes[at.clone()])?;
        self.used = at.end;
        self.entries.push((key, at));
        Ok(())
    }

    /// The entries that are left.
    pub(super) fn finish(self) -> impl Iterator<Item = (Key, Value)> {
        let piece = Arc::new(self.bytes.into_boxed_slice());
        self.entries.into_iter().map(move |(key, at)| (key, Value::part(&piece, at)))
    }
}
