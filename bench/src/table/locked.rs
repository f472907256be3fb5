//! SSYNC's table with any lock: a lock on lines of its own, and its bucket behind it.

use corecast::base::LINE_BYTES;
use corecast::lock::table::Bucket;
use corecast::lock::{Mutex, RawLock, Setup, Word};

use super::guarded::{Guarded, Standalone, Stored, bucket_of};
use super::host::Setting;
use super::section::Section;

/// See the [module](self).
pub(super) struct Locked<L: RawLock> {
    buckets: Box<[Mutex<Bucket<Stored>, L>]>,
    section: Section,
}

// A lock shares its lines with no keys, neither its own bucket's nor another's.
const _: () = assert!(
    align_of::<Mutex<Bucket<Stored>, Word>>() == 2 * LINE_BYTES
        && size_of::<Mutex<Bucket<Stored>, Word>>() == 6 * LINE_BYTES
);

impl<L: RawLock> Guarded for Locked<L> {
    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        self.buckets[bucket_of(key, self.buckets.len())].with(|bucket| self.section.ending(change(bucket)))
    }
}

impl<L: RawLock> Standalone for Locked<L> {
    fn make(setting: &Setting<'_>) -> Self {
        let setup = Setup::of_threads(setting.threads);
        let buckets = (0..setting.buckets).map(|_| Mutex::for_setup(Bucket::default(), &setup)).collect();
        Self { buckets, section: setting.section }
    }
}
