//! A value: up to 16 MiB. A short one lies in place, a longer one is shared by all that hold it.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The longest value, in bytes.
pub const MAX_VALUE_BYTES: usize = 16 << 20;

/// The longest value that needs no memory of its own, in bytes. With memory for each, a set of 3 bytes took and gave back four
/// pieces in a store of three replicas.
const INLINE_BYTES: usize = 22;

/// The bytes of a value. A clone shares them if they are more than a few, so an answer costs no copy however long it is.
#[derive(Clone)]
pub struct Value(Bytes);

#[derive(Clone)]
enum Bytes {
    Inline {
        len: u8,
        bytes: [u8; INLINE_BYTES],
    },
    Shared(Arc<[u8]>),
    /// These bytes of a piece of memory that holds several values.
    Part {
        piece: Arc<Box<[u8]>>,
        at: u32,
        len: u32,
    },
}

/// More bytes than [`MAX_VALUE_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a value has at most {MAX_VALUE_BYTES} bytes, not {0}")]
pub struct TooLong(
    /// Their number.
    pub usize,
);

impl Value {
    /// A value of these bytes, which are copied.
    ///
    /// # Errors
    /// [`TooLong`] if there are more than [`MAX_VALUE_BYTES`].
    #[inline]
    pub fn new(bytes: &[u8]) -> Result<Self, TooLong> {
        match bytes.len() {
            0..=INLINE_BYTES => Ok(Self::inline(bytes)),
            len if len <= MAX_VALUE_BYTES => Ok(Self(Bytes::Shared(bytes.into()))),
            len => Err(TooLong(len)),
        }
    }

    /// A value of at most [`INLINE_BYTES`].
    #[inline]
    fn inline(bytes: &[u8]) -> Self {
        let mut inline = [0; INLINE_BYTES];
        inline[..bytes.len()].copy_from_slice(bytes);
        Self(Bytes::Inline { len: bytes.len() as u8, bytes: inline })
    }

    /// Bytes of a piece of memory, which lives as long as any value in it.
    pub(super) fn part(piece: &Arc<Box<[u8]>>, at: Range<usize>) -> Self {
        const { assert!(MAX_VALUE_BYTES * 2 <= u32::MAX as usize) };
        Self(Bytes::Part { piece: Arc::clone(piece), at: at.start as u32, len: at.len() as u32 })
    }

    /// A number as decimal digits.
    #[must_use]
    pub fn of_integer(number: i64) -> Self {
        const { assert!(INLINE_BYTES >= "-9223372036854775808".len()) };
        Self::inline(number.to_string().as_bytes())
    }

    /// The number whose decimal digits these are, as Redis reads it: without a plus, leading zeros or spaces.
    #[must_use]
    pub fn to_integer(&self) -> Option<i64> {
        let text = std::str::from_utf8(self).ok()?;
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = digits.starts_with(|first: char| matches!(first, '1'..='9')) || text == "0";
        if is_plain { text.parse().ok() } else { None }
    }

    /// These bytes and further ones behind them; `None` if that is too long.
    pub(super) fn joined(&self, more: &[u8]) -> Option<Self> {
        let len = self.len().checked_add(more.len())?;
        if len <= INLINE_BYTES {
            return Some(Self::inline(&[self, more].concat()));
        }
        (len <= MAX_VALUE_BYTES).then(|| Self(Bytes::Shared(self.iter().chain(more).copied().collect())))
    }
}

impl TryFrom<&[u8]> for Value {
    type Error = TooLong;

    fn try_from(bytes: &[u8]) -> Result<Self, TooLong> {
        Self::new(bytes)
    }
}

impl TryFrom<&str> for Value {
    type Error = TooLong;

    fn try_from(text: &str) -> Result<Self, TooLong> {
        Self::new(text.as_bytes())
    }
}

impl Deref for Value {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Inline { len, bytes } => &bytes[..usize::from(*len)],
            Bytes::Shared(bytes) => bytes,
            Bytes::Part { piece, at, len } => &piece[*at as usize..][..*len as usize],
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl fmt::Debug for Value {
    /// Its beginning, as it may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self[..self.len().min(64)];
        write!(f, "Value({} bytes: \"{}\")", self.len(), shown.escape_ascii())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_plain_decimals() {
        for number in [0, 1, -1, 42, i64::MAX, i64::MIN] {
            assert_eq!(Value::of_integer(number).to_integer(), Some(number));
        }
        for text in ["", "-", "-0", "+1", "01", " 1", "1 ", "1.0", "0x1", "9223372036854775808", "\u{661}"] {
            assert_eq!(Value::try_from(text).expect("short").to_integer(), None, "{text}");
        }
    }

    #[test]
    fn short_and_long_values_are_joined_and_compared() {
        assert_eq!(size_of::<Value>(), 24);
        let bytes: Vec<u8> = (0..50).collect();
        for len in [0, 1, INLINE_BYTES, INLINE_BYTES + 1, 50] {
            let value = Value::new(&bytes[..len]).expect("allowed");
            for cut in 0..len {
                let first = Value::new(&bytes[..cut]).expect("allowed");
                assert_eq!(first.joined(&bytes[cut..len]).as_ref(), Some(&value), "{cut} of {len} bytes");
                assert_ne!(first, value);
            }
            assert_eq!(*value, bytes[..len]);
        }
    }

    #[test]
    fn values_end_at_their_limit() {
        let longest = Value::new(&vec![1; MAX_VALUE_BYTES]).expect("allowed");
        assert_eq!((longest.joined(&[]), longest.joined(&[2])), (Some(longest.clone()), None));
        assert_eq!(Value::new(&vec![1; MAX_VALUE_BYTES + 1]), Err(TooLong(MAX_VALUE_BYTES + 1)));
    }
}
