//! [`Table`]: records by the address of their mutex.
//!
//! Lists of records whose addresses fall together, in levels of which each has more lists than the one before. When the last
//! level is full, another one is opened, and new records go there: no record ever moves, so that each list has a lock for
//! itself, and a child of `fork` finds all of them whole. A look goes through all levels, which are few.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr;
use std::slice;

use corecast_base::CacheLine;
use corecast_base::sync::{AtomicPtr, AtomicUsize, Ordering};

use super::{Record, make};
use crate::fork::ForkLock;

/// Lists of the first level.
const LISTS: usize = 1 << 10;
/// Lists of a level for each one of the level before.
const GROWTH: usize = 8;
const LEVELS: usize = 5;
/// Records for each list of a level, before another level is opened.
const LOAD: usize = 4;
/// Records in use before any are looked for that were left.
const FIRST_SWEEP: usize = 4096;

/// A list of records. Zeroes are one that is empty.
pub(super) struct List {
    lock: ForkLock,
    /// Written under the lock.
    first: AtomicPtr<Record>,
}

struct Level {
    /// The number of its lists.
    len: usize,
    /// Null before it is opened. Written once.
    lists: AtomicPtr<List>,
    /// Records that were put here, less those that were taken out.
    held: AtomicUsize,
}

pub(super) struct Table {
    levels: [Level; LEVELS],
    free: CacheLine<List>,
    /// Records in use at which those that were left are looked for.
    sweep_at: AtomicUsize,
    /// Held by the thread that does.
    pub(super) sweeping: ForkLock,
}

impl List {
    const fn new() -> Self {
        Self { lock: ForkLock::new(), first: AtomicPtr::new(ptr::null_mut()) }
    }

    fn first(&self) -> *mut Record {
        // ORDERING: Relaxed, under the lock
        self.first.load(Ordering::Relaxed)
    }

    /// Its records. Under the lock.
    fn records(&self) -> impl Iterator<Item = &'static Record> {
        let record = |at: *mut Record| {
            // SAFETY: null, or a record, which is never unmapped.
            unsafe { at.as_ref() }
        };
        std::iter::successors(record(self.first()), move |last| record(last.next()))
    }

    fn push(&self, record: &'static Record) {
        // ORDERING: Relaxed, under the lock
        record.next.store(self.first(), Ordering::Relaxed);
        // ORDERING: Relaxed, under the lock
        self.first.store(ptr::from_ref(record).cast_mut(), Ordering::Relaxed);
    }

    /// Removes a record that is here.
    fn remove(&self, record: &Record) {
        let is_before = |before: &&Record| ptr::eq(before.next(), record);
        // The first one is looked at first: so a list that is a stack is not searched.
        let place = match ptr::eq(self.first(), record) {
            true => &self.first,
            false => &self.records().find(is_before).expect("the record is here").next,
        };
        // ORDERING: Relaxed, under the lock
        place.store(record.next(), Ordering::Relaxed);
    }

    /// Calls `tell` for each record.
    pub(super) fn each(&self, tell: impl FnMut(&'static Record)) {
        self.lock.with(|| self.records().for_each(tell));
    }
}

impl Table {
    pub(super) const fn new() -> Self {
        Self {
            levels: [Level::new(0), Level::new(1), Level::new(2), Level::new(3), Level::new(4)],
            free: CacheLine::new(List::new()),
            sweep_at: AtomicUsize::new(FIRST_SWEEP),
            sweeping: ForkLock::new(),
        }
    }

    /// Frees the record of the mutex at this address, if there is one.
    ///
    /// # Safety
    /// - No thread uses that mutex any more.
    pub(super) unsafe fn free(&'static self, address: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.free_if(address, |_| true) };
    }

    /// Frees the record of the mutex at this address, if there is one and `is_left` is true of it. `is_left` is called while no
    /// other thread can get that record.
    ///
    /// # Safety
    /// - Where `is_left` is true, no thread uses that mutex any more.
    pub(super) unsafe fn free_if(&'static self, address: usize, is_left: impl Fn(&Record) -> bool) {
        let take = |level: &Level| {
            let list = level.list(address)?;
            list.lock.with(|| {
                let record = list.records().find(|record| record.address() == address && is_left(record))?;
                list.remove(record);
                record.set_address(0);
                // ORDERING: Relaxed, a count that orders nothing
                level.held.fetch_sub(1, Ordering::Relaxed);
                Some(record)
            })
        };
        if let Some(record) = self.levels.iter().rev().find_map(take) {
            // SAFETY: the caller's promise.
            unsafe { record.end() };
            self.free.lock.with(|| self.free.push(record));
        }
    }

    /// Records in use.
    pub(super) fn in_use(&self) -> usize {
        // ORDERING: Relaxed, counts that order nothing
        self.levels.iter().map(|level| level.held.load(Ordering::Relaxed)).sum()
    }

    /// True if it is time to look for records that were left.
    pub(super) fn is_due(&self) -> bool {
        // ORDERING: Relaxed, a number that orders nothing
        self.in_use() >= self.sweep_at.load(Ordering::Relaxed)
    }

