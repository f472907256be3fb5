//! SSYNC's table with any lock: a lock on lines of its own and a bucket of the original's layout behind it.

use corecast::base::LINE_BYTES;
use corecast::base::sync::{Ordering, fence};
use corecast::lock::table::Bucket;
use corecast::lock::{Mutex, RawLock, Setup, Word};

use super::host::{Client, Host, Seat, Setting, Words, seats};
use crate::failure::Failure;

/// On a line of its own, as in the original.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Payload(pub(super) Words);

/// What the table keeps of a key; empty places have none.
pub(super) type Stored = Option<Box<Payload>>;

/// The experiment's critical section ends so, with every contender that has one.
#[inline(always)]
pub(super) fn end_of_section() {
    // ORDERING: SeqCst, pairs with itself in other threads; no outcome is forbidden by it that matters here, as it stands for
    // what the original's critical section costs [section-end]
    fence(Ordering::SeqCst);
}

/// See the [module](self).
pub(super) struct Locked<L>(std::marker::PhantomData<L>);

impl<L: RawLock + 'static> Host for Locked<L> {
    type Client<'a> = LockedClient<'a, L>;

    fn with<R>(
        setting: &Setting<'_>,
        work: impl for<'a> FnOnce(Vec<Seat<Self::Client<'a>>>) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        let setup = Setup::of_threads(setting.threads);
        let buckets: Vec<_> = (0..setting.buckets).map(|_| Mutex::for_setup(Bucket::default(), &setup)).collect();
        work(seats(setting, || LockedClient { buckets: &buckets, free: Vec::new() }))
    }
}

/// A thread's way to it, and the buffers that are its own.
pub(super) struct LockedClient<'a, L> {
    buckets: &'a [Mutex<Bucket<Stored>, L>],
    free: Vec<Stored>,
}

impl<L: RawLock> LockedClient<'_, L> {
    #[inline]
    fn with<R>(&self, key: u64, use_it: impl FnOnce(&mut Bucket<Stored>) -> R) -> R {
        self.buckets[(key % self.buckets.len() as u64) as usize].with(use_it)
    }
}

// A lock shares its lines with no keys, neither its own bucket's nor another's.
const _: () = assert!(
    align_of::<Mutex<Bucket<Stored>, Word>>() == 2 * LINE_BYTES
        && size_of::<Mutex<Bucket<Stored>, Word>>() == 6 * LINE_BYTES
);

impl<L: RawLock> Client for LockedClient<'_, L> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        self.with(key, |bucket| {
            let found = bucket.get(key).and_then(Option::as_ref).map(|payload| *into = payload.0).is_some();
            end_of_section();
            found
        })
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        let mut payload = self.free.pop().flatten().unwrap_or_default();
        if let Some(words) = words {
            payload.0 = *words;
        }
        let refused = self.with(key, |bucket| {
            let refused = bucket.put(key, Some(payload)).err().flatten();
            end_of_section();
            refused
        });
        let is_in = refused.is_none();
        if !is_in {
            self.free.push(refused);
        }
        is_in
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        let removed = self.with(key, |bucket| {
            let removed = bucket.remove(key).flatten();
            end_of_section();
            removed
        });
        let was_in = removed.is_some();
        if was_in {
            self.free.push(removed);
        }
        was_in
    }
}
