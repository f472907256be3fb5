//! The comparison by SSE2, which every x86-64 processor has: 16 bytes at once.
#![allow(unused_unsafe, reason = "the processor's functions are safe from Rust 1.87 on")]

use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};

use super::BYTES;

/// Bit i is set if byte i is equal, of the first 32.
#[inline]
pub(in super::super) fn in_first_32(bytes: &[u8; BYTES], byte: u8) -> u64 {
    in_16(bytes, 0, byte) | in_16(bytes, 16, byte)
}

/// Bit i is set if byte i is equal.
#[inline]
pub(in super::super) fn in_all(bytes: &[u8; BYTES], byte: u8) -> u64 {
    // The last 16 overlap the ones before, whose bits are the same.
    in_first_32(bytes, byte) | in_16(bytes, 32, byte) | in_16(bytes, BYTES - 16, byte)
}

/// The bits of 16 bytes, in their place.
#[inline]
fn in_16(bytes: &[u8; BYTES], first: usize, byte: u8) -> u64 {
    let bytes: &[u8; 16] = bytes[first..].first_chunk().expect("16 bytes begin there");
    // SAFETY: every x86-64 processor has the instruction.
    let wanted = unsafe { _mm_set1_epi8(byte as i8) };
    // SAFETY: as above; the reference is to 16 bytes, which need not be aligned.
    let found = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    // SAFETY: every x86-64 processor has the instruction.
    let equal = unsafe { _mm_cmpeq_epi8(found, wanted) };
    // SAFETY: every x86-64 processor has the instruction.
    let bits = unsafe { _mm_movemask_epi8(equal) };
    u64::from(bits as u16) << first
}
