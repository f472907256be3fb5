//! The body of a user's operation, as a slot of the log holds it: the bytes, or where they lie.

use crate::NodeId;

/// The most bytes of a body that lies in its slot.
pub const INLINE_BYTES: usize = 32;

/// The body of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Body {
    /// The bytes: their number, at most [`INLINE_BYTES`], then the bytes, then zeroes.
    Inline(u8, [u8; INLINE_BYTES]),
    /// The bytes lie in the bulk arena of a node's segment.
    Bulk(BulkPlace),
}

/// Bytes in a bulk arena.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct BulkPlace {
    /// The node whose segment has the arena.
    pub node: NodeId,
    /// The number of bytes.
    pub len: u32,
    /// Their place, in bytes from the start of the arena.
    pub offset: u64,
    /// Their checksum, by which a reader notices that they were overwritten.
    pub crc: u32,
}

impl Body {
    /// A body that lies in its slot; `None` if it is longer than [`INLINE_BYTES`].
    #[must_use]
    pub fn inline(bytes: &[u8]) -> Option<Self> {
        let mut padded = [0; INLINE_BYTES];
        padded.get_mut(..bytes.len())?.copy_from_slice(bytes);
        Some(Self::Inline(bytes.len() as u8, padded))
    }

    /// The bytes that lie in the slot; `None` if they are in an arena.
    #[must_use]
    pub fn as_inline(&self) -> Option<&[u8]> {
        match self {
            Self::Inline(len, bytes) => bytes.get(..usize::from(*len)),
            Self::Bulk(_) => None,
        }
    }

    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Inline(len, _) => usize::from(*len),
            Self::Bulk(place) => place.len as usize,
        }
    }

    /// True if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

const _: () = assert!(size_of::<Body>() <= 40, "a body is copied with every command");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_bodies_lie_in_the_slot() {
        for len in 0..=INLINE_BYTES {
            let bytes: Vec<u8> = (1..=len as u8).collect();
            let body = Body::inline(&bytes).expect("short");
            assert_eq!((body.as_inline(), body.len()), (Some(&bytes[..]), len));
        }
        assert_eq!(Body::inline(&[0; INLINE_BYTES + 1]), None);
    }
}
