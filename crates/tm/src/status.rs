//! The status word of a participant: which of its attempts runs, and how that ended.
//!
//! The word is {epoch: 56, state: 8}. Its owner writes it at the begin, to persist and to commit; servers, and requesters of the
//! shared form, may only change RUNNING of a known epoch to ABORTED, so that a late abort never meets the next attempt.
//! Zeroes are a participant that has done nothing.

use std::fmt;

use corecast_base::sync::{AtomicU64, Ordering};

/// The number of a participant of one instance, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientId(pub u16);

impl ClientId {
    /// The number as an index.
    #[inline]
    #[must_use]
    pub fn index(self) -> usize {
        self.0.into()
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The conflict for which an attempt was aborted: the access of the requester, after the one that was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// A read of what another writes.
    Raw,
    /// A write of what another reads.
    War,
    /// A write of what another writes.
    Waw,
}

/// The state of an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It runs, and may be aborted by others.
    Running,
    /// It was aborted by another one.
    Aborted(Why),
    /// It stores its values; no other participant can abort it any more.
    Persisting,
    /// It is done, or never began.
    Committed,
}

impl State {
    /// Its number, in 8 bits.
    #[inline]
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        match self {
            Self::Committed => 0,
            Self::Running => 1,
            Self::Persisting => 2,
            Self::Aborted(Why::Raw) => 3,
            Self::Aborted(Why::War) => 4,
            Self::Aborted(Why::Waw) => 5,
        }
    }

    /// The state with this number; nonsense that a stranger wrote counts as done.
    #[inline]
    #[must_use]
    pub fn from_bits(bits: u64) -> Self {
        match bits & 0xff {
            1 => Self::Running,
            2 => Self::Persisting,
            3 => Self::Aborted(Why::Raw),
            4 => Self::Aborted(Why::War),
            5 => Self::Aborted(Why::Waw),
            _ => Self::Committed,
        }
    }
}

/// The bits of an epoch.
pub const EPOCH_BITS: u32 = 56;

#[inline]
const fn word(epoch: u64, state: State) -> u64 {
    epoch << 8 | state.to_bits()
}

/// A status word in shared memory.
#[derive(Debug, Clone, Copy)]
pub struct Status<'a>(&'a AtomicU64);

impl<'a> Status<'a> {
    /// The status that lies in this word.
    #[inline]
    #[must_use]
    pub fn of(word: &'a AtomicU64) -> Self {
        Self(word)
    }

    /// Epoch and state, for servers and requesters. Of one that has committed, its values are visible.
    #[inline]
    #[must_use]
    pub fn read(self) -> (u64, State) {
        // ORDERING: Acquire, pairs with the Release in commit: the values are visible to whom the lock goes next [committed]
        let word = self.0.load(Ordering::Acquire);
        (word >> 8, State::from_bits(word))
    }

    /// Begins an attempt, for the owner.
    #[inline]
    pub fn begin(self, epoch: u64) {
        // ORDERING: Release, pairs with the Acquire in read: the values of earlier attempts are visible [committed]
        self.0.store(word(epoch, State::Running), Ordering::Release);
    }

    /// True while nobody has aborted the owner's attempt. For the owner, after it has copied a value with Acquire.
    #[inline]
    #[must_use]
    pub fn is_running(self, epoch: u64) -> bool {
        // ORDERING: Relaxed, the Acquire of the value that was copied before orders this look behind the revocation
        self.0.load(Ordering::Relaxed) == word(epoch, State::Running)
    }

    /// Aborts an attempt, for anybody but its owner, before its locks are given away. False if it ended otherwise.
    #[inline]
    #[must_use]
    pub fn try_abort(self, epoch: u64, why: Why) -> bool {
        let (from, to) = (word(epoch, State::Running), word(epoch, State::Aborted(why)));
        // ORDERING: Relaxed, the attacker stores values only after this, in its own order or that of the reply, and with Release;
        // ORDERING: Relaxed, a victim that reads one of them finds this
        self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Forbids others to abort the attempt, for the owner before it stores its values. False if it was aborted.
    #[inline]
    #[must_use]
    pub fn try_persist(self, epoch: u64) -> bool {
        let (from, to) = (word(epoch, State::Running), word(epoch, State::Persisting));
        // ORDERING: Release, pairs with the Acquire in read: the log is complete; Relaxed where it fails [committed]
        self.0.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Ends an attempt that wrote nothing, for the owner. False if it was aborted.
    #[inline]
    #[must_use]
    pub fn try_commit_reads(self, epoch: u64) -> bool {
        let (from, to) = (word(epoch, State::Running), word(epoch, State::Committed));
        // ORDERING: Release, pairs with the Acquire in read: the reads come before the stores of the next one with the lock;
        // ORDERING: Relaxed where it fails, nothing was done [committed]
        self.0.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok()
    }

    /// Says that all values of a persisting attempt are stored, for the owner or for the one that completes what a dead owner
    /// left.
    #[inline]
    pub fn commit(self, epoch: u64) {
        // ORDERING: Release, pairs with the Acquire in read [committed]
        self.0.store(word(epoch, State::Committed), Ordering::Release);
    }

    /// Ends an attempt that the owner gives up itself.
    #[inline]
    pub fn give_up(self, epoch: u64) {
        // ORDERING: Release, pairs with the Acquire in read, as of one that read only [committed]
        self.0.store(word(epoch, State::Committed), Ordering::Release);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_late_abort_never_meets_the_next_attempt() {
        let word = AtomicU64::new(0);
        let status = Status::of(&word);
        assert_eq!(status.read(), (0, State::Committed));
        status.begin(1);
        assert!(status.is_running(1));
        assert!(status.try_abort(1, Why::War));
        assert_eq!(status.read(), (1, State::Aborted(Why::War)));
        assert!(!status.try_persist(1) && !status.try_commit_reads(1));
        status.begin(2);
        assert!(!status.try_abort(1, Why::Raw));
        assert!(status.try_persist(2));
        assert!(!status.try_abort(2, Why::Raw));
        status.commit(2);
        assert_eq!(status.read(), (2, State::Committed));
    }

    #[test]
    fn states_come_back_from_their_bits() {
        let aborted = [Why::Raw, Why::War, Why::Waw].map(State::Aborted);
        for state in [State::Running, State::Persisting, State::Committed].into_iter().chain(aborted) {
            assert_eq!(State::from_bits(state.to_bits()), state);
        }
        assert_eq!(State::from_bits(200), State::Committed);
    }
}
