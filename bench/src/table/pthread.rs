//! SSYNC's table with a mutex of the C library at each bucket: what a program has that links no lock of its own.

use corecast::lock::table::Bucket;

use super::guarded::{Guarded, Standalone, Stored, bucket_of};
use super::host::Setting;
use super::section::Section;
use crate::locks::Pthread;

/// See the [module](self).
pub(super) struct PthreadLocked {
    buckets: Box<[Pthread<{ libc::PTHREAD_MUTEX_NORMAL }, Bucket<Stored>>]>,
    section: Section,
}

impl Guarded for PthreadLocked {
    type Front = ();

    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        self.buckets[bucket_of(key, self.buckets.len())].holding(|bucket| self.section.ending(change(bucket)))
    }
}

impl Standalone for PthreadLocked {
    fn make(setting: &Setting<'_>) -> Self {
        let buckets = (0..setting.buckets).map(|_| Pthread::around(Bucket::default())).collect();
        Self { buckets, section: setting.section }
    }
}
