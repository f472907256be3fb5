//! Places for keys with a tag of a byte each, which lie beside the lock of a bucket.
//!
//! A holder looks at keys only where a tag is equal: so a search in vain mostly reads the tags alone, and one that finds
//! reads one more line for the key and the value's. Behind a lock of up to 8 bytes the first 39 tags are on its line; behind
//! one of 56 bytes, as [`Auto`](crate::Auto), the tags fill the next.
//!
//! Keys and values lie elsewhere, eight and eight: a line of keys with their values behind. Without keys there are none.
//!
//! The bucket and the tag come from one product of the key with the golden ratio, the bucket from its upper part and the tag
//! from the lower: keys in a row are dealt evenly, and so are their tags in each bucket. No division is needed: a remainder took
//! 4 ns of 20, on an EPYC of Zen 4.
//!
//! Source: that a byte of each key's hash is compared before the key is as in M. Kulukundis, Designing a Fast, Efficient,
//! Cache-friendly Hash Table, Step by Step, CppCon 2017; the multiplication by the golden ratio is of D. Knuth, The Art of
//! Computer Programming, volume 3, section 6.4, and the one that maps it to a range of D. Lemire, Fast Random Integer Generation
//! in an Interval, 2019.

use std::array;
use std::mem;

use super::chain::{Link, Node};
use super::equal_bytes::{BYTES, in_all, in_first_32};

/// One byte is how many there are.
const KEYS: usize = BYTES - 1;
/// Places of a group.
const GROUP: usize = 8;
/// 2 to the 64th divided by the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A key and its tag.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sought {
    pub(super) key: u64,
    pub(super) tag: u8,
}

impl Sought {
    /// The bucket of a key, of this number of buckets, and how it is looked for there.
    #[inline]
    pub(super) fn new(key: u64, buckets: usize) -> (usize, Self) {
        let product = u128::from(key.wrapping_mul(GOLDEN)) * buckets as u128;
        ((product >> 64) as usize, Self { key, tag: (product as u64 >> 56) as u8 })
    }
}

/// A line of keys, and their values.
#[repr(C, align(64))]
struct Group<V> {
    keys: [u64; GROUP],
    values: [V; GROUP],
}

impl<V: Default> Default for Group<V> {
    fn default() -> Self {
        Self { keys: [0; GROUP], values: Default::default() }
    }
}

/// The places of a node, and the node behind it.
struct Places<V, G: ?Sized = [Group<V>]> {
    next: Link<Tagged<V>>,
    groups: G,
}

/// This number of groups, with what was in `old`.
fn moved<V: Default, const GROUPS: usize>(old: &mut [Group<V>]) -> Box<Places<V>> {
    let group = |at| old.get_mut(at).map(mem::take).unwrap_or_default();
    Box::new(Places { next: None, groups: array::from_fn::<_, GROUPS, _>(group) })
}

/// See the [module](self).
#[repr(C)]
pub(super) struct Tagged<V> {
    places: Option<Box<Places<V>>>,
    /// How many places have a key, which are the first ones, and the tags of those.
    used_and_tags: [u8; BYTES],
}

// Behind a lock of 56 bytes the tags begin with the second line and end with it.
const _: () = assert!(
    std::mem::offset_of!(Tagged<u64>, used_and_tags) == 16
        && size_of::<Tagged<u64>>() + 56 == 2 * corecast_base::LINE_BYTES
);

impl<V> Tagged<V> {
    fn groups(&self) -> &[Group<V>] {
        self.places.as_ref().map_or(&[], |places| &places.groups)
    }

    fn groups_mut(&mut self) -> &mut [Group<V>] {
        self.places.as_mut().map_or(&mut [], |places| &mut places.groups)
    }
}

impl<V> Node for Tagged<V> {
    type Sought = Sought;
    type Value = V;
    const ROOM: usize = KEYS;

    fn empty() -> Self {
        Self { places: None, used_and_tags: [0; BYTES] }
    }

    #[inline]
    fn used(&self) -> usize {
        self.used_and_tags[0].into()
    }

    #[inline]
    fn set_used(&mut self, used: usize) {
        self.used_and_tags[0] = used as u8;
    }

