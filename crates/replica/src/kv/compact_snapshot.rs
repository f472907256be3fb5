//! A [`Compact`](super::Compact) as a stream of bytes.
//!
//! ```text
//! "corecast-kc\0" | version: u32 | capacity: u64 | entries: u64 | checksum of these: u64
//! for each entry    key: 8 bytes | value: 16 bytes
//! digest: u128
//! ```
//!
//! Numbers are little-endian. The checksum is compared before memory is set aside for the capacity.

use std::io::{self, Read, Write};

use super::compact::MAX_CAPACITY;
use super::fingerprint;
use super::snapshot::array;

const MAGIC: [u8; 12] = *b"corecast-kc\0";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 32;

/// The error for bytes that are no state.
pub(super) fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the snapshot of a compact store is damaged: {why}"))
}

fn head(capacity: u64, entries: u64) -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..12].copy_from_slice(&MAGIC);
    head[12..16].copy_from_slice(&VERSION.to_le_bytes());
    head[16..24].copy_from_slice(&capacity.to_le_bytes());
    head[24..].copy_from_slice(&entries.to_le_bytes());
    head
}

/// Writes a table of this capacity and number of entries.
pub(super) fn write(
    (capacity, len): (usize, usize),
    entries: impl Iterator<Item = ([u8; 8], [u8; 16])>,
    digest: u128,
    to: &mut dyn Write,
) -> io::Result<()> {
    let head = head(capacity as u64, len as u64);
    to.write_all(&head)?;
    to.write_all(&fingerprint::of_head(&head).to_le_bytes())?;
    for (key, value) in entries {
        let mut entry = [0; 24];
        entry[..8].copy_from_slice(&key);
        entry[8..].copy_from_slice(&value);
        to.write_all(&entry)?;
    }
    to.write_all(&digest.to_le_bytes())
}

/// The capacity and the number of entries.
pub(super) fn read_head(from: &mut dyn Read) -> io::Result<(usize, usize)> {
    let read: [u8; HEAD_BYTES] = array(from)?;
    let checksum = u64::from_le_bytes(array(from)?);
    let number = |at: usize| u64::from_le_bytes(read[at..at + 8].try_into().expect("8 bytes"));
    let (capacity, entries) = (number(16), number(24));
    if read != head(capacity, entries) || checksum != fingerprint::of_head(&read) {
        return Err(damaged("its head is not one that this version writes"));
    }
    if capacity == 0 || capacity > MAX_CAPACITY as u64 || entries > capacity {
        return Err(damaged("its capacity or its number of entries is beyond the limits"));
    }
    Ok((capacity as usize, entries as usize))
}

pub(super) fn read_entry(from: &mut dyn Read) -> io::Result<([u8; 8], [u8; 16])> {
    Ok((array(from)?, array(from)?))
}

pub(super) fn read_digest(from: &mut dyn Read) -> io::Result<u128> {
    array(from).map(u128::from_le_bytes)
}
