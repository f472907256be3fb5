//! The shared form: a requester applies the server's rule itself, to locks in shared memory, under the lock of their bucket.
//!
//! The locks of a variable are a [`Slot`]. A participant that asks for a lock of a variable first takes the lock of its bucket,
//! which is of any algorithm of the registry among threads, and one that survives its holder among processes. Locks are given
//! back without it.

use std::sync::Arc;

use corecast_base::region::{Liveness, SharedRegion};
use corecast_base::sync::{Ordering, Scope};
use corecast_base::wait::LONGEST_SLEEP;
use corecast_base::{CacheLine, PlaceSlice};
use corecast_lock::shared::{Outcome, OwnedWord, Owner};
use corecast_lock::{Algorithm, AnyLock, Setup};

use crate::config::{Config, mix};
use crate::crash_point;
use crate::region::Memory;
use crate::rule::{Reply, Request, Rule};
use crate::slot::{Met, Slot};
use crate::status::ClientId;

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
    /// Words of a variable's locks.
    stride: usize,
    mask: u32,
    /// Statuses and keys of those that a request meets, kept for its memory.
    met: Met,
}

impl SharedClient {
    pub(crate) fn new(memory: Arc<Memory>, locks: Arc<BucketLocks>, me: ClientId) -> Self {
        let config = memory.config;
        let (rule, stride) = (Rule::new(config.manager), 1 + config.reader_words());
        Self { memory, locks, me, rule, stride, mask: config.buckets - 1, met: Met::default() }
    }

    /// Says how others are to weigh this participant's attempt, before it begins.
    #[inline]
    pub(crate) fn publish_key(&self, key: u64) {
        // ORDERING: Relaxed, released by the status that says that the attempt runs
        self.memory.key(self.me).store(key, Ordering::Relaxed);
    }

    /// The read lock of a variable.
    #[inline]
    pub(crate) fn load(&mut self, by: Request, lock: u32) -> Reply {
        let Self { memory, locks, me, rule, stride, mask, met } = self;
        let slot = Slot::of(&memory.locks[lock as usize * *stride..][..*stride], *me);
        locks.with((mix(lock) & *mask) as usize, || {
            if slot.try_read() {
                return Reply::Granted;
            }
            met.look(&slot, |client| memory.claim_of(client));
            slot.decide(met, |entry| entry.load(*rule, met, &**memory, by))
        })
    }

    /// The write lock of a variable.
    #[inline]
    pub(crate) fn store(&mut self, by: Request, lock: u32) -> Reply {
        let Self { memory, locks, me, rule, stride, mask, met } = self;
        let slot = Slot::of(&memory.locks[lock as usize * *stride..][..*stride], *me);
        locks.with((mix(lock) & *mask) as usize, || {
            if slot.try_write() {
                return Reply::Granted;
            }
            met.look(&slot, |client| memory.claim_of(client));
            slot.decide(met, |entry| entry.store(*rule, met, &**memory, by))
        })
    }

    /// Gives back all locks of a variable that this participant has, if they were not taken away.
    #[inline]
    pub(crate) fn release(&mut self, lock: u32, is_written: bool) {
        Slot::of(&self.memory.locks[lock as usize * self.stride..][..self.stride], self.me).release(is_written);
    }
}
