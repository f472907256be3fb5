//! SSYNC's table with a reader-writer lock at each bucket: gets are readers.

use corecast::lock::table::Bucket;
use corecast::lock::{RawRwLock, RwLock, Setup};

use super::guarded::{Guarded, Standalone, Stored, bucket_of, ending_section};
use super::host::Setting;

/// See the [module](self).
pub(super) struct Readers<L>(Box<[RwLock<Bucket<Stored>, L>]>);

impl<L: RawRwLock> Guarded for Readers<L> {
    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        self.0[bucket_of(key, self.0.len())].with_write(|bucket| ending_section(change(bucket)))
    }

    #[inline]
    fn read<R: Send>(&self, key: u64, look: impl FnOnce(&Bucket<Stored>) -> R + Send) -> R {
        self.0[bucket_of(key, self.0.len())].with_read(|bucket| ending_section(look(bucket)))
    }
}

impl<L: RawRwLock> Standalone for Readers<L> {
    fn make(setting: &Setting<'_>) -> Self {
        let setup = Setup::of_threads(setting.threads);
        Self((0..setting.buckets).map(|_| RwLock::for_setup(Bucket::default(), &setup)).collect())
    }
}