    /// Sets when records are looked for again that were left: when there are twice as many.
    pub(super) fn sweep_later(&self) {
        // ORDERING: Relaxed, a number that orders nothing
        self.sweep_at.store(FIRST_SWEEP.max(2 * self.in_use()), Ordering::Relaxed);
    }

    /// All lists.
    pub(super) fn lists(&self) -> impl Iterator<Item = &'static List> {
        self.levels.iter().filter_map(Level::lists).flatten()
    }

    /// The record of the mutex at this address, if there is one.
    pub(super) fn find(&self, address: usize) -> Option<&'static Record> {
        let look = |level: &Level| {
            let list = level.list(address)?;
            list.lock.with(|| list.records().find(|record| record.address() == address))
        };
        self.levels.iter().rev().find_map(look)
    }

    /// A record for the mutex at this address, which has none. One thread at a time asks for an address.
    #[cold]
    pub(super) fn add(&self, address: usize) -> &'static Record {
        let record = self.take_free().unwrap_or_else(make);
        record.set_address(address);
        let (level, list) = self.place(address);
        // ORDERING: Relaxed, a count that orders nothing
        level.held.fetch_add(1, Ordering::Relaxed);
        list.lock.with(|| list.push(record));
        record
    }

    fn take_free(&self) -> Option<&'static Record> {
        self.free.lock.with(|| {
            let record = self.free.records().next()?;
            self.free.remove(record);
            Some(record)
        })
    }

    /// Where a new record goes.
    fn place(&self, address: usize) -> (&Level, &'static List) {
        let last = &self.levels[LEVELS - 1];
        let level = self.levels.iter().find(|level| level.has_room()).unwrap_or(last);
        if level.lists().is_none() {
            level.open();
        }
        (level, level.list(address).expect("the level was opened"))
    }
}

impl Level {
    const fn new(number: u32) -> Self {
        let len = LISTS * GROWTH.pow(number);
        Self { len, lists: AtomicPtr::new(ptr::null_mut()), held: AtomicUsize::new(0) }
    }

    fn has_room(&self) -> bool {
        // ORDERING: Relaxed, a count that orders nothing
        self.held.load(Ordering::Relaxed) < LOAD * self.len
    }

    /// The list of an address; `None` before the level is opened.
    fn list(&self, address: usize) -> Option<&'static List> {
        Some(list_of(self.lists()?, address))
    }

    fn lists(&self) -> Option<&'static [List]> {
        // ORDERING: Acquire, pairs with the Release in open [level-open]
        let lists = self.lists.load(Ordering::Acquire);
        // SAFETY: null, or that many lists, which are never freed.
        (!lists.is_null()).then(|| unsafe { slice::from_raw_parts(lists, self.len) })
    }

    /// Opens the level, if no other thread does.
    #[cold]
    fn open(&self) {
        let layout = Layout::array::<List>(self.len).expect("lists of the last level are some megabytes");
        // SAFETY: a level has lists, and they have a size.
        let lists = unsafe { alloc_zeroed(layout) };
        if lists.is_null() {
            handle_alloc_error(layout);
        }
        // ORDERING: Release, pairs with the Acquire in lists; Relaxed where another thread was first [level-open]
        let opened = self.lists.compare_exchange(ptr::null_mut(), lists.cast(), Ordering::Release, Ordering::Relaxed);
        if opened.is_err() {
            // SAFETY: allocated above, and seen by nobody else.
            unsafe { dealloc(lists, layout) };
        }
    }
}

fn list_of(lists: &'static [List], address: usize) -> &'static List {
    // Spreads neighbours: D. Knuth, The Art of Computer Programming, volume 3, multiplicative hashing.
    let hash = (address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
    &lists[hash as usize % lists.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> &'static Table {
        Box::leak(Box::new(Table::new()))
    }

    #[test]
    fn an_address_keeps_its_record_until_it_is_freed() {
        let table = table();
        let [a, b] = [table.add(0x1000), table.add(0x2000)];
        assert!(table.find(0x1000).is_some_and(|found| ptr::eq(found, a)) && !ptr::eq(a, b));
        // SAFETY: nobody uses it.
        unsafe { table.free(0x1000) };
        assert_eq!((a.address(), b.address(), table.in_use()), (0, 0x2000, 1));
        assert!(ptr::eq(table.add(0x3000), a), "a freed record serves another mutex");
        // SAFETY: nobody uses it.
        unsafe { table.free(0x4000) };
        // SAFETY: nobody uses it if it is left, which it is not.
        unsafe { table.free_if(0x2000, |_| false) };
        assert_eq!((b.address(), table.in_use()), (0x2000, 2));
    }

    #[test]
    fn lists_stay_short_and_all_addresses_are_found() {
        let table = table();
        let addresses = || (1..=50_000_usize).map(|number| number * 40);
        let records: Vec<_> = addresses().map(|address| table.add(address)).collect();
        assert!(
            addresses()
                .zip(&records)
                .all(|(address, &record)| table.find(address).is_some_and(|found| ptr::eq(found, record)))
        );
        let longest = table.lists().map(|list| list.records().count()).max();
        assert!(longest.is_some_and(|longest| longest <= 8 * LOAD), "{longest:?}");
        // SAFETY: nobody uses them.
        addresses().for_each(|address| unsafe { table.free(address) });
        assert_eq!(table.in_use(), 0);
    }
}
