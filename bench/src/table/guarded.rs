//! Buckets of SSYNC's layout behind a guard that runs one closure at a time on each, and a client that works through it.

use corecast::lock::table::Bucket;

use super::host::{Client, Host, Setting, Words, Work, seats};
use corecast_race::failure::Failure;

/// On a line of its own, as in the original.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Payload(pub(super) Words);

/// The value of a key in a bucket; empty places have none.
pub(super) type Stored = Option<Box<Payload>>;

/// Buckets that closures are let at.
pub(super) trait Guarded: Sync {
    /// What lies before the words of a node: nothing, unless nodes shall not begin on a line.
    type Front: Default;

    /// Calls `change` on the key's bucket, alone.
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored, Self::Front>) -> R + Send) -> R;

    /// Calls `look` on the key's bucket, alone unless others look, too.
    #[inline]
    fn read<R: Send>(&self, key: u64, look: impl FnOnce(&Bucket<Stored, Self::Front>) -> R + Send) -> R {
        self.write(key, |bucket| look(bucket))
    }
}

/// The bucket of a key, of this number of buckets.
#[inline]
pub(super) fn bucket_of(key: u64, buckets: usize) -> usize {
    (key % buckets as u64) as usize
}

/// Buckets that need no thread of their own.
pub(super) trait Standalone: Guarded {
    fn make(setting: &Setting<'_>) -> Self;
}

impl<G: Standalone + 'static> Host for G {
    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let guarded = G::make(setting);
        work(seats(setting, || Worker::new(&guarded)))
    }
}

/// A thread's way to them, and the buffers that are its own.
pub(super) struct Worker<'a, G> {
    guarded: &'a G,
    free: Vec<Stored>,
}

impl<'a, G> Worker<'a, G> {
    pub(super) fn new(guarded: &'a G) -> Self {
        Self { guarded, free: Vec::new() }
    }
}

impl<G: Guarded> Client for Worker<'_, G> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        let copy = |bucket: &Bucket<Stored, G::Front>| {
            bucket.get(key).and_then(Option::as_ref).map(|payload| *into = payload.0).is_some()
        };
        self.guarded.read(key, copy)
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        let mut payload = self.free.pop().flatten().unwrap_or_default();
        if let Some(words) = words {
            payload.0 = *words;
        }
        let refused = self.guarded.write(key, |bucket| bucket.put(key, Some(payload)).err().flatten());
        let is_in = refused.is_none();
        if !is_in {
            self.free.push(refused);
        }
        is_in
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        let removed = self.guarded.write(key, |bucket| bucket.remove(key).flatten());
        let was_in = removed.is_some();
        if was_in {
            self.free.push(removed);
        }
        was_in
    }
}
