//! The rival maps that people use today, each used as its documentation says, with 64 bytes in place as the value.
//!
//! corecast's table takes a key modulo the number of buckets. These hash, and the standard library's hash would be most
//! of what is measured: they get one of a multiplication. They are made for all elements that will come, and never grow.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Mutex;

use super::guarded::end_of_section;
use super::host::{Client, Host, Setting, Words, Work, seats};
use corecast_race::failure::Failure;

/// Hashes one u64: multiplied by an odd constant (the golden ratio's), with the upper half folded into the lower.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Multiply(u64);

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
        let product = key.wrapping_mul(0x9e37_79b9_7f4a_7c15);
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
    fn for_elements(elements: usize) -> Self;
    fn get(&self, key: u64, into: &mut Words) -> bool;
    fn put(&self, key: u64, words: Words) -> bool;
    fn remove(&self, key: u64) -> bool;
}

pub(super) type Dashmap = dashmap::DashMap<u64, Words, Multiply>;
pub(super) type Papaya = papaya::HashMap<u64, Words, Multiply>;
pub(super) type Scc = scc::HashMap<u64, Words, Multiply>;
/// One mutex around all of it.
pub(super) type Std = Mutex<HashMap<u64, Words, Multiply>>;

impl Shared for Dashmap {
    fn for_elements(elements: usize) -> Self {
        Self::with_capacity_and_hasher(elements, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words) -> bool {
        let found = self.get(&key);
        let is_in = found.as_ref().map(|words| *into = **words).is_some();
        end_of_section();
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words) -> bool {
        match self.entry(key) {
            dashmap::Entry::Occupied(_entry) => {
                end_of_section();
                false
            }
            dashmap::Entry::Vacant(entry) => {
                let _held = entry.insert(words);
                end_of_section();
                true
            }
        }
    }

    #[inline]
    fn remove(&self, key: u64) -> bool {
        let was_in = self.remove(&key).is_some();
        end_of_section();
        was_in
    }
}

impl Shared for Papaya {
    fn for_elements(elements: usize) -> Self {
        Self::with_capacity_and_hasher(elements, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words) -> bool {
        let is_in = self.pin().get(&key).map(|words| *into = *words).is_some();
        end_of_section();
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words) -> bool {
        let is_in = self.pin().try_insert(key, words).is_ok();
        end_of_section();
        is_in
    }

    #[inline]
    fn remove(&self, key: u64) -> bool {
        let was_in = self.pin().remove(&key).is_some();
        end_of_section();
        was_in
    }
}

impl Shared for Scc {
    fn for_elements(elements: usize) -> Self {
        Self::with_capacity_and_hasher(elements, Multiply::default())
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words) -> bool {
        let read = |_: &u64, words: &Words| {
            *into = *words;
            end_of_section();
        };
        let is_in = self.read_sync(&key, read).is_some();
        if !is_in {
            end_of_section();
        }
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words) -> bool {
        let is_in = self.insert_sync(key, words).is_ok();
        end_of_section();
        is_in
    }

    #[inline]
    fn remove(&self, key: u64) -> bool {
        let was_in = self.remove_sync(&key).is_some();
        end_of_section();
        was_in
    }
}

impl Shared for Std {
    fn for_elements(elements: usize) -> Self {
        Self::new(HashMap::with_capacity_and_hasher(elements, Multiply::default()))
    }

    #[inline]
    fn get(&self, key: u64, into: &mut Words) -> bool {
        let map = self.lock().expect("nobody panics inside");
        let is_in = map.get(&key).map(|words| *into = *words).is_some();
        end_of_section();
        is_in
    }

    #[inline]
    fn put(&self, key: u64, words: Words) -> bool {
        let mut map = self.lock().expect("nobody panics inside");
        let is_new = !map.contains_key(&key);
        if is_new {
            map.insert(key, words);
        }
        end_of_section();
        is_new
    }

    #[inline]
    fn remove(&self, key: u64) -> bool {
        let mut map = self.lock().expect("nobody panics inside");
        let was_in = map.remove(&key).is_some();
        end_of_section();
        was_in
    }
}

/// A thread's way to one of them.
pub(super) struct Through<'a, M>(&'a M);

impl<M: Shared> Client for Through<'_, M> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        self.0.get(key, into)
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        self.0.put(key, words.copied().unwrap_or_default())
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        self.0.remove(key)
    }
}

/// A map behind nothing of ours.
pub(super) struct Rival<M>(std::marker::PhantomData<M>);

impl<M: Shared + 'static> Host for Rival<M> {
    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let map = M::for_elements(setting.keys() as usize);
        work(seats(setting, || Through(&map)))
    }
}
