//! The answer to a request for a checkpoint: 64 bytes, whatever the size of the state.
//!
//! Each replica writes its state into memory of its own, and answers where it lies. One of them is asked for the content; the
//! digests of all of them tell whether they were in the same state (see [`compare()`](super::compare())).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::fields::{FieldWriter, field};
use crate::crc32c::Crc32c;
use crate::{Index, NodeId};

/// The length of a descriptor.
pub const DESCRIPTOR_BYTES: usize = 64;

/// Where a checkpoint of a replica lies, and how to check it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Descriptor {
    /// The number of the checkpoint, which rises by one each time.
    pub cn: u32,
    /// The replica.
    pub node: NodeId,
    /// The count of commands that the state is the effect of.
    pub index: Index,
    /// Where the content begins in the replica's memory, in bytes.
    pub offset: u64,
    /// The length of the content in bytes.
    pub len_bytes: u64,
    /// The CRC-32C of the content.
    pub crc: u32,
    /// The digest of the state.
    pub digest: u128,
}

impl Descriptor {
    /// The bytes of the descriptor.
    #[must_use]
    pub fn encode(&self) -> [u8; DESCRIPTOR_BYTES] {
        let fields = |sum: u32| {
            let head = FieldWriter::new().put(self.cn.to_le_bytes()).put(self.node.to_bits().to_le_bytes());
            let place = head.put(self.index.to_le_bytes()).put(self.offset.to_le_bytes());
            let content = place.put(self.len_bytes.to_le_bytes()).put(self.digest.to_le_bytes());
            content.put(self.crc.to_le_bytes()).put([0; 8]).put(sum.to_le_bytes()).end()
        };
        fields(checksum(&fields(0)))
    }

    /// The descriptor of these bytes; `None` if they are damaged.
    #[must_use]
    pub fn decode(bytes: &[u8; DESCRIPTOR_BYTES]) -> Option<Self> {
        let is_whole = u32::from_le_bytes(field(bytes, 60)) == checksum(bytes) && field(bytes, 52) == [0; 8];
        let node = NodeId::from_bits(u32::from_le_bytes(field(bytes, 4)))?;
        is_whole.then(|| Self {
            cn: u32::from_le_bytes(field(bytes, 0)),
            node,
            index: u64::from_le_bytes(field(bytes, 8)),
            offset: u64::from_le_bytes(field(bytes, 16)),
            len_bytes: u64::from_le_bytes(field(bytes, 24)),
            digest: u128::from_le_bytes(field(bytes, 32)),
            crc: u32::from_le_bytes(field(bytes, 48)),
        })
    }

    /// Whether these bytes are the content.
    #[must_use]
    pub fn is_of(&self, content: &[u8]) -> bool {
        content.len() as u64 == self.len_bytes && Crc32c::new().and(content).value() == self.crc
    }

    /// Copies the content out of the replica's memory, which the replica may overwrite meanwhile, and checks it.
    ///
    /// # Errors
    /// Those of reading; [`io::ErrorKind::FileTooLarge`] for a length above `limit_bytes` and
    /// [`io::ErrorKind::UnexpectedEof`] for a place beyond the end of the file, for neither of which anything is allocated, and
    /// [`io::ErrorKind::InvalidData`] for bytes that are not the content.
    pub fn read_from(&self, file: &File, limit_bytes: usize) -> io::Result<Vec<u8>> {
        let len = usize::try_from(self.len_bytes).ok().filter(|len| *len <= limit_bytes);
        let len = len.ok_or_else(|| {
            let text = format!("a checkpoint of {} bytes is above the limit of {limit_bytes}", self.len_bytes);
            io::Error::new(io::ErrorKind::FileTooLarge, text)
        })?;
        let end = self.offset.checked_add(self.len_bytes);
        if end.is_none_or(|end| end > file.metadata().map_or(0, |metadata| metadata.len())) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the checkpoint lies beyond the end of the file"));
        }
        let mut content = vec![0; len];
        file.read_exact_at(&mut content, self.offset)?;
        if self.is_of(&content) {
            Ok(content)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, "the checkpoint is damaged or was overwritten"))
        }
    }
}

/// The CRC-32C of all bytes but those that hold it.
fn checksum(bytes: &[u8; DESCRIPTOR_BYTES]) -> u32 {
    Crc32c::new().and(&bytes[..60]).value()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::snapshot::Checksummed;

    fn of(content: &[u8], offset: u64) -> Descriptor {
        let mut sum = Checksummed::new(io::sink());
        sum.write_all(content).expect("a sink takes all");
        let (len_bytes, crc) = (sum.len_bytes(), sum.crc());
        Descriptor { cn: 9, node: NodeId::new(5, 2), index: 77, offset, len_bytes, crc, digest: 1 << 100 | 3 }
    }

    #[test]
    fn bytes_and_back_and_every_flipped_bit_is_seen() {
        let descriptor = of(b"state", 4096);
        let good = descriptor.encode();
        assert_eq!(Descriptor::decode(&good), Some(descriptor));
        for bit in 0..DESCRIPTOR_BYTES * 8 {
            let mut bytes = good;
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Descriptor::decode(&bytes), None, "bit {bit}");
        }
    }

    #[test]
    fn content_is_read_where_it_lies_and_checked() {
        let mut file = tempfile::tempfile().expect("a temporary file");
        file.write_all(b"...state...").expect("room");
        let descriptor = of(b"state", 3);
        assert_eq!(descriptor.read_from(&file, 100).expect("it is there"), b"state");
        let kind_of = |descriptor: Descriptor| descriptor.read_from(&file, 100).expect_err("a wrong place").kind();
        assert_eq!(kind_of(Descriptor { offset: 2, ..descriptor }), io::ErrorKind::InvalidData);
        assert_eq!(kind_of(Descriptor { offset: 7, ..descriptor }), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind_of(Descriptor { len_bytes: 100, ..descriptor }), io::ErrorKind::UnexpectedEof);
        assert_eq!(kind_of(Descriptor { len_bytes: 1 << 60, ..descriptor }), io::ErrorKind::FileTooLarge);
        assert_eq!(kind_of(Descriptor { offset: u64::MAX, ..descriptor }), io::ErrorKind::UnexpectedEof);
    }
}
