//! SSYNC's table with a reader-writer lock at each bucket: gets are readers.

use corecast::lock::table::Bucket;
use corecast::lock::{RawRwLock, RwLock, Setup};

use super::guarded::{Guarded, Standalone, Stored, bucket_of};
use super::host::Setting;
use super::section::Section;

/// See the [module](self).
pub(super) struct Readers<L> {
    buckets: Box<[RwLock<Bucket<Stored>, L>]>,
    section: Section,
}

impl<L: RawRwLock> Guarded for Readers<L> {
    type Front = ();

    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        self.buckets[bucket_of(key, self.buckets.len())].with_write(|bucket| self.section.ending(change(bucket)))
    }

    #[inline]
    fn read<R: Send>(&self, key: u64, look: impl FnOnce(&Bucket<Stored>) -> R + Send) -> R {
        self.buckets[bucket_of(key, self.buckets.len())].with_read(|bucket| self.section.ending(look(bucket)))
    }
}

impl<L: RawRwLock> Standalone for Readers<L> {
    fn make(setting: &Setting<'_>) -> Self {
        let setup = Setup::of_threads(setting.threads);
        let buckets = (0..setting.buckets).map(|_| RwLock::for_setup(Bucket::default(), &setup)).collect();
        Self { buckets, section: setting.section }
    }
}
