//! The result of a request, as replicas keep it for retries.

use std::fmt;
use std::sync::Arc;

/// The most bytes of a reply that lies where it is used.
const SHORT: usize = 32;

/// An index and an encoded output. A short one is copied: that takes less time than memory and counts of its users.
#[derive(Clone, PartialEq, Eq)]
pub struct Reply(Bytes);

#[derive(Clone, PartialEq, Eq)]
enum Bytes {
    /// Their number, then the bytes, then zeroes.
    Short(u8, Words),
    Long(Arc<[u8]>),
}

/// Bytes that are copied as words.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(align(8))]
struct Words([u8; SHORT]);

impl AsRef<[u8]> for Reply {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Short(len, bytes) => &bytes.0[..usize::from(*len)],
            Bytes::Long(bytes) => bytes,
        }
    }
}

impl From<&[u8]> for Reply {
    #[inline]
    fn from(bytes: &[u8]) -> Self {
        let mut short = [0; SHORT];
        Self(match short.get_mut(..bytes.len()) {
            Some(place) => {
                place.copy_from_slice(bytes);
                Bytes::Short(bytes.len() as u8, Words(short))
            }
            None => Bytes::Long(Arc::from(bytes)),
        })
    }
}

impl From<Vec<u8>> for Reply {
    fn from(bytes: Vec<u8>) -> Self {
        Self::from(&bytes[..])
    }
}

impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

const _: () = assert!(size_of::<Reply>() == 40, "a reply is copied with every command");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_of_any_length_hold_their_bytes() {
        for len in 0..2 * SHORT {
            let bytes: Vec<u8> = (1..=len as u8).collect();
            let reply = Reply::from(&bytes[..]);
            assert_eq!((reply.as_ref(), reply.clone()), (&bytes[..], Reply::from(bytes.clone())));
        }
        assert_ne!(Reply::from(&[0][..]), Reply::from(&[0, 0][..]), "the length counts");
    }
}
