//! The comparison by words of eight bytes, for any processor.

use super::BYTES;

/// Bit i is set if byte i is equal, of the first 32.
#[inline]
pub(in super::super) fn in_first_32(bytes: &[u8; BYTES], byte: u8) -> u64 {
    in_words(&bytes[..32], byte)
}

/// Bit i is set if byte i is equal.
#[inline]
pub(in super::super) fn in_all(bytes: &[u8; BYTES], byte: u8) -> u64 {
    in_words(bytes, byte)
}

#[inline]
fn in_words(bytes: &[u8], byte: u8) -> u64 {
    let words = bytes.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().expect("of eight bytes")));
    words.enumerate().fold(0, |all, (at, word)| all | gathered(equal_in(word, byte)) << (8 * at))
}

/// The highest bit of each byte that is equal.
#[inline]
fn equal_in(word: u64, byte: u8) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    const LOW_BITS: u64 = 0x7f * EACH;
    let difference = word ^ (u64::from(byte) * EACH);
    // No byte's sum reaches the next one; bit 7 of it is set unless its seven low bits are 0.
    !(((difference & LOW_BITS) + LOW_BITS) | difference | LOW_BITS)
}

/// The highest bit of byte i as bit i: the product has it as bit 56 + i, and no two of its sums meet.
#[inline]
fn gathered(high_bits: u64) -> u64 {
    (high_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}
