//! 128-bit fingerprints of entries, whose sum is the digest of a store.
//!
//! A sum does not depend on the order in which entries came, and a change moves it by the fingerprints of one entry. The
//! fingerprint is the same in every process and on every machine. It tells states apart that differ by accident: against
//! somebody who chooses entries to collide it is no protection.

/// Odd constants: the first digits of pi.
const PI: [u64; 4] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89];

/// The halves of a product as one: the mixing step of wyhash and foldhash.
#[inline]
pub(super) fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// Two words with all of a chunk of at most 16 bytes: its beginning and its end, which overlap in a short one. Chunks of one
/// length differ if and only if their words do. A copy into an array of zeros, which this was at first, calls `memcpy`.
#[inline]
pub(super) fn words(chunk: &[u8]) -> [u64; 2] {
    if let (Some(first), Some(last)) = (chunk.first_chunk(), chunk.last_chunk()) {
        return [u64::from_le_bytes(*first), u64::from_le_bytes(*last)];
    }
    if let (Some(first), Some(last)) = (chunk.first_chunk(), chunk.last_chunk()) {
        return [u32::from_le_bytes(*first).into(), u32::from_le_bytes(*last).into()];
    }
    match *chunk {
        [] => [0, 0],
        [one] => [one.into(), 0],
        [one, two] => [one.into(), two.into()],
        [one, two, three, ..] => [u64::from(one) | u64::from(two) << 8, three.into()],
    }
}

/// Two independent halves. Each keeps what it had through a step, so that no input can erase what came before.
#[derive(Clone, Copy)]
struct State(u64, u64);

impl State {
    fn step(self, [x, y]: [u64; 2]) -> Self {
        let Self(a, b) = self;
        Self(
            a.rotate_left(23).wrapping_add(folded(a ^ x ^ PI[0], y ^ PI[1])),
            b.rotate_left(41).wrapping_add(folded(b ^ y ^ PI[2], x ^ PI[3])),
        )
    }

    /// Bytes, and how many they were.
    fn bytes(self, bytes: &[u8]) -> Self {
        let chunks = bytes.chunks_exact(16);
        let rest = words(chunks.remainder());
        let all = chunks.fold(self, |state, chunk| state.step(words(chunk)));
        all.step(rest).step([bytes.len() as u64, PI[0]])
    }

    fn end(self) -> u128 {
        let Self(a, b) = self.step([PI[2], PI[3]]);
        u128::from(a) << 64 | u128::from(b)
    }
}

/// The fingerprint of a key with this value.
pub(super) fn of_entry(key: &[u8], value: &[u8]) -> u128 {
    State(PI[1], PI[3]).bytes(key).bytes(value).end()
}

/// A checksum of the head of a snapshot.
pub(super) fn of_head(head: &[u8]) -> u64 {
    State(PI[0], PI[2]).bytes(head).end() as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn entries_that_differ_in_one_bit_or_in_the_border_differ() {
        let base = of_entry(b"key", &[0; 40]);
        let mut seen = HashSet::from([base, of_entry(b"ke", b"y"), of_entry(b"key", b""), of_entry(b"", b"key")]);
        for bit in 0..320 {
            let mut value = [0u8; 40];
            value[bit / 8] ^= 1 << (bit % 8);
            assert!(seen.insert(of_entry(b"key", &value)), "bit {bit}");
        }
        for len in 0..40 {
            assert!(seen.insert(of_entry(b"key", &vec![0; len])) || len == 0, "{len} zeros");
        }
        assert_eq!(seen.len(), 4 + 320 + 39);
    }

    #[test]
    fn the_fingerprint_is_fixed() {
        // A snapshot that was written by one version is checked by another.
        assert_eq!(of_entry(b"key", b"value"), 152_315_821_751_999_875_429_692_269_871_842_611_180);
    }
}
