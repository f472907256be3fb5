//! The hasher of maps by session and number of a request.

use std::hash::{BuildHasherDefault, Hasher};

/// Of a `HashMap` or `HashSet` by such keys.
pub(crate) type Keys = BuildHasherDefault<KeyHasher>;

/// Keys are made by the group's own nodes: one multiplication a word is enough.
#[derive(Debug, Default)]
pub(crate) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(25) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }
}
