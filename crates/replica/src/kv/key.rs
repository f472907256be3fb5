//! A key: 1 to 1,024 bytes. Short ones, which most are, lie in place.

use std::borrow::Borrow;
use std::fmt;
use std::hash::{Hash, Hasher};

/// The longest key, in bytes.
pub const MAX_KEY_BYTES: usize = 1024;

/// The longest key that needs no memory of its own.
const INLINE_BYTES: usize = 30;

/// The bytes of a key; two keys are the same if their bytes are.
#[derive(Clone)]
pub struct Key(Bytes);

#[derive(Clone)]
enum Bytes {
    Inline { len: u8, bytes: [u8; INLINE_BYTES] },
    Boxed(Box<[u8]>),
}

/// Bytes that cannot be a key: none, or more than [`MAX_KEY_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a key has 1 to {MAX_KEY_BYTES} bytes, not {0}")]
pub struct NoKey(
    /// Their number.
    pub usize,
);

impl Key {
    /// A key of these bytes.
    ///
    /// # Errors
    /// [`NoKey`] if there are none, or more than [`MAX_KEY_BYTES`].
    #[inline]
    pub fn new(bytes: &[u8]) -> Result<Self, NoKey> {
        match bytes.len() {
            0 => Err(NoKey(0)),
            len @ 1..=INLINE_BYTES => {
                let mut inline = [0; INLINE_BYTES];
                inline[..len].copy_from_slice(bytes);
                Ok(Self(Bytes::Inline { len: len as u8, bytes: inline }))
            }
            len if len <= MAX_KEY_BYTES => Ok(Self(Bytes::Boxed(bytes.into()))),
            len => Err(NoKey(len)),
        }
    }

    /// Its bytes.
    #[must_use]
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        match &self.0 {
            Bytes::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Bytes::Boxed(bytes) => bytes,
        }
    }
}

impl TryFrom<&[u8]> for Key {
    type Error = NoKey;

    fn try_from(bytes: &[u8]) -> Result<Self, NoKey> {
        Self::new(bytes)
    }
}

impl TryFrom<&str> for Key {
    type Error = NoKey;

    fn try_from(text: &str) -> Result<Self, NoKey> {
        Self::new(text.as_bytes())
    }
}

impl Borrow<[u8]> for Key {
    fn borrow(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        self.as_bytes() == other.as_bytes()
    }
}

impl Eq for Key {}

impl Hash for Key {
    /// As its bytes are hashed, by which maps look it up.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_bytes().hash(state);
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key(\"{}\")", self.as_bytes().escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_a_length_within_limits() {
        for len in [1, INLINE_BYTES, INLINE_BYTES + 1, MAX_KEY_BYTES] {
            let bytes = vec![7; len];
            assert_eq!(Key::new(&bytes).expect("allowed").as_bytes(), bytes);
        }
        assert_eq!(Key::new(&[]), Err(NoKey(0)));
        assert_eq!(Key::new(&[0; MAX_KEY_BYTES + 1]), Err(NoKey(MAX_KEY_BYTES + 1)));
        assert_eq!(size_of::<Key>(), 32);
    }
}
