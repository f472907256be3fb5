//! A [`Store`](super::Store) as a stream of bytes.
//!
//! ```text
//! "corecast-kv\0" | version: u32 | entries: u64 | checksum of these: u64
//! for each entry    key length: u16 | value length: u32 | key | value
//! digest: u128
//! ```
//!
//! Numbers are little-endian. The reader checks every count and length against its limit, sets at most 16 MiB aside,
//! untouched, for bytes that have not come, takes each key once only, and compares the digest, so damaged bytes give an error and no state.

use std::io::{self, Read, Write};

use super::fingerprint;
use super::key::{Key, MAX_KEY_BYTES};
use super::pool::{LONG_BYTES, Pool};
use super::value::{MAX_VALUE_BYTES, Value};

const MAGIC: [u8; 12] = *b"corecast-kv\0";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 24;

/// The error for bytes that are no state.
pub(super) fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the snapshot of a store is damaged: {why}"))
}

/// Writes these entries.
pub(super) fn write<'a>(
    entries: impl ExactSizeIterator<Item = (&'a Key, &'a Value)>,
    digest: u128,
    to: &mut dyn Write,
) -> io::Result<()> {
    let head = head(entries.len() as u64);
    to.write_all(&head)?;
    to.write_all(&fingerprint::of_head(&head).to_le_bytes())?;
    let mut lengths_and_key = Vec::with_capacity(6 + MAX_KEY_BYTES);
    for (key, value) in entries {
        lengths_and_key.clear();
        lengths_and_key.extend_from_slice(&(key.as_bytes().len() as u16).to_le_bytes());
        lengths_and_key.extend_from_slice(&(value.len() as u32).to_le_bytes());
        lengths_and_key.extend_from_slice(key.as_bytes());
        to.write_all(&lengths_and_key)?;
        to.write_all(value)?;
    }
    to.write_all(&digest.to_le_bytes())
}

/// Reads entries and hands each to `take`, which says whether its key is new; returns the digest that was written.
pub(super) fn read(from: &mut dyn Read, mut take: impl FnMut(Key, Value) -> bool) -> io::Result<u128> {
    let mut take = |(key, value)| if take(key, value) { Ok(()) } else { Err(damaged("a key comes twice")) };
    let (entries, mut buffer, mut pool) = (read_head(from)?, Vec::new(), Pool::default());
    for _ in 0..entries {
        let (key, value_bytes) = read_key(from, &mut buffer)?;
        if value_bytes < LONG_BYTES {
            read_exactly(from, value_bytes, &mut buffer)?;
            take((key, Value::new(&buffer).map_err(|_| damaged("a value is too long"))?))?;
            continue;
        }
        if pool.is_full_for(value_bytes) {
            pool.renew(value_bytes).try_for_each(&mut take)?;
        }
        pool.read(key, value_bytes, from).map_err(ends_early)?;
    }
    pool.finish().try_for_each(take)?;
    Ok(u128::from_le_bytes(array(from)?))
}

fn head(entries: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..12].copy_from_slice(&MAGIC);
    head[12..16].copy_from_slice(&VERSION.to_le_bytes());
    head[16..].copy_from_slice(&entries.to_le_bytes());
    head
}

/// The number of entries.
fn read_head(from: &mut dyn Read) -> io::Result<u64> {
    let read: [u8; HEAD_BYTES] = array(from)?;
    let checksum = u64::from_le_bytes(array(from)?);
    let entries = u64::from_le_bytes(*read.last_chunk().expect("24 bytes end with 8"));
    if read[..12] != MAGIC {
        return Err(damaged("it is none"));
    }
    if read != head(entries) {
        return Err(damaged("another version wrote it"));
    }
    if checksum != fingerprint::of_head(&read) { Err(damaged("its head is not the one written")) } else { Ok(entries) }
}

/// A key, and the length of the value behind it.
fn read_key(from: &mut dyn Read, buffer: &mut Vec<u8>) -> io::Result<(Key, usize)> {
    let key_bytes = usize::from(u16::from_le_bytes(array(from)?));
    let value_bytes = u32::from_le_bytes(array(from)?) as usize;
    if key_bytes > MAX_KEY_BYTES || value_bytes > MAX_VALUE_BYTES {
        return Err(damaged("a key or a value is longer than any may be"));
    }
    read_exactly(from, key_bytes, buffer)?;
    let key = Key::new(buffer).map_err(|_| damaged("a key is empty"))?;
    Ok((key, value_bytes))
}

/// Reads this many bytes; memory grows with those that come.
fn read_exactly(from: &mut dyn Read, len: usize, buffer: &mut Vec<u8>) -> io::Result<()> {
    buffer.clear();
    let read = Read::take(&mut *from, len as u64).read_to_end(buffer)?;
    if read == len { Ok(()) } else { Err(damaged("it ends early")) }
}

/// Bytes of a fixed number.
pub(super) fn array<const N: usize>(from: &mut dyn Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    from.read_exact(&mut bytes).map_err(ends_early)?;
    Ok(bytes)
}

fn ends_early(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { damaged("it ends early") } else { error }
}
