//! The rival maps that people use today, each used as its documentation says, with 64 bytes in place as the value.
//!
//! corecast's table takes a key modulo the number of buckets. These hash, and the standard library's hash would be most
//! of what is measured: they get one of a multiplication. They are made for all elements that will come, and never grow.

use std::collections::HashMap;
use std::collections::hash_map;
use std::hash::{BuildHasher, Hasher};
use std::sync::Mutex;

use corecast::base::CacheLine;

use super::host::{Client, Host, Setting, Words, Work, seats};
use super::section::Section;
use corecast_race::failure::Failure;

/// Hashes one u64: multiplied by an odd constant (the golden ratio's), with the upper half folded into the lower.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Multiply(u64);

impl Multiply {
    #[inline]
    fn product(key: u64) -> u64 {
        key.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl BuildHasher for Multiply {
    type Hasher = Self;

    #[inline]
    fn build_hasher(&self) -> Self {
        Self(0)
    }
}

impl Hasher for Multiply {
    #[inline]
    fn write_u64(&mut self, key: u64) {
        let product = Self::product(key);
        self.0 = product ^ product >> 32;
    }

    fn write(&mut self, _bytes: &[u8]) {
        unreachable!("keys are of u64")
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

/// A map that threads share.
pub(super) trait Shared: Sync + Sized {
    /// For all keys that will come; of tables with a number of buckets, this is it.
    fn for_keys(keys: usize, buckets: usize) -> Self;
    fn get(&self, key: u64, into: &mut Words, section: Section) -> bool;
    fn put(&self, key: u64, words: Words, section: Section) -> bool;
    fn remove(&self, key: u64, section: Section) -> bool;
}

pub(super) type Dashmap = dashmap::DashMap<u64, Words, Multiply>;
pub(super) type Papaya = papaya::HashMap<u64, Words, Multiply>;
pub(super) type Scc = scc::HashMap<u64, Words, Multiply>;
/// One mutex around all of it.
pub(super) type Std = Mutex<HashMap<u64, Words, Multiply>>;

/// A map behind a mutex for each of at least as many shards as the other tables have buckets, a power of two.
pub(super) struct StdSharded(Box<[CacheLine<Std>]>);

impl Shared for Dashmap {
    fn for_keys(keys: usize, _buckets: usize) -> Self {
        Self::with_capacity_and_hasher(keys, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words, section: Section) -> bool {
        let found = self.get(&key);
        let is_in = found.as_ref().map(|words| *into = **words).is_some();
        section.end();
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words, section: Section) -> bool {
        match self.entry(key) {
            dashmap::Entry::Occupied(_entry) => {
                section.end();
                false
            }
            dashmap::Entry::Vacant(entry) => {
                let _held = entry.insert(words);
                section.end();
                true
            }
        }
    }

    #[inline]
    fn remove(&self, key: u64, section: Section) -> bool {
        let was_in = self.remove(&key).is_some();
        section.end();
        was_in
    }
}

impl Shared for Papaya {
    fn for_keys(keys: usize, _buckets: usize) -> Self {
        Self::with_capacity_and_hasher(keys, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words, section: Section) -> bool {
        let is_in = self.pin().get(&key).map(|words| *into = *words).is_some();
        section.end();
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words, section: Section) -> bool {
        let is_in = self.pin().try_insert(key, words).is_ok();
        section.end();
        is_in
    }

    #[inline]
    fn remove(&self, key: u64, section: Section) -> bool {
        let was_in = self.pin().remove(&key).is_some();
        section.end();
        was_in
    }
}

impl Shared for Scc {
    fn for_keys(keys: usize, _buckets: usize) -> Self {
        Self::with_capacity_and_hasher(keys, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words, section: Section) -> bool {
        let read = |_: &u64, words: &Words| {
            *into = *words;
            section.end();
        };
        let is_in = self.read_sync(&key, read).is_some();
        if !is_in {
            section.end();
        }
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words, section: Section) -> bool {
        let is_in = self.insert_sync(key, words).is_ok();
        section.end();
        is_in
    }

    #[inline]
    fn remove(&self, key: u64, section: Section) -> bool {
        let was_in = self.remove_sync(&key).is_some();
        section.end();
        was_in
    }
}

impl Shared for Std {
    fn for_keys(keys: usize, _buckets: usize) -> Self {
        Self::new(HashMap::with_capacity_and_hasher(keys, Multiply::default()))
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words, section: Section) -> bool {
        let map = self.lock().expect("nobody panics inside");
        let is_in = map.get(&key).map(|words| *into = *words).is_some();
        section.end();
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words, section: Section) -> bool {
        let mut map = self.lock().expect("nobody panics inside");
        let is_new = match map.entry(key) {
            hash_map::Entry::Occupied(_) => false,
            hash_map::Entry::Vacant(entry) => {
                entry.insert(words);
                true
            }
        };
        section.end();
        is_new
    }

    #[inline]
    fn remove(&self, key: u64, section: Section) -> bool {
        let mut map = self.lock().expect("nobody panics inside");
        let was_in = map.remove(&key).is_some();
        section.end();
        was_in
    }
}

impl StdSharded {
    #[inline]
    fn shard(&self, key: u64) -> &Std {
        // The upper half of the product, of which a map takes the lowest and the highest bits.
        &self.0[(Multiply::product(key) >> 32) as usize & (self.0.len() - 1)]
    }
}

impl Shared for StdSharded {
    fn for_keys(keys: usize, buckets: usize) -> Self {
        let shards = buckets.next_power_of_two();
        Self((0..shards).map(|_| CacheLine::new(Std::for_keys(keys.div_ceil(shards), 1))).collect())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words, section: Section) -> bool {
        self.shard(key).get(key, into, section)
    }

    #[inline]
    fn put(&self, key: u64, words: Words, section: Section) -> bool {
        self.shard(key).put(key, words, section)
    }

    #[inline]
    fn remove(&self, key: u64, section: Section) -> bool {
        self.shard(key).remove(key, section)
    }
}

/// A thread's way to one of them.
pub(super) struct Through<'a, M> {
    map: &'a M,
    section: Section,
}

impl<M: Shared> Client for Through<'_, M> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        self.map.get(key, into, self.section)
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        self.map.put(key, words.copied().unwrap_or_default(), self.section)
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.map.remove(key, self.section)
    }
}

/// A map behind nothing of ours.
pub(super) struct Rival<M>(std::marker::PhantomData<M>);

impl<M: Shared + 'static> Host for Rival<M> {
    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let map = M::for_keys(setting.keys() as usize, setting.buckets);
        work(seats(setting, || Through { map: &map, section: setting.section }))
    }
}