    #[inline]
    fn position(&self, sought: Sought) -> Option<usize> {
        let used = self.used();
        let tags = &self.used_and_tags;
        let equal = if used < 32 { in_first_32(tags, sought.tag) } else { in_all(tags, sought.tag) };
        let mut equal = (equal >> 1) & ((1 << used) - 1);
        let groups = self.groups();
        while equal != 0 {
            let at = equal.trailing_zeros() as usize;
            if groups[at / GROUP].keys[at % GROUP] == sought.key {
                return Some(at);
            }
            equal &= equal - 1;
        }
        None
    }

    #[inline]
    fn sought(&self, at: usize) -> Sought {
        Sought { key: self.key(at), tag: self.used_and_tags[1 + at] }
    }

    #[inline]
    fn set_key(&mut self, at: usize, Sought { key, tag }: Sought) {
        self.groups_mut()[at / GROUP].keys[at % GROUP] = key;
        self.used_and_tags[1 + at] = tag;
    }

    #[inline]
    fn key(&self, at: usize) -> u64 {
        self.groups()[at / GROUP].keys[at % GROUP]
    }

    #[inline]
    fn value(&self, at: usize) -> &V {
        &self.groups()[at / GROUP].values[at % GROUP]
    }

    #[inline]
    fn value_mut(&mut self, at: usize) -> &mut V {
        &mut self.groups_mut()[at / GROUP].values[at % GROUP]
    }

    fn made(&self) -> usize {
        self.groups().len() * GROUP
    }

    #[inline]
    fn make_place(&mut self)
    where
        V: Default,
    {
        if self.used() == self.made() {
            self.grow();
        }
    }

    #[inline]
    fn link(&self) -> Option<&Link<Self>> {
        self.places.as_ref().map(|places| &places.next)
    }

    #[inline]
    fn link_mut(&mut self) -> Option<&mut Link<Self>> {
        self.places.as_mut().map(|places| &mut places.next)
    }
}

impl<V: Default> Tagged<V> {
    /// More places: one group, two, four, and seven, the last place of which is never used.
    #[cold]
    fn grow(&mut self) {
        let old = self.groups_mut();
        let grown = match old.len() {
            0 => moved::<V, 1>(old),
            1 => moved::<V, 2>(old),
            2 => moved::<V, 4>(old),
            _ => moved::<V, { BYTES / GROUP }>(old),
        };
        self.places = Some(grown);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn keys_in_a_row_are_dealt_evenly_and_have_tags_of_their_own() {
        for buckets in [1usize, 3, 12, 512, 1000] {
            for first in [0, 1000, u64::MAX / 2] {
                let mut tags = vec![Vec::new(); buckets];
                for key in first..first + 96 * buckets as u64 {
                    let (bucket, sought) = Sought::new(key, buckets);
                    tags[bucket].push(sought.tag);
                }
                for mut tags in tags {
                    assert!((90..=102).contains(&tags.len()), "{} keys of 96 in a bucket of {buckets}", tags.len());
                    let keys = tags.len();
                    tags.sort_unstable();
                    tags.dedup();
                    assert!(tags.len() * 10 >= keys * 9, "{} tags of {keys} keys", tags.len());
                }
            }
        }
    }

    #[test]
    fn multiples_of_the_number_of_buckets_are_dealt_evenly_too() {
        let mut keys = [0; 512];
        (0..512 * 48).for_each(|number| keys[Sought::new(number * 4096, 512).0] += 1);
        assert!(keys.iter().all(|keys| (40..=56).contains(keys)), "{keys:?}");
    }

    #[test]
    fn a_tag_that_was_left_behind_is_no_key() {
        let mut node: Tagged<u64> = Tagged::empty();
        node.make_place();
        node.set_key(0, Sought { key: 7, tag: 9 });
        assert_eq!(node.position(Sought { key: 7, tag: 9 }), None, "no place is used");
        node.set_used(1);
        assert_eq!(node.position(Sought { key: 7, tag: 9 }), Some(0));
        assert_eq!(node.position(Sought { key: 8, tag: 9 }), None, "another key of the same tag");
        assert_eq!(node.position(Sought { key: 7, tag: 1 }), None, "the number of keys is no tag");
    }
}
