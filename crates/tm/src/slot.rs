//! The locks of one variable as one word in shared memory, for the shared form: a bit for each of 62 participants, a mark of
//! writing, and a mark of a decision under way.
//!
//! | bits | meaning | set by | cleared by |
//! |---|---|---|---|
//! | 0 to 61 | the participant holds a lock: the write lock if `WRITTEN` is set, else a read lock | itself | itself; whoever takes its lock away |
//! | 62, `WRITTEN` | the only holder has the write lock | that holder | as above |
//! | 63, `DECIDING` | a participant with the lock of the variable's bucket decides a conflict | that participant | itself; a writer that leaves after its commit |
//!
//! Where nobody is in the way a lock costs one exchange of the word, and giving it back one more, or a plain store after a
//! commit: the write lock of an attempt that persists is taken away by nobody. More participants need
//! [`WideSlot`](crate::wide_slot::WideSlot), whose every request takes the lock of the bucket.
//!
//! A requester that meets others takes the bucket's lock and sets `DECIDING`: from then on nobody else takes a lock of this
//! variable, and holders only leave. It looks at the statuses of the holders, and then at the word for good. A bit that is still
//! there was set by the attempt that the status told, as an attempt gives back all its locks before the next one begins. So a
//! late abort meets no later attempt here either. The requester writes the outcome down by an exchange that fails if the mark is
//! gone: then a writer has left, the word may belong to others already, and the answer is to ask again.
//!
//! The bits of a participant that was killed are cleared before another process may take its place: that one goes on with the
//! same bit, and would take what it finds for its own lock.
//!
//! A process that is killed while it decides leaves the mark. The next requester that sees it takes the bucket's lock, which
//! says that nobody decides any more, and goes on from there.
//!
//! **Progress:** lock-free where nobody is in the way; else as the lock of the bucket.

use corecast_base::sync::{AtomicU64, Ordering};

use crate::client_set::ClientSet;
use crate::entry::Entry;
use crate::met::Met;
use crate::rule::{Claim, Reply};
use crate::status::ClientId;

/// The most participants whose locks fit in a word. Their numbers are below it.
pub const MOST_HOLDERS: usize = 62;
const WRITTEN: u64 = 1 << 62;
const DECIDING: u64 = 1 << 63;
const HOLDERS: u64 = WRITTEN - 1;

/// The locks of one variable, as a participant uses them.
#[derive(Debug, Clone, Copy)]
pub struct Slot<'a> {
    word: &'a AtomicU64,
    /// The bit of this participant.
    mine: u64,
}

impl<'a> Slot<'a> {
    /// The locks that lie in this word, for the participant `me`, whose number is below [`MOST_HOLDERS`].
    #[inline]
    #[must_use]
    pub fn of(word: &'a AtomicU64, me: ClientId) -> Self {
        Self { word, mine: bit_of(me) }
    }

    /// Takes the read lock if nobody is in the way.
    #[inline]
    #[must_use]
    pub fn try_read(self) -> bool {
        // Most variables are free: the first exchange says so, and fetches the line once.
        let mut seen = 0;
        loop {
            if seen & self.mine == 0 && seen & (WRITTEN | DECIDING) != 0 {
                return false;
            }
            if seen & self.mine != 0 {
                return true;
            }
            match self.exchange(seen, seen | self.mine) {
                Ok(_) => return true,
                Err(now) => seen = now,
            }
        }
    }

    /// Takes the write lock if nobody is in the way.
    #[inline]
    #[must_use]
    pub fn try_write(self) -> bool {
        let mut seen = 0;
        loop {
            match self.exchange(seen, self.mine | WRITTEN) {
                Ok(_) => return true,
                // Its own read lock.
                Err(now) if now == self.mine => seen = now,
                Err(now) => return now == self.mine | WRITTEN,
            }
        }
    }

