//! The locks of one variable as words in shared memory, for the shared form with more participants than
//! [a word](crate::slot) has bits for: {writer, readers}.
//!
//! The first word is the writer plus one, and each further word a bit for each of 64 readers. Only the participant that has the
//! lock of the variable's bucket sets bits and writers, and takes those of others away. Locks are given back without the
//! bucket's lock: their owner clears its own bit by one exchange.
//!
//! A requester that meets others looks at their statuses *before* it looks at the locks for good. A bit that is still there was
//! set by the attempt that the status told, as nobody else sets bits in this bucket and an attempt gives back all its locks
//! before the next one begins. So a late abort meets no later attempt here either.
//!
//! A process that is killed inside a bucket leaves nothing to repair: every store here is one word, and any of their prefixes is
//! a state of the rule.

use corecast_base::sync::{AtomicU64, Ordering};

use crate::client_set::ClientSet;
use crate::entry::Entry;
use crate::met::Met;
use crate::rule::{Claim, Reply};
use crate::status::ClientId;

/// The locks of one variable, as a participant uses them.
#[derive(Debug, Clone, Copy)]
pub struct WideSlot<'a> {
    writer: &'a AtomicU64,
    readers: &'a [AtomicU64],
    me: ClientId,
}

impl<'a> WideSlot<'a> {
    /// The locks that lie in these words, for the participant `me`: one word, and one more for each 64 participants.
    ///
    /// # Panics
    /// If there is no word.
    #[inline]
    #[must_use]
    pub fn of(words: &'a [AtomicU64], me: ClientId) -> Self {
        let (writer, readers) = words.split_first().expect("a variable has a word for its writer");
        Self { writer, readers, me }
    }

    /// Takes the read lock if nobody is in the way. With the bucket's lock.
    #[inline]
    #[must_use]
    pub fn try_read(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in free_writer: the values of the last writer are visible [wide-lock]
        let writer = self.writer.load(Ordering::Acquire);
        let is_free = writer == 0 || writer == writer_word(self.me);
        if is_free {
            set(&self.readers[word_of(self.me)], bit_of(self.me));
        }
        is_free
    }

    /// Takes the write lock if nobody is in the way. With the bucket's lock.
    #[inline]
    #[must_use]
    pub fn try_write(&self) -> bool {
        // ORDERING: Acquire, pairs with the Release in free_writer: the values of the last writer are visible [wide-lock]
        let writer = self.writer.load(Ordering::Acquire);
        let mut others = self.readers.iter().enumerate().map(|(at, readers)| {
            let mine = if at == word_of(self.me) { bit_of(self.me) } else { 0 };
            // ORDERING: Acquire, pairs with the Release in clear: their reads come before what is written next [wide-lock]
            readers.load(Ordering::Acquire) & !mine
        });
        let is_free = (writer == 0 || writer == writer_word(self.me)) && others.all(|readers| readers == 0);
        if is_free {
            // ORDERING: Relaxed, only its owner and others with the bucket's lock change it from now on
            self.writer.store(writer_word(self.me), Ordering::Relaxed);
        }
        is_free
    }

    /// Gives back this participant's locks, if they were not taken away; `is_written` where it may have the write lock.
    #[inline]
    pub fn release(&self, is_written: bool) {
        clear(&self.readers[word_of(self.me)], bit_of(self.me));
        if is_written {
            free_writer(self.writer, writer_word(self.me));
        }
    }

    /// Gives all locks of this participant back, if it has any, for the one that has ended the attempt of a dead owner. Words
    /// without a lock of it are not written.
    pub fn give_up(&self) {
        // ORDERING: Relaxed, the kernel's evidence of the owner's death comes after all that the owner has written
        let readers = self.readers[word_of(self.me)].load(Ordering::Relaxed);
        // ORDERING: Relaxed, as above
        let writer = self.writer.load(Ordering::Relaxed);
        let is_written = writer == writer_word(self.me);
        if is_written || readers & bit_of(self.me) != 0 {
            self.release(is_written);
        }
    }

    /// Applies the rule where others have locks, and writes back what it changed. With the bucket's lock. `claim` tells the
    /// attempt of a participant, `None` for a number that a stranger wrote.
    #[cold]
    pub fn decide(
        &self,
        met: &mut Met,
        claim: impl Fn(ClientId) -> Option<Claim>,
        rule: impl FnOnce(&mut Entry, &Met) -> Reply,
    ) -> Reply {
        met.look(self.entry(), claim);
        let before = met.known(self.entry());
        let mut after = before;
        let reply = rule(&mut after, met);
        self.write_back(&before, &after);
        reply
    }

    fn entry(&self) -> Entry {
        // ORDERING: Acquire, pairs with the Release in free_writer: the values of the last writer are visible [wide-lock]
        let writer = self.writer.load(Ordering::Acquire);
        let mut readers = ClientSet::default();
        for (at, word) in self.readers.iter().enumerate() {
            // ORDERING: Acquire, pairs with the Release in clear: their reads come before what is written next [wide-lock]
            readers.insert_word(at, word.load(Ordering::Acquire));
        }
        Entry { writer: writer.checked_sub(1).map(|writer| ClientId(writer as u16)), readers }
    }

    fn write_back(&self, before: &Entry, after: &Entry) {
        if before.writer != after.writer {
            if let Some(old) = before.writer {
                free_writer(self.writer, writer_word(old));
            }
            if let Some(new) = after.writer {
                // ORDERING: Relaxed, only its owner and others with the bucket's lock change it from now on
                self.writer.store(writer_word(new), Ordering::Relaxed);
            }
        }
        let (old, new) = (before.readers.words(), after.readers.words());
        for ((readers, old), new) in self.readers.iter().zip(old).zip(new) {
            if old & !new != 0 {
                clear(readers, old & !new);
            }
            if new & !old != 0 {
                set(readers, new & !old);
            }
        }
    }
}

fn word_of(client: ClientId) -> usize {
    client.index() / 64
}

fn bit_of(client: ClientId) -> u64 {
    1 << (client.index() % 64)
}

#[inline]
fn writer_word(client: ClientId) -> u64 {
    u64::from(client.0) + 1
}

#[inline]
fn set(readers: &AtomicU64, bits: u64) {
    // ORDERING: Relaxed, the bucket's lock orders it for those that look
    readers.fetch_or(bits, Ordering::Relaxed);
}

#[inline]
fn clear(readers: &AtomicU64, bits: u64) {
    // ORDERING: Release, pairs with the Acquire in try_write and entry [wide-lock]
    readers.fetch_and(!bits, Ordering::Release);
}

#[inline]
fn free_writer(word: &AtomicU64, writer: u64) {
    // ORDERING: Release, pairs with the Acquire in try_read, try_write and entry; Relaxed where another one has it [wide-lock]
    let _taken_away = word.compare_exchange(writer, 0, Ordering::Release, Ordering::Relaxed);
}
