//! SSYNC's table with any lock: a lock on lines of its own, and its bucket behind it.

use corecast::base::LINE_BYTES;
use corecast::lock::table::Bucket;
use corecast::lock::{Mutex, RawLock, Setup, Word};

use super::guarded::{Guarded, Standalone, Stored, bucket_of};
use super::host::Setting;
use super::section::Section;

/// Before the words of a node that does not begin on a line: where the C library's allocator puts one that asks for nothing.
pub(super) type Misaligned = [u64; 2];

/// See the [module](self). With [`Misaligned`] its nodes begin 16 bytes behind a line.
pub(super) struct Locked<L: RawLock, F: Default = ()> {
    buckets: Box<[Mutex<Bucket<Stored, F>, L>]>,
    section: Section,
}

// A lock shares its lines with no keys, neither its own bucket's nor another's.
const _: () = assert!(
    align_of::<Mutex<Bucket<Stored>, Word>>() == 2 * LINE_BYTES
        && size_of::<Mutex<Bucket<Stored>, Word>>() == 6 * LINE_BYTES
);

impl<L: RawLock, F: Default + Send> Guarded for Locked<L, F> {
    type Front = F;

    #[inline]
    fn write<R: Send>(&self, key: u64, change: impl FnOnce(&mut Bucket<Stored, F>) -> R + Send) -> R {
        self.buckets[bucket_of(key, self.buckets.len())].with(|bucket| self.section.ending(change(bucket)))
    }
}

impl<L: RawLock, F: Default + Send> Standalone for Locked<L, F> {
    fn make(setting: &Setting<'_>) -> Self {
        let setup = Setup::of_threads(setting.threads);
        let buckets = (0..setting.buckets).map(|_| Mutex::for_setup(Bucket::default(), &setup)).collect();
        Self { buckets, section: setting.section }
    }
}
