//! Places for keys with a tag of a byte each, which lie beside the lock of a bucket.
//!
//! A holder of a lock of up to 8 bytes has the line with the tags, and looks at keys only where a tag is equal: so a search in
//! vain mostly reads one line, and one that finds reads one more for the key and the value's. Behind a lock that fills a line
//! the tags are on the next.
//!
//! A tag is of the key's quotient by the number of buckets, spread by a multiplication with the golden ratio: 96 quotients in a
//! row have 94 tags or more.
//!
//! Source: that a byte of each key's hash is compared before the key is as in M. Kulukundis, Designing a Fast, Efficient,
//! Cache-friendly Hash Table, Step by Step, CppCon 2017.

use super::chain::{Link, Node};

/// With the lock, `next` and `used` their tags fill a line.
const KEYS: usize = 40;
/// Tags in a word.
const BYTES: usize = 8;
/// 2 to the 64th divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key and its tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought {
    pub(super) key: u64,
    pub(super) tag: u8,
}

impl Sought {
    /// A key and its quotient by the number of buckets.
    #[inline]
    pub(super) fn new(key: u64, quotient: u64) -> Self {
        Self { key, tag: (quotient.wrapping_mul(GOLDEN) >> 56) as u8 }
    }
}

/// Behind a lock of up to 8 bytes the tags end where the line does.
#[repr(C)]
pub(super) struct Tagged<V> {
    next: Link<Self>,
    /// Places with a key, which are the first ones.
    used: u64,
    /// The first key's is the lowest byte.
    tags: [u64; KEYS / BYTES],
    keys: [u64; KEYS],
    values: [V; KEYS],
}

#[cfg(not(loom))]
const _: () = assert!(std::mem::offset_of!(Tagged<u64>, keys) == corecast_base::LINE_BYTES - 8);

/// The highest bit of each byte that is equal to `tag`.
#[inline]
fn equal_bytes(word: u64, tag: u8) -> u64 {
    const EACH: u64 = u64::MAX / 0xff;
    const LOW_BITS: u64 = 0x7f * EACH;
    let difference = word ^ (u64::from(tag) * EACH);
    // No byte's sum reaches the next one; bit 7 of it is set unless its seven low bits are 0.
    !(((difference & LOW_BITS) + LOW_BITS) | difference | LOW_BITS)
}

fn shift(at: usize) -> usize {
    at % BYTES * 8
}

impl<V> Node for Tagged<V> {
    type Sought = Sought;
    type Value = V;
    const ROOM: usize = KEYS;

    fn empty() -> Self
    where
        V: Default,
    {
        let values = std::array::from_fn(|_| V::default());
        Self { next: None, used: 0, tags: [0; KEYS / BYTES], keys: [0; KEYS], values }
    }

    #[inline]
    fn used(&self) -> usize {
        self.used as usize
    }

    #[inline]
    fn set_used(&mut self, used: usize) {
        self.used = used as u64;
    }

    #[inline]
    fn position(&self, sought: Sought) -> Option<usize> {
        for (word, &tags) in self.tags.iter().enumerate() {
            let mut equal = equal_bytes(tags, sought.tag);
            while equal != 0 {
                let at = word * BYTES + equal.trailing_zeros() as usize / 8;
                if at >= self.used() {
                    return None;
                }
                if self.keys[at] == sought.key {
                    return Some(at);
                }
                equal &= equal - 1;
            }
        }
        None
    }

    #[inline]
    fn sought(&self, at: usize) -> Sought {
        Sought { key: self.keys[at], tag: (self.tags[at / BYTES] >> shift(at)) as u8 }
    }

    #[inline]
    fn set_key(&mut self, at: usize, Sought { key, tag }: Sought) {
        self.keys[at] = key;
        let tags = &mut self.tags[at / BYTES];
        *tags = *tags & !(0xff << shift(at)) | u64::from(tag) << shift(at);
    }

    fn keys(&self) -> &[u64] {
        &self.keys
    }

    #[inline]
    fn values(&self) -> &[V] {
        &self.values
    }

    #[inline]
    fn values_mut(&mut self) -> &mut [V] {
        &mut self.values
    }

    #[inline]
    fn next(&self) -> &Link<Self> {
        &self.next
    }

    #[inline]
    fn next_mut(&mut self) -> &mut Link<Self> {
        &mut self.next
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn equal_bytes_are_found_whatever_is_beside_them() {
        for word in [0, 0x0100, 0x0001_0000, 0x8000_7fff, 0xff00_fe01_0180_7f00, u64::MAX] {
            for tag in 0..=u8::MAX {
                let bytes = (0..8).map(|byte| ((word >> (8 * byte)) as u8 == tag, byte));
                let expected =
                    bytes.filter(|&(is_equal, _)| is_equal).fold(0, |all, (_, byte)| all | 0x80 << (8 * byte));
                assert_eq!(equal_bytes(word, tag), expected, "{word:x} {tag:x}");
            }
        }
    }

    #[test]
    fn quotients_in_a_row_have_tags_of_their_own() {
        for first in [0, 1000, u64::MAX / 2] {
            let mut tags: Vec<u8> = (first..first + 96).map(|quotient| Sought::new(0, quotient).tag).collect();
            tags.sort_unstable();
            tags.dedup();
            assert!(tags.len() >= 94, "{} of 96", tags.len());
        }
    }

    #[test]
    fn a_tag_that_was_left_behind_is_no_key() {
        let mut node: Tagged<u64> = Tagged::empty();
        node.set_key(0, Sought { key: 7, tag: 9 });
        assert_eq!(node.position(Sought { key: 7, tag: 9 }), None, "no place is used");
        node.set_used(1);
        assert_eq!(node.position(Sought { key: 7, tag: 9 }), Some(0));
        assert_eq!(node.position(Sought { key: 8, tag: 9 }), None, "another key of the same tag");
    }
}
