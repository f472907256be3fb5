//! The headers of snapshots, in files and in memory: an error, or one that is written as it was read.

#![no_main]

use corecast_replica::snapshot::{DESCRIPTOR_BYTES, Descriptor, MANIFEST_BYTES, Manifest};
use libfuzzer_sys::fuzz_target;

/// Where each has its checksum, and so where a fuzzer would get stuck.
const MANIFEST_CRC_AT: usize = 12;
const DESCRIPTOR_CRC_AT: usize = 60;

fuzz_target!(|bytes: &[u8]| {
    if let Some(bytes) = bytes.first_chunk::<MANIFEST_BYTES>() {
        for bytes in [*bytes, with_checksum(*bytes, MANIFEST_CRC_AT)] {
            if let Some(manifest) = Manifest::decode(&bytes) {
                assert_eq!(manifest.encode(), bytes);
            }
        }
    }
    if let Some(bytes) = bytes.first_chunk::<DESCRIPTOR_BYTES>() {
        for bytes in [*bytes, with_checksum(*bytes, DESCRIPTOR_CRC_AT)] {
            if let Some(descriptor) = Descriptor::decode(&bytes) {
                assert_eq!(descriptor.encode(), bytes);
            }
        }
    }
});

fn with_checksum(mut bytes: [u8; 64], at: usize) -> [u8; 64] {
    let sum = crc32c(&[&bytes[..at], &bytes[at + 4..]].concat());
    bytes[at..at + 4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

fn crc32c(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |crc: u32, &byte| {
        (0..8).fold(crc ^ u32::from(byte), |crc, _| (crc >> 1) ^ (0x82f6_3b78 & (crc & 1).wrapping_neg()))
    })
}