    #[inline]
    fn exchange(self, from: u64, to: u64) -> Result<u64, u64> {
        // ORDERING: AcqRel, pairs with the Release in leave, give_up, leave_written and write_down: the values of the last
        // ORDERING: AcqRel writer are visible, and reads of others come before what is written next; and with the Acquire in
        // ORDERING: AcqRel decide: one that sees this bit sees the status of the attempt that set it, or a later one;
        // ORDERING: Relaxed where it fails, nothing was taken [packed-lock]
        self.word.compare_exchange(from, to, Ordering::AcqRel, Ordering::Relaxed)
    }

    /// Gives the read lock back, if it was not taken away.
    #[inline]
    pub fn leave(self) {
        // ORDERING: Release, pairs with the Acquire in exchange and decide: reads come before what is written next [packed-lock]
        self.word.fetch_and(!self.mine, Ordering::Release);
    }

    /// Gives all locks back, if they were not taken away: for their owner, and for the one that has ended the attempt of a dead
    /// owner.
    pub fn give_up(self) {
        // ORDERING: Relaxed, a first guess; the kernel's evidence of an owner's death comes after all that the owner has written
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen & self.mine != 0 {
            let left = if seen & WRITTEN == 0 { seen & !self.mine } else { seen & DECIDING };
            // ORDERING: Release, pairs with the Acquire in exchange and decide: what was read comes before what is written next;
            // ORDERING: Relaxed where it fails, it is tried anew [packed-lock]
            match self.word.compare_exchange(seen, left, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => seen = now,
            }
        }
    }

    /// Gives the write lock back after the values of the attempt were stored, while its status still says that it persists:
    /// nobody takes the lock away meanwhile, so that a plain store will do. It may take the mark of one that decides along.
    #[inline]
    pub fn leave_written(self) {
        // ORDERING: Release, pairs with the Acquire in exchange and decide: the next holder sees the values [packed-lock]
        self.word.store(0, Ordering::Release);
    }

    /// Applies the rule where others have locks, and writes down what it changed. With the bucket's lock. `claim` tells the
    /// attempt of a participant, `None` for a number that a stranger wrote.
    #[cold]
    pub fn decide(
        self,
        met: &mut Met,
        claim: impl Fn(ClientId) -> Option<Claim>,
        rule: impl FnOnce(&mut Entry, &Met) -> Reply,
    ) -> Reply {
        // ORDERING: Acquire, pairs with the AcqRel in exchange: statuses that are looked at next are not older than the bits. A
        // ORDERING: Acquire holder with an older one would be taken for one that has ended [packed-lock]
        let first = self.word.fetch_or(DECIDING, Ordering::Acquire);
        met.look(entry_of(first), claim);
        // ORDERING: Acquire, pairs with the Release in leave, give_up, leave_written and write_down, as in
        // ORDERING: Acquire of exchange [packed-lock]
        let seen = self.word.load(Ordering::Acquire);
        if seen & DECIDING == 0 {
            return Reply::Retry;
        }
        let mut entry = met.known(entry_of(seen));
        let reply = rule(&mut entry, met);
        self.write_down(seen, word_of(&entry), reply)
    }

    /// Replaces the word that was `seen` by the outcome of a decision, without those that have left meanwhile.
    fn write_down(self, mut seen: u64, outcome: u64, reply: Reply) -> Reply {
        loop {
            if seen & DECIDING == 0 {
                // A writer has left: whatever was granted, others may have the lock now.
                return if reply == Reply::Granted { Reply::Retry } else { reply };
            }
            let still = outcome & (seen | self.mine | WRITTEN);
            let new = if still & HOLDERS == 0 { 0 } else { still };
            // ORDERING: Release, pairs with the Acquire in exchange and decide: what the statuses told of owners whose locks are
            // ORDERING: Release dropped is known to the next holder, too. Of those that left since, the statuses told already;
            // ORDERING: Relaxed where it fails, it is tried anew [packed-lock]
            match self.word.compare_exchange(seen, new, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return reply,
                Err(now) => seen = now,
            }
        }
    }
}

#[inline]
fn bit_of(client: ClientId) -> u64 {
    debug_assert!(client.index() < MOST_HOLDERS, "the word has no bit for {client}");
    1 << client.0
}

