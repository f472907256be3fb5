//! The channels of a region, as its directory lists them.
//!
//! | offset | fields of one of 128 B |
//! |---|---|
//! | 0x00 | name \[u8; 64\], padded with zeroes |
//! | 0x40 | kind, generation u32; offset and bytes u32, both in units of 128 B |
//! | 0x50 | config \[u64; 6\] |

use super::places::{CHANNEL_ALIGN, ENTRY_BYTES};

pub(super) const ENTRY_WORDS: usize = ENTRY_BYTES / 8;
const NAME_WORDS: usize = 8;

/// A channel as its creator declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    pub(super) name: String,
    pub(super) kind: u32,
    pub(super) config: [u64; 6],
    pub(super) bytes: u64,
}

impl Declared {
    /// The words of its entry; `offset` and the bytes are multiples of 128 below 2^39.
    pub(super) fn encode(&self, offset: u64) -> [u64; ENTRY_WORDS] {
        let mut words = [0; ENTRY_WORDS];
        for (word, chunk) in words.iter_mut().zip(self.name.as_bytes().chunks(8)) {
            let mut bytes = [0; 8];
            bytes[..chunk.len()].copy_from_slice(chunk);
            *word = u64::from_le_bytes(bytes);
        }
        words[NAME_WORDS] = u64::from(self.kind) | u64::from(FIRST_GENERATION) << 32;
        words[NAME_WORDS + 1] = (offset / CHANNEL_ALIGN) | ((self.bytes / CHANNEL_ALIGN) << 32);
        words[NAME_WORDS + 2..].copy_from_slice(&self.config);
        words
    }
}

const FIRST_GENERATION: u32 = 1;

/// A channel of a region; a private copy of what its creator declared.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The kind of its contents, such as [`KIND_UMP`](super::KIND_UMP).
    pub kind: u32,
    /// The number of channels that have had this place, this one included; 1 for the first.
    pub generation: u32,
    /// The offset of its first byte from the start of the region; a multiple of 128.
    pub offset: u64,
    /// Its length in bytes; a multiple of 128.
    pub bytes: u64,
    /// The configuration by its creator; its meaning depends on the kind.
    pub config: [u64; 6],
}

impl Entry {
    /// The entry in these words; `None` if the name is not padded text.
    pub(super) fn decode(words: &[u64]) -> Option<Self> {
        let bytes: Vec<u8> = words[..NAME_WORDS].iter().flat_map(|word| word.to_le_bytes()).collect();
        let len = bytes.iter().position(|&byte| byte == 0)?;
        let is_padded = bytes[len..].iter().all(|&byte| byte == 0);
        let name = String::from_utf8(bytes[..len].to_vec()).ok().filter(|_| is_padded)?;
        let (kind, generation) = halves(words[NAME_WORDS]);
        let (offset, bytes) = halves(words[NAME_WORDS + 1]);
        let mut config = [0; 6];
        config.copy_from_slice(&words[NAME_WORDS + 2..ENTRY_WORDS]);
        let unit = CHANNEL_ALIGN;
        Some(Self { name, kind, generation, offset: u64::from(offset) * unit, bytes: u64::from(bytes) * unit, config })
    }

    pub(super) fn declared(&self) -> Declared {
        Declared { name: self.name.clone(), kind: self.kind, config: self.config, bytes: self.bytes }
    }
}

/// The low and the high half of a word.
pub(super) fn halves(word: u64) -> (u32, u32) {
    (word as u32, (word >> 32) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declared_channel_is_read_back() {
        let declared = Declared { name: "x".repeat(63), kind: 7, config: [1, 2, 3, 4, 5, u64::MAX], bytes: 3 << 37 };
        let entry = Entry::decode(&declared.encode(128)).expect("an entry");
        assert_eq!((entry.offset, entry.generation, entry.declared()), (128, 1, declared));
    }

    #[test]
    fn a_name_ends_at_its_first_zero_and_is_text() {
        let mut words = Declared { name: "ab".into(), kind: 0, config: [0; 6], bytes: 0 }.encode(0);
        words[1] = 1;
        assert_eq!(Entry::decode(&words), None, "something behind the end");
        words[..8].fill(u64::from_le_bytes(*b"abcdefgh"));
        assert_eq!(Entry::decode(&words), None, "no end");
        words[0] = 0xff;
        assert_eq!(Entry::decode(&words), None, "no text");
    }
}
