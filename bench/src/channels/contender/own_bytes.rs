//! How messages in corecast's channels are written and read: in place if the memory gives slices, otherwise through a copy.

use corecast::channel::{Bytes, BytesMut};

use super::super::ends::Reader;

/// Writes a message.
#[inline(always)]
pub(super) fn write_into(bytes: &mut BytesMut<'_>, elsewhere: &mut Vec<u8>, write: impl FnOnce(&mut [u8])) {
    match bytes.as_mut_slice() {
        Some(slice) => write(slice),
        None => {
            elsewhere.resize(bytes.len(), 0);
            write(elsewhere);
            bytes.copy_from(elsewhere);
        }
    }
}

/// Reads a message, from a copy if that is wanted.
#[inline(always)]
pub(super) fn read<R: Reader>(bytes: &Bytes<'_>, copies: bool, elsewhere: &mut Vec<u8>, reader: &mut R) {
    match bytes.as_slice().filter(|_| !copies) {
        Some(slice) => reader.read(slice),
        None => {
            elsewhere.resize(bytes.len(), 0);
            bytes.copy_to(elsewhere);
            reader.read(elsewhere);
        }
    }
}
