//! The shared form: a requester applies the server's rule itself, to locks in shared memory, under the lock of their bucket.
//!
//! The locks of a variable are a [`Slot`], or a [`WideSlot`] with more participants than that has bits for. A participant takes
//! a lock that nobody is in the way of by one exchange of the slot. Else, and always in a wide slot, it first takes the lock of
//! the variable's bucket, which is of any algorithm of the registry among threads, and one that survives its holder among
//! processes. Locks are given back without it.

use std::sync::Arc;

use corecast_base::region::{Liveness, SharedRegion};
use corecast_base::sync::Scope;
use corecast_base::wait::LONGEST_SLEEP;
use corecast_base::{CacheLine, PlaceSlice};
use corecast_lock::shared::{Outcome, OwnedWord, Owner};
use corecast_lock::{Algorithm, AnyLock, Setup};

use crate::config::{Config, mix};
use crate::crash_point;
use crate::entry::Entry;
use crate::met::Met;
use crate::region::Memory;
use crate::rule::{Reply, Request, Rule};
use crate::slot::Slot;
use crate::status::ClientId;
use crate::wide_slot::WideSlot;

/// The locks of the buckets.
#[derive(Debug)]
pub(crate) enum BucketLocks {
    /// Of any algorithm, among the threads of this process.
    Threads(Vec<AnyLock>),
    /// Among processes: one that is killed gives its lock up.
    Region(Box<RegionLocks>),
}

/// Locks in a region.
#[derive(Debug)]
pub(crate) struct RegionLocks {
    words: PlaceSlice<CacheLine<OwnedWord>>,
    region: SharedRegion,
    me: Owner,
    scope: Scope,
}

impl BucketLocks {
    pub(crate) fn threads(config: &Config) -> Self {
        let lock = |_| AnyLock::new(config.lock, &Setup::default());
        Self::Threads((0..config.buckets).map(lock).collect())
    }

    pub(crate) fn region(memory: &Memory) -> Self {
        let region = memory.region.clone();
        let me = region.me();
        let me = Owner::new(me.index, me.generation).expect("a region has fewer seats than owners have numbers");
        let (words, scope) = (memory.bucket_locks.clone(), region.wake_scope());
        Self::Region(Box::new(RegionLocks { words, region, me, scope }))
    }

    /// The algorithms that may guard buckets among processes.
    pub(crate) fn survives_its_holder(algorithm: Algorithm) -> bool {
        algorithm == Algorithm::Word
    }

    /// Runs `f`, which does not panic, with the lock of a bucket.
    #[inline]
    fn with<R>(&self, bucket: usize, f: impl FnOnce() -> R) -> R {
        match self {
            Self::Threads(locks) => {
                let lock = &locks[bucket];
                lock.lock().expect("no thread comes here while it has a bucket");
                let result = f();
                lock.unlock().expect("taken above");
                result
            }
            Self::Region(locks) => locks.with(bucket, f),
        }
    }
}

impl RegionLocks {
    fn with<R>(&self, bucket: usize, f: impl FnOnce() -> R) -> R {
        let word = &self.words[bucket];
        if word.try_lock(self.me, |_| false) == Outcome::Held {
            // Endless patience ends with the lock.
            let _taken = word.lock(self.me, self.scope, |owner| self.is_gone(owner), || Some(LONGEST_SLEEP));
        }
        crash_point::here("bucket");
        let result = f();
        crash_point::here("bucket-left");
        word.unlock(self.scope);
        result
    }

    fn is_gone(&self, owner: Owner) -> bool {
        let seated = self.region.participant_at(owner.seat());
        let same = seated.filter(|who| Owner::new(who.index, who.generation) == Some(owner));
        same.is_none_or(|who| self.region.liveness(who) != Liveness::Alive)
    }
}

/// A participant's end.
#[derive(Debug)]
pub(crate) struct SharedClient {
    memory: Arc<Memory>,
    locks: Arc<BucketLocks>,
    me: ClientId,
    rule: Rule,
    /// Words of a variable's locks: one if it is a [`Slot`].
    stride: usize,
    mask: u32,
    /// Statuses and keys of those that a request meets, kept for its memory.
    met: Met,
}

impl SharedClient {
    pub(crate) fn new(memory: Arc<Memory>, locks: Arc<BucketLocks>, me: ClientId) -> Self {
        let config = memory.config;
        let (rule, stride) = (Rule::new(config.manager), config.lock_words());
        Self { memory, locks, me, rule, stride, mask: config.buckets - 1, met: Met::default() }
    }

    /// The locks of a variable, where they are one word.
    #[inline]
    fn slot(&self, lock: u32) -> Option<Slot<'_>> {
        (self.stride == 1).then(|| Slot::of(&self.memory.locks[lock as usize], self.me))
    }

    /// Whether a free lock is taken without the lock of its bucket.
    #[inline]
    pub(crate) fn takes_free_locks(&self) -> bool {
        self.stride == 1
    }

    /// Takes a lock of a variable that nobody is in the way of.
    #[inline]
    pub(crate) fn try_take(&self, lock: u32, is_write: bool) -> bool {
        self.slot(lock).is_some_and(|slot| if is_write { slot.try_write() } else { slot.try_read() })
    }

    /// Decides with the lock of the variable's bucket.
    #[cold]
    pub(crate) fn ask(&mut self, by: Request, lock: u32, is_write: bool) -> Reply {
        let Self { memory, locks, me, rule, stride, mask, met } = self;
        let words = &memory.locks[lock as usize * *stride..][..*stride];
        let claim = |client| memory.claim_of(client);
        let decide = |entry: &mut Entry, met: &Met| {
            crash_point::here("deciding");
            if is_write { entry.store(*rule, met, &**memory, by) } else { entry.load(*rule, met, &**memory, by) }
        };
        locks.with((mix(lock) & *mask) as usize, || match words {
            [word] => {
                let slot = Slot::of(word, *me);
                // The one that was in the way may have left.
                let is_free = if is_write { slot.try_write() } else { slot.try_read() };
                if is_free { Reply::Granted } else { slot.decide(met, claim, decide) }
            }
            _ => {
                let slot = WideSlot::of(words, *me);
                let is_free = if is_write { slot.try_write() } else { slot.try_read() };
                if is_free { Reply::Granted } else { slot.decide(met, claim, decide) }
            }
        })
    }

    /// Gives back all locks of a variable that this participant has, if they were not taken away.
    #[inline]
    pub(crate) fn release(&self, lock: u32, is_written: bool) {
        match self.slot(lock) {
            Some(slot) if is_written => slot.give_up(),
            Some(slot) => slot.leave(),
            None => self.wide(lock).release(is_written),
        }
    }

    /// Gives back all locks of a variable, whose values are stored while the attempt persists.
    #[inline]
    pub(crate) fn release_stored(&self, lock: u32, is_written: bool) {
        match self.slot(lock) {
            Some(slot) if is_written => slot.leave_written(),
            Some(slot) => slot.leave(),
            None => self.wide(lock).release(is_written),
        }
    }

    fn wide(&self, lock: u32) -> WideSlot<'_> {
        WideSlot::of(&self.memory.locks[lock as usize * self.stride..][..self.stride], self.me)
    }
}
