//! A line of the table of [`Compact`](super::Compact): two entries that one thread writes and any number of threads read
//! without locks.
//!
//! **How it works.** Eight words: the *state*, two entries of a key and two words of value each, and the number of the next
//! line of the chain. The state holds a sequence number in its upper 48 bits, odd while the writer is inside, and a tag of 8
//! bits for each entry: 0 while it is empty, and else some bits of the key's hash with the top bit set. An entry that has a
//! key keeps it for ever, so only values can be torn: a reader that found its key looks at the state once more, and begins
//! again if the writer was there meanwhile. A reader whose key has no tag here was right when it loaded the state, whatever
//! happened since.
//!
//! **Progress:** readers never write, and wait only for the two stores of a writer that is inside the line. The writer never
//! waits. **Memory ordering:** what happened before a write is visible to a thread that has read its value.
//! Source: C. Lameter, Effective Synchronization on Linux/NUMA Systems, 2005, for the lock; H. Boehm, Can Seqlocks Get Along with
//! Programming Language Memory Models?, 2012, for the orderings.

use corecast_base::sync::{AtomicU64, Ordering, fence};
use corecast_base::wait::Spinner;

/// Entries of a line.
pub(super) const ENTRIES: usize = 2;

/// The bits of the state below the sequence number.
const TAG_BITS: u32 = 8;
const SEQUENCE_ONE: u64 = 1 << (TAG_BITS * ENTRIES as u32);

/// The two words of a value.
pub(super) type Words = [u64; 2];

/// The tag of a key with this hash; never 0.
#[inline]
pub(super) fn tag_of(hash: u64) -> u64 {
    hash >> (u64::BITS - TAG_BITS) | 1 << (TAG_BITS - 1)
}

/// A line. The applier of the replica writes all of it; any thread reads it.
#[derive(Debug, Default)]
#[repr(C, align(64))]
pub(super) struct Bucket {
    /// The sequence number and the tags.
    state: AtomicU64,
    /// Keys and values, each written while the number is odd; a key once, before its tag is there.
    entries: [Entry; ENTRIES],
    /// The number of the next line of the chain, 0 for none; written once, when both entries are taken.
    next: AtomicU64,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Bucket>() == 64);

#[derive(Debug, Default)]
#[repr(C)]
struct Entry {
    key: AtomicU64,
    value: [AtomicU64; 2],
}

impl Entry {
    #[inline]
    fn key(&self) -> u64 {
        // ORDERING: Relaxed, written once before the tag, which the caller has loaded with Acquire
        self.key.load(Ordering::Relaxed)
    }

    #[inline]
    fn words(&self) -> Words {
        // ORDERING: Relaxed, ordered by the state and the fence behind it
        [self.value[0].load(Ordering::Relaxed), self.value[1].load(Ordering::Relaxed)]
    }
}

/// The outcome of a look for a key in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Its value.
    Value(Words),
    /// It is not here; the number of the next line, 0 if there is none.
    Elsewhere(u64),
}

impl Bucket {
    /// Looks for a key. By any thread.
    #[inline]
    pub(super) fn find(&self, key: u64, tag: u64) -> Found {
        loop {
            // ORDERING: Acquire, pairs with the Release in write: entries are at least as late as the state [bucket-even]
            let state = self.state.load(Ordering::Acquire);
            let Some(entry) = self.entry_of(key, tag, state) else { return Found::Elsewhere(self.next()) };
            if state & SEQUENCE_ONE == 0 {
                let words = entry.words();
                // ORDERING: Acquire, pairs with the Release fence in write: the state is at least as late as the words
                // [bucket-odd]
                fence(Ordering::Acquire);
                // ORDERING: Relaxed, the fence orders it after the words
                if self.state.load(Ordering::Relaxed) == state {
                    return Found::Value(words);
                }
            }
            self.await_writer();
        }
    }

    /// The entry that has this key, by the tags of the state.
    #[inline]
    fn entry_of(&self, key: u64, tag: u64, state: u64) -> Option<&Entry> {
        let has_it = |at: usize| state >> (TAG_BITS * at as u32) & 0xff == tag && self.entries[at].key() == key;
        if has_it(0) {
            return Some(&self.entries[0]);
        }
        if has_it(1) { Some(&self.entries[1]) } else { None }
    }

    #[cold]
    fn await_writer(&self) {
        let mut spinner = Spinner::new();
        // ORDERING: Relaxed, the caller loads it again
        while self.state.load(Ordering::Relaxed) & SEQUENCE_ONE != 0 {
            spinner.pause();
        }
    }

    /// The number of the next line of the chain; 0 if there is none.
    #[inline]
    pub(super) fn next(&self) -> u64 {
        // ORDERING: Relaxed, lines exist from the beginning: a number alone leads to one, whose own state says what is in it
        self.next.load(Ordering::Relaxed)
    }

    /// By the writer: names the next line of the chain.
    pub(super) fn set_next(&self, next: u64) {
        // ORDERING: Relaxed, the line that it leads to exists already, and its own state says what is in it
        self.next.store(next, Ordering::Relaxed);
    }

    /// By the writer: the place of this key, or the first one that is empty; `None` if others have both.
    pub(super) fn place_of(&self, key: u64, tag: u64) -> Option<usize> {
        // ORDERING: Relaxed, only this thread writes it
        let state = self.state.load(Ordering::Relaxed);
        let is_its = |&at: &usize| {
            let here = state >> (TAG_BITS * at as u32) & 0xff;
            here == 0 || here == tag && self.entries[at].key() == key
        };
        (0..ENTRIES).find(is_its)
    }

    /// By the writer: gives the key at this place a value. Returns the one it had.
    pub(super) fn write(&self, at: usize, (key, tag): (u64, u64), words: Words) -> Option<Words> {
        // ORDERING: Relaxed, only this thread writes it
        let state = self.state.load(Ordering::Relaxed);
        let is_new = state >> (TAG_BITS * at as u32) & 0xff == 0;
        let entry = &self.entries[at];
        let old = if is_new { None } else { Some(entry.words()) };
        // ORDERING: Relaxed, the fence orders it before the words
        self.state.store(state + SEQUENCE_ONE, Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire fence in find: a reader of one of these words sees that the writer is here
        // [bucket-odd]
        fence(Ordering::Release);
        if is_new {
            // ORDERING: Relaxed, the tag that leads readers to it follows with Release
            entry.key.store(key, Ordering::Relaxed);
        }
        for (word, value) in entry.value.iter().zip(words) {
            // ORDERING: Relaxed, ordered by the state and the fence before it
            word.store(value, Ordering::Relaxed);
        }
        let tags = if is_new { tag << (TAG_BITS * at as u32) } else { 0 };
        // ORDERING: Release, pairs with the Acquire in find [bucket-even]
        self.state.store((state + 2 * SEQUENCE_ONE) | tags, Ordering::Release);
        old
    }

    /// By the writer: the entries, in the order in which they came.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, Words)> {
        // ORDERING: Relaxed, only this thread writes it
        let state = self.state.load(Ordering::Relaxed);
        let taken = (0..ENTRIES).filter(move |at| state >> (TAG_BITS * *at as u32) & 0xff != 0);
        taken.map(|at| (self.entries[at].key(), self.entries[at].words()))
    }
}