fn entry_of(word: u64) -> Entry {
    let holders = word & HOLDERS;
    if word & WRITTEN == 0 {
        return Entry { writer: None, readers: ClientSet::from_words(&[holders]) };
    }
    // Of several, which a stranger wrote, one.
    let writer = (holders != 0).then(|| ClientId(holders.trailing_zeros() as u16));
    Entry { writer, readers: ClientSet::default() }
}

/// The word that an entry stands for. A writer is its only holder.
fn word_of(entry: &Entry) -> u64 {
    match entry.writer {
        Some(writer) => bit_of(writer) | WRITTEN,
        None => entry.readers.words()[0] & HOLDERS,
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::rule::Claim;

    const A: ClientId = ClientId(0);
    const B: ClientId = ClientId(61);

    fn some(_: ClientId) -> Option<Claim> {
        Some(Claim { epoch: 1, key: 0 })
    }

    #[test]
    fn readers_share_and_a_writer_is_alone() {
        let word = AtomicU64::new(0);
        let (a, b) = (Slot::of(&word, A), Slot::of(&word, B));
        assert!(a.try_read() && b.try_read() && a.try_read());
        assert!(!a.try_write(), "another one reads");
        b.leave();
        assert!(a.try_write() && a.try_write() && a.try_read());
        assert!(!b.try_read() && !b.try_write());
        b.leave();
        b.give_up();
        assert!(!b.try_read(), "nobody gives back the lock of another one");
        a.give_up();
        assert!(b.try_write());
        b.leave_written();
        assert!(a.try_write());
    }

    #[test]
    fn either_lock_is_given_up_and_those_of_others_stay() {
        let word = AtomicU64::new(0);
        let (a, b) = (Slot::of(&word, A), Slot::of(&word, B));
        assert!(a.try_read() && b.try_read());
        a.give_up();
        a.give_up();
        assert_eq!(entry_of(plain(&word)), Entry { writer: None, readers: ClientSet::from_words(&[1 << 61]) });
        assert!(b.try_write());
        a.give_up();
        assert_eq!(entry_of(plain(&word)).writer, Some(B));
    }

    fn plain(word: &AtomicU64) -> u64 {
        // ORDERING: Relaxed, there is one thread
        word.load(Ordering::Relaxed)
    }

    #[test]
    fn a_decision_is_written_down_without_those_that_left() {
        let word = AtomicU64::new(0);
        let (a, b) = (Slot::of(&word, A), Slot::of(&word, B));
        let mut met = Met::default();
        assert!(a.try_read() && b.try_read());
        let reply = a.decide(&mut met, some, |entry, _| {
            b.leave();
            assert!(!b.try_read(), "nobody comes in while it is decided");
            entry.writer = None;
            Reply::Retry
        });
        assert_eq!(reply, Reply::Retry);
        assert!(a.try_write(), "the other one has left");
    }

    #[test]
    fn a_writer_that_leaves_undoes_a_grant() {
        let word = AtomicU64::new(0);
        let (a, b) = (Slot::of(&word, A), Slot::of(&word, B));
        let mut met = Met::default();
        assert!(b.try_write());
        let reply = a.decide(&mut met, some, |entry, _| {
            b.leave_written();
            *entry = Entry { writer: Some(A), ..Entry::default() };
            Reply::Granted
        });
        assert_eq!(reply, Reply::Retry);
        assert!(b.try_write(), "the lock went to nobody");
    }

    #[test]
    fn a_mark_that_a_dead_one_left_is_taken_over() {
        let word = AtomicU64::new(DECIDING);
        let a = Slot::of(&word, A);
        assert!(!a.try_read());
        let reply = a.decide(&mut Met::default(), some, |entry, _| {
            entry.readers.insert(A);
            Reply::Granted
        });
        assert_eq!(reply, Reply::Granted);
        assert!(a.try_write());
    }

    #[test]
    fn nonsense_of_a_stranger_is_a_state_of_the_rule() {
        for word in [WRITTEN, WRITTEN | DECIDING, WRITTEN | 0b110, u64::MAX] {
            let entry = entry_of(word);
            assert_eq!(entry_of(word_of(&entry)), entry, "{word:x}");
        }
    }
}
