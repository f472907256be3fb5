//! SSYNC's table with a `Combine` at each bucket: the thread that has a bucket also runs the operations of the waiting threads.

use corecast::lock::table::Bucket;
use corecast::lock::{Combine, Setup};

use super::guarded::{Guarded, Standalone, Stored, bucket_of, ending_section};
use super::host::Setting;

/// See the [module](self).
pub(super) struct Combined(Box<[Combine<Bucket<Stored>>]>);

impl Guarded for Combined {
    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored>) -> R + Send) -> R {
        self.0[bucket_of(key, self.0.len())].run(|bucket| ending_section(change(bucket)))
    }
}

impl Standalone for Combined {
    fn make(setting: &Setting<'_>) -> Self {
        let setup = Setup::of_threads(setting.threads);
        Self((0..setting.buckets).map(|_| Combine::for_setup(Bucket::default(), &setup)).collect())
    }
}
