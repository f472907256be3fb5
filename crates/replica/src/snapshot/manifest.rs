//! The header of a snapshot file: which state it is, and how to tell that it is whole.
//!
//! ```text
//! magic 8 | version u32 | crc u32 | group u64 | index u64 | digest u128 | content length u64 | content crc u32 | 0 u32
//! ```
//!
//! 64 bytes, numbers little-endian. The crc covers the other 60 bytes, and does so in every version.

use super::fields::{FieldWriter, field};
use crate::Index;
use crate::crc32c::Crc32c;

/// The version of the format.
pub(super) const VERSION: u32 = 1;

/// The length of a manifest.
pub const MANIFEST_BYTES: usize = 64;

const MAGIC: [u8; 8] = *b"ccastsnp";

/// The header of a snapshot file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manifest {
    /// The group whose state it is.
    pub group: u64,
    /// The count of commands that the state is the effect of.
    pub index: Index,
    /// The digest of the state.
    pub digest: u128,
    /// The length of the content in bytes.
    pub len_bytes: u64,
    /// The CRC-32C of the content.
    pub crc: u32,
}

/// The reason for which bytes are no manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ManifestFault {
    /// They do not hold together.
    Damaged,
    /// They are of another version.
    Version(u32),
}

impl Manifest {
    /// The bytes of the manifest.
    #[must_use]
    pub fn encode(&self) -> [u8; MANIFEST_BYTES] {
        let fields = |crc: u32| {
            let head = FieldWriter::new().put(MAGIC).put(VERSION.to_le_bytes()).put(crc.to_le_bytes());
            let body = head.put(self.group.to_le_bytes()).put(self.index.to_le_bytes()).put(self.digest.to_le_bytes());
            body.put(self.len_bytes.to_le_bytes()).put(self.crc.to_le_bytes()).put([0; 4]).end()
        };
        fields(checksum(&fields(0)))
    }

    /// The manifest of these bytes; `None` if they are damaged or of another version.
    #[must_use]
    pub fn decode(bytes: &[u8; MANIFEST_BYTES]) -> Option<Self> {
        Self::read(bytes).ok()
    }

    pub(super) fn read(bytes: &[u8; MANIFEST_BYTES]) -> Result<Self, ManifestFault> {
        if field(bytes, 0) != MAGIC || u32::from_le_bytes(field(bytes, 12)) != checksum(bytes) {
            return Err(ManifestFault::Damaged);
        }
        let version = u32::from_le_bytes(field(bytes, 8));
        if version != VERSION {
            return Err(ManifestFault::Version(version));
        }
        if field(bytes, 60) != [0; 4] {
            return Err(ManifestFault::Damaged);
        }
        Ok(Self {
            group: u64::from_le_bytes(field(bytes, 16)),
            index: u64::from_le_bytes(field(bytes, 24)),
            digest: u128::from_le_bytes(field(bytes, 32)),
            len_bytes: u64::from_le_bytes(field(bytes, 48)),
            crc: u32::from_le_bytes(field(bytes, 56)),
        })
    }
}

/// The CRC-32C of all bytes but those that hold it.
fn checksum(bytes: &[u8; MANIFEST_BYTES]) -> u32 {
    Crc32c::new().and(&bytes[..12]).and(&bytes[16..]).value()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: Manifest = Manifest { group: 3, index: 1 << 40, digest: u128::MAX / 7, len_bytes: 99, crc: 0xabcd };

    #[test]
    fn bytes_and_back() {
        assert_eq!(Manifest::decode(&MANIFEST.encode()), Some(MANIFEST));
    }

    #[test]
    fn every_flipped_bit_is_seen() {
        for bit in 0..MANIFEST_BYTES * 8 {
            let mut bytes = MANIFEST.encode();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Manifest::read(&bytes), Err(ManifestFault::Damaged), "bit {bit}");
        }
    }

    #[test]
    fn another_version_is_told_from_damage() {
        let mut bytes = MANIFEST.encode();
        bytes[8..12].copy_from_slice(&0_u32.to_le_bytes());
        let crc = checksum(&bytes);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(Manifest::read(&bytes), Err(ManifestFault::Version(0)));
    }
}
