//! A file of a write-ahead log that was damaged: whatever is found is the beginning of what was written.
//!
//! The first byte says how many records there are, and which of them were synced before the next one. The rest is a list of
//! changes to the file: an offset of two bytes and a byte to put there. A change at the end cuts the file.

#![no_main]

use corecast_replica::wal::format::{HEADER_BYTES, Header};
use libfuzzer_sys::fuzz_target;

const HEADER: Header = Header { group: 3, first: 1000, salt: 0x0123_4567_89ab_cdef };

fuzz_target!(|input: &[u8]| {
    let _ = Header::decode(input);
    let contents = HEADER.scan(&[&HEADER.encode(), input].concat());
    assert!(contents.end >= HEADER_BYTES && contents.end <= HEADER_BYTES + input.len());

    let Some((shape, changes)) = input.split_first() else { return };
    let good = file(*shape);
    let expected = bodies(&good);
    let mut bytes = good.clone();
    for change in changes.chunks_exact(3) {
        let at = HEADER_BYTES + usize::from(u16::from_le_bytes([change[0], change[1]])) % good.len();
        match bytes.get_mut(at) {
            Some(byte) => *byte = change[2],
            None => bytes.truncate(HEADER_BYTES.max(bytes.len().saturating_sub(change[2].into()))),
        }
    }
    let found = bodies(&bytes);
    assert_eq!(found, expected[..found.len()]);
    let contents = HEADER.scan(&bytes);
    assert!(!contents.is_damaged || contents.end < bytes.len());
});

fn file(shape: u8) -> Vec<u8> {
    let mut bytes = HEADER.encode().to_vec();
    let mut synced = HEADER.first;
    for at in 0..u64::from(shape % 7) {
        let body = vec![shape; usize::from(shape) * at as usize % 90];
        HEADER.encode_record(HEADER.first + at, synced, &body, &mut bytes);
        if shape >> at & 1 == 1 {
            synced = HEADER.first + at + 1;
        }
    }
    bytes
}

fn bodies(bytes: &[u8]) -> Vec<&[u8]> {
    HEADER.scan(bytes).bodies.iter().map(|&(at, len)| &bytes[at..at + len]).collect()
}
