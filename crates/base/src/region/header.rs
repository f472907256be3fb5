//! The first page of a region: its version, its creator, and the offsets of its parts.
//!
//! | offset | fields, little-endian; written by the creator before READY |
//! |---|---|
//! | 0x00 | magic u64; abi major, minor u16; endian tag u32; pointer width u8, line width u8, padding to 0x18 |
//! | 0x18 | total_bytes u64; generation u64 (random, not 0); type_hash \[u8; 16\] |
//! | 0x38 | creator: uid u32, pid u32, start time u64, boot-id hash u64, pid-namespace inode u64 |
//! | 0x58 | participants_off, directory_off u64; participants, channels u32; 0x70 crc32c u32, 0 u32 |
//! | 0x80 | state u32: 0 and INIT are unfinished, READY, CLOSED (the last participant, gc), POISONED |
//! | 0x1000 | participants, 256 B each; then their parkers, 128 B each; then the directory, 128 B for each channel |
//! | then | the channels, aligned to 128 B |
//!
//! The checksum covers 0x00 to 0x70 and the directory.

use super::crc32c;
use super::directory::Declared;
use super::places::{PARTICIPANTS_AT, places};
use super::plan::RegionPlan;
use super::process;
use crate::LINE_BYTES;

pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"corecast");
pub(super) const ABI_MAJOR: u16 = 1;
pub(super) const ABI_MINOR: u16 = 0;
pub(super) const ENDIAN_TAG: u32 = 0x0102_0304;
pub(super) const POINTER_BYTES: u8 = size_of::<usize>() as u8;

/// The words from the magic to the checksum, which the last word holds.
pub(super) const HEADER_WORDS: usize = 15;
/// The offset of the state, in bytes; also the byte that is locked to exclude others.
pub(super) const STATE_AT: usize = 0x80;
/// The states of a region.
pub(super) const READY: u32 = 2;
pub(super) const CLOSED: u32 = 3;

/// The first words of a new region, and its directory.
pub(super) fn encode(plan: &RegionPlan, total_bytes: u64) -> ([u64; HEADER_WORDS], Vec<u64>) {
    let places = places(plan.participants, plan.channels.len() as u32);
    let mut directory = Vec::new();
    let mut offset = places.channels as u64;
    for channel in &plan.channels {
        directory.extend(channel.encode(offset));
        offset += channel.bytes;
    }
    let hash = type_hash(&plan.channels);
    let maker = process::Identity::of_this_process();
    let mut words = [
        MAGIC,
        pair16(ABI_MAJOR, ABI_MINOR) | u64::from(ENDIAN_TAG) << 32,
        u64::from(POINTER_BYTES) | (LINE_BYTES as u64) << 8,
        total_bytes,
        process::random_word(),
        hash[0],
        hash[1],
        u64::from(maker.uid) | u64::from(maker.pid) << 32,
        maker.start_time,
        maker.boot,
        maker.pid_namespace,
        PARTICIPANTS_AT as u64,
        places.directory as u64,
        u64::from(plan.participants) | (plan.channels.len() as u64) << 32,
        0,
    ];
    words[HEADER_WORDS - 1] = checksum(&words, &directory).into();
    (words, directory)
}

fn pair16(low: u16, high: u16) -> u64 {
    u64::from(low) | u64::from(high) << 16
}

/// The checksum of a header and its directory. It belongs into the header's last word.
pub(super) fn checksum(header: &[u64], directory: &[u64]) -> u32 {
    crc32c::of_words(header[..HEADER_WORDS - 1].iter().chain(directory).copied())
}

/// A hash by which two regions hold the same channels: names, kinds, configurations and sizes, in the same order.
pub(super) fn type_hash(channels: &[Declared]) -> [u64; 2] {
    let words: Vec<u64> = channels.iter().flat_map(|channel| channel.encode(0)).collect();
    // FNV-1a from its own and from another start: two independent words against mix-ups, not against attackers.
    [process::fnv(0xcbf2_9ce4_8422_2325, &words), process::fnv(0x9e37_79b9_7f4a_7c15, &words)]
}
