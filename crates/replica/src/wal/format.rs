//! The bytes of a segment file: a header, and records without gaps.
//!
//! ```text
//! header  magic 8 | version u32 | crc u32 | group u64 | first index u64 | salt u64                            40 bytes
//! record  crc u32 | length u32 | body crc u32 | index u64 | synced u64 | body                 28 bytes and the body
//! ```
//!
//! Numbers are little-endian. The crc of the file's header covers the other bytes of the header, that of a record the rest of
//! its 28 bytes, and begins with the salt of the file, a random number: no body can hold the image of a record by intent, and
//! no earlier contents of a disk block pass for one. `synced` is the count of records that were known to be durable when this
//! one was written. It tells damage from an interrupted write: a record that does not hold together although a later one was
//! written after it had been synced is damage; if none was, it was never acknowledged as durable, and the file ends there.

use crate::Index;
use crate::crc32c::Crc32c;

/// The version of the format.
pub const VERSION: u32 = 1;

/// The length of the header of a file.
pub const HEADER_BYTES: usize = 40;

/// The length of the header of a record.
pub const RECORD_HEADER_BYTES: usize = 28;

/// The largest length of a body.
pub const MAX_RECORD_BYTES: usize = 256 << 20;

const MAGIC: [u8; 8] = *b"ccastwal";

/// The header of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The group whose commands these are.
    pub group: u64,
    /// The index of the first record of the file.
    pub first: Index,
    /// A random number of the file.
    pub salt: u64,
}

/// The reason for which bytes are no header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeaderFault {
    /// They do not hold together.
    Damaged,
    /// They are of another version.
    Version(u32),
}

/// Everything that holds together from the start of a file on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contents {
    /// The offset in bytes and the length of each body, in order of index.
    pub bodies: Vec<(usize, usize)>,
    /// The offset after the last record that holds together; the length of the file if all do.
    pub end: usize,
    /// The record at `end` had become durable once: it is damaged, and not merely interrupted.
    pub is_damaged: bool,
}

impl Header {
    /// The bytes of the header.
    #[must_use]
    pub fn encode(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.group.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.first.to_le_bytes());
        bytes[32..].copy_from_slice(&self.salt.to_le_bytes());
        let crc = Crc32c::new().and(&bytes[..12]).and(&bytes[16..]).value();
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The header at the start of these bytes.
    ///
    /// # Errors
    /// [`HeaderFault::Damaged`] too where they are too short; a version that is not ours only where the rest is intact.
    pub fn decode(bytes: &[u8]) -> Result<Self, HeaderFault> {
        let bytes = bytes.get(..HEADER_BYTES).ok_or(HeaderFault::Damaged)?;
        let crc = Crc32c::new().and(&bytes[..12]).and(&bytes[16..]).value();
        if bytes[..8] != MAGIC || read_u32(bytes, 12) != crc {
            return Err(HeaderFault::Damaged);
        }
        match read_u32(bytes, 8) {
            VERSION => Ok(Self { group: read_u64(bytes, 16), first: read_u64(bytes, 24), salt: read_u64(bytes, 32) }),
            other => Err(HeaderFault::Version(other)),
        }
    }

    /// Appends a record of the file. `synced` is the count of records that are known to be durable.
    ///
    /// # Panics
    /// If the body is longer than [`MAX_RECORD_BYTES`].
    pub fn encode_record(&self, index: Index, synced: Index, body: &[u8], to: &mut Vec<u8>) {
        assert!(body.len() <= MAX_RECORD_BYTES, "a body has at most {MAX_RECORD_BYTES} bytes");
        let mut head = [0; RECORD_HEADER_BYTES];
        head[4..8].copy_from_slice(&(body.len() as u32).to_le_bytes());
        head[8..12].copy_from_slice(&Crc32c::new().and(body).value().to_le_bytes());
        head[12..20].copy_from_slice(&index.to_le_bytes());
        head[20..].copy_from_slice(&synced.to_le_bytes());
        let crc = self.head_crc(&head);
        head[..4].copy_from_slice(&crc.to_le_bytes());
        to.extend_from_slice(&head);
        to.extend_from_slice(body);
    }

    /// The records of the whole file `bytes`, whose header this is.
    #[must_use]
    pub fn scan(&self, bytes: &[u8]) -> Contents {
        let mut contents = Contents { bodies: Vec::new(), end: HEADER_BYTES, is_damaged: false };
        loop {
            let index = self.first.wrapping_add(contents.bodies.len() as u64);
            if contents.end == bytes.len() {
                return contents;
            }
            let Some(body) = self.body_at(bytes, contents.end, index) else {
                contents.is_damaged = self.was_synced(bytes, contents.end, index);
                return contents;
            };
            contents.end = body.0 + body.1;
            contents.bodies.push(body);
        }
    }

