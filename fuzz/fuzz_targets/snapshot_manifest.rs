//! The headers of snapshots in files: an error, or one that is written as it was read.

#![no_main]

use corecast_replica::snapshot::{MANIFEST_BYTES, Manifest};
use libfuzzer_sys::fuzz_target;

/// Where it has its checksum, and so where a fuzzer would get stuck.
const CRC_AT: usize = 12;

fuzz_target!(|bytes: &[u8]| {
    if let Some(bytes) = bytes.first_chunk::<MANIFEST_BYTES>() {
        for bytes in [*bytes, with_checksum(*bytes)] {
            if let Some(manifest) = Manifest::decode(&bytes) {
                assert_eq!(manifest.encode(), bytes);
            }
        }
    }
});

fn with_checksum(mut bytes: [u8; MANIFEST_BYTES]) -> [u8; MANIFEST_BYTES] {
    let sum = crc32c(&[&bytes[..CRC_AT], &bytes[CRC_AT + 4..]].concat());
    bytes[CRC_AT..CRC_AT + 4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}
