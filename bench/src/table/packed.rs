//! corecast's own table as users get it, with 64 bytes in place as the value, as in the rival maps.

use corecast::lock::{RawLock, Setup, Table};

use super::host::{Client, Host, Setting, Words, Work, seats};
use super::section::Section;
use corecast_race::failure::Failure;

/// See the [module](self).
pub(super) struct Packed<L>(std::marker::PhantomData<L>);

impl<L: RawLock + 'static> Host for Packed<L> {
    fn with(setting: &Setting<'_>, work: Work<'_>) -> Result<(), Failure> {
        let table: Table<Words, L> = Table::for_setup(setting.buckets, &Setup::of_threads(setting.threads));
        work(seats(setting, || PackedClient { table: &table, section: setting.section }))
    }
}

/// A thread's way to it.
pub(super) struct PackedClient<'a, L: RawLock> {
    table: &'a Table<Words, L>,
    section: Section,
}

impl<L: RawLock> Client for PackedClient<'_, L> {
    #[inline]
    fn get(&mut self, key: u64, into: &mut Words) -> bool {
        let section = self.section;
        self.table.with(key, |entry| {
            let is_in = entry.get().map(|words| *into = *words).is_some();
            section.end();
            is_in
        })
    }

    #[inline]
    fn put(&mut self, key: u64, words: Option<&Words>) -> bool {
        let words = words.copied().unwrap_or_default();
        let section = self.section;
        self.table.with(key, |mut entry| {
            let is_new = entry.put(words).is_ok();
            section.end();
            is_new
        })
    }

    #[inline]
    fn remove(&mut self, key: u64) -> bool {
        let section = self.section;
        self.table.with(key, |mut entry| {
            let was_in = entry.remove().is_some();
            section.end();
            was_in
        })
    }
}