    /// The offset and length of the body of the record `index`, if it is here and holds together.
    fn body_at(&self, bytes: &[u8], at: usize, index: Index) -> Option<(usize, usize)> {
        let head = self.head_at(bytes, at).filter(|head| head.index == index)?;
        let start = at + RECORD_HEADER_BYTES;
        let body = bytes.get(start..start.checked_add(head.len)?)?;
        (Crc32c::new().and(body).value() == head.body_crc).then_some((start, head.len))
    }

    /// Whether a record behind `at` says that `index` had become durable before it was written.
    #[cold]
    fn was_synced(&self, bytes: &[u8], at: usize, index: Index) -> bool {
        let heads = (at + 1..bytes.len()).filter_map(|at| self.head_at(bytes, at));
        heads.into_iter().any(|head| head.index > index && head.synced > index)
    }

    fn head_at(&self, bytes: &[u8], at: usize) -> Option<RecordHead> {
        let head = bytes.get(at..at.checked_add(RECORD_HEADER_BYTES)?)?;
        let found = RecordHead {
            len: read_u32(head, 4) as usize,
            body_crc: read_u32(head, 8),
            index: read_u64(head, 12),
            synced: read_u64(head, 20),
        };
        (found.len <= MAX_RECORD_BYTES && read_u32(head, 0) == self.head_crc(head)).then_some(found)
    }

    fn head_crc(&self, head: &[u8]) -> u32 {
        Crc32c::new().and(&self.salt.to_le_bytes()).and(&head[4..RECORD_HEADER_BYTES]).value()
    }
}

struct RecordHead {
    len: usize,
    body_crc: u32,
    index: Index,
    synced: Index,
}

fn read_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

fn read_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header { group: 7, first: 100, salt: 0x1234_5678_9abc_def0 };

    /// A file of three records, each of which was synced before the next was written.
    fn file() -> Vec<u8> {
        let mut bytes = HEADER.encode().to_vec();
        for (index, body) in (100..).zip([&b"first"[..], b"", b"the third"]) {
            HEADER.encode_record(index, index, body, &mut bytes);
        }
        bytes
    }

    #[test]
    fn what_was_written_is_found() {
        let bytes = file();
        assert_eq!(Header::decode(&bytes), Ok(HEADER));
        let contents = HEADER.scan(&bytes);
        let bodies: Vec<&[u8]> = contents.bodies.iter().map(|&(at, len)| &bytes[at..at + len]).collect();
        assert_eq!(bodies, [&b"first"[..], b"", b"the third"]);
        assert_eq!((contents.end, contents.is_damaged), (bytes.len(), false));
    }

    #[test]
    fn a_flipped_bit_is_damage_unless_it_is_in_the_last_record() {
        let good = file();
        let starts: Vec<usize> = HEADER.scan(&good).bodies.iter().map(|(at, _)| at - RECORD_HEADER_BYTES).collect();
        for bit in 0..good.len() * 8 {
            let mut bytes = good.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            if bit / 8 < HEADER_BYTES {
                assert_eq!(Header::decode(&bytes), Err(HeaderFault::Damaged), "bit {bit}");
                continue;
            }
            let record = starts.iter().rposition(|start| *start <= bit / 8).expect("behind the header");
            let contents = HEADER.scan(&bytes);
            let found = (contents.bodies.len(), contents.end, contents.is_damaged);
            assert_eq!(found, (record, starts[record], record < 2), "bit {bit}");
        }
    }

    #[test]
    fn a_truncated_file_ends_with_its_last_whole_record() {
        let good = file();
        for len in HEADER_BYTES..good.len() {
            let contents = HEADER.scan(&good[..len]);
            assert!(contents.end <= len && !contents.is_damaged && contents.bodies.len() < 3, "{len} bytes");
        }
    }

    #[test]
    fn records_that_were_never_synced_may_be_lost_in_any_order() {
        let mut bytes = HEADER.encode().to_vec();
        HEADER.encode_record(100, 100, b"lost", &mut bytes);
        HEADER.encode_record(101, 100, b"kept", &mut bytes);
        bytes[HEADER_BYTES..HEADER_BYTES + 8].fill(0);
        assert_eq!(HEADER.scan(&bytes), Contents { bodies: Vec::new(), end: HEADER_BYTES, is_damaged: false });
    }

    #[test]
    fn a_body_that_looks_like_a_record_is_none() {
        let mut image = Vec::new();
        Header { salt: 0, ..HEADER }.encode_record(150, 140, b"planted", &mut image);
        let mut bytes = HEADER.encode().to_vec();
        HEADER.encode_record(100, 100, &image, &mut bytes);
        bytes.pop();
        assert!(!HEADER.scan(&bytes).is_damaged);
    }

    #[test]
    fn another_version_is_told_from_damage() {
        let mut bytes = HEADER.encode();
        bytes[8] = 9;
        let crc = Crc32c::new().and(&bytes[..12]).and(&bytes[16..]).value();
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(Header::decode(&bytes), Err(HeaderFault::Version(9)));
    }
}
