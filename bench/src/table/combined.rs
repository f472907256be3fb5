//! SSYNC's table with a `Combine` at each bucket: the thread that has a bucket also runs the operations of the waiting threads.

use corecast::lock::table::Bucket;
use corecast::lock::{Combine, Setup};

use super::guarded::{Guarded, Standalone, Stored, bucket_of};
use super::host::Setting;
use super::section::Section;

/// See the [module](self).
pub(super) struct Combined {
    buckets: Box<[Combine<Bucket<Stored>>]>,
    section: Section,
}

impl Guarded for Combined {
    type Front = ();

    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        self.buckets[bucket_of(key, self.buckets.len())].run(|bucket| self.section.ending(change(bucket)))
    }
}

impl Standalone for Combined {
    fn make(setting: &Setting<'_>) -> Self {
        let setup = Setup::of_threads(setting.threads);
        let buckets = (0..setting.buckets).map(|_| Combine::for_setup(Bucket::default(), &setup)).collect();
        Self { buckets, section: setting.section }
    }
}
