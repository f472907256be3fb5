//! The hash of all commands applied so far: 128 bits that differ wherever two logs differ.

use std::hash::{Hash, Hasher};

/// Two lanes of multiply and rotate with different constants. Not against malice: it finds replicas that differ by a fault.
#[derive(Debug)]
struct Lanes {
    low: u64,
    high: u64,
}

impl Lanes {
    fn mix(&mut self, word: u64) {
        self.low = (self.low ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        self.high = (self.high.rotate_left(23) ^ word).wrapping_mul(0xC2B2_AE3D_27D4_EB4F).wrapping_add(self.low);
    }
}

impl Hasher for Lanes {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks_of_eight();
        words.for_each(|word| self.mix(word));
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(u64::from_le_bytes(last) ^ (bytes.len() as u64).rotate_left(48));
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    fn write_u16(&mut self, value: u16) {
        self.mix(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }

    fn finish(&self) -> u64 {
        self.low ^ self.high
    }
}

/// Bytes as words of eight and a rest.
trait AsWords {
    fn as_chunks_of_eight(&self) -> (impl Iterator<Item = u64> + '_, &[u8]);
}

impl AsWords for [u8] {
    fn as_chunks_of_eight(&self) -> (impl Iterator<Item = u64> + '_, &[u8]) {
        let chunks = self.chunks_exact(8);
        let rest = chunks.remainder();
        (chunks.map(|chunk| u64::from_le_bytes(chunk.try_into().expect("chunks of eight bytes"))), rest)
    }
}

/// The hash of a prefix, given that of the prefix without its last command.
pub(super) fn extended(prefix: u128, command: &impl Hash) -> u128 {
    let mut lanes = Lanes { low: prefix as u64, high: (prefix >> 64) as u64 };
    command.hash(&mut lanes);
    lanes.mix(0x5851_F42D_4C95_7F2D);
    u128::from(lanes.high) << 64 | u128::from(lanes.low)
}

#[cfg(test)]
mod tests {
    use super::extended;

    #[test]
    fn order_and_every_bit_count() {
        let of = |commands: &[u64]| commands.iter().fold(0, extended);
        assert_ne!(of(&[1, 2]), of(&[2, 1]));
        assert_ne!(of(&[0]), of(&[0, 0]));
        for bit in 0..64 {
            assert_ne!(of(&[1 << bit, 5]), of(&[0, 5]), "bit {bit}");
        }
        let bytes = |text: &[u8]| extended(7, &text);
        assert_ne!(bytes(b"12345678"), bytes(b"12345678\0"));
        assert_ne!(bytes(b"abc"), bytes(b"abd"));
    }
}
