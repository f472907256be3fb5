//! The shared form: a requester applies the server's rule itself, to locks in shared memory, under the lock of their bucket.
//!
//! For each variable the region holds {writer, readers}: the writer plus one, and a bit for each reader. Whoever asks for a lock
//! of a variable first takes the lock of its bucket, which is of any algorithm of the registry among threads, and one that
//! survives its holder among processes. Locks are given back without it: their owner clears its own bit by one exchange.
//!
//! A requester that meets others looks at their statuses *before* it looks at the locks for good. A bit that is still there was
//! set by the attempt that the status told, as nobody else sets bits in this bucket and an attempt gives back all its locks
//! before the next one begins. So a late abort meets no later attempt here either.
//!
//! A process that is killed inside a bucket leaves nothing to repair: every store there is one word, and any of their prefixes is
//! a state of the rule.

use std::sync::Arc;

use corecast_base::region::{Liveness, SharedRegion};
use corecast_base::sync::{AtomicU64, Ordering, Scope};
use corecast_base::wait::LONGEST_SLEEP;
use corecast_base::{CacheLine, PlaceSlice};
use corecast_lock::shared::{Outcome, OwnedWord, Owner};
use corecast_lock::{Algorithm, AnyLock, Setup};

use crate::config::{Config, mix};
use crate::entry::{Entry, Holders};
use crate::region::Memory;
use crate::rule::{Claim, Reply, Request, Rule, Statuses};
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
        let result = f();
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
    met: Vec<(ClientId, Claim)>,
}

impl SharedClient {
    pub(crate) fn new(memory: Arc<Memory>, locks: Arc<BucketLocks>, me: ClientId) -> Self {
        let config = memory.config;
        let (rule, stride) = (Rule::new(config.manager), 1 + config.reader_words());
        Self { memory, locks, me, rule, stride, mask: config.buckets - 1, met: Vec::new() }
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
        let words = &memory.locks[lock as usize * *stride..][..*stride];
        let (at, bit) = place_of(*me);
        locks.with((mix(lock) & *mask) as usize, || {
            // ORDERING: Acquire, pairs with the Release in release: the values of the last writer are visible [twin-lock]
            let writer = words[0].load(Ordering::Acquire);
            if writer == 0 || writer == writer_word(*me) {
                set(&words[at], bit);
                return Reply::Granted;
            }
            decide(memory, words, met, |entry, met| entry.load(*rule, met, &**memory, by))
        })
    }

    /// The write lock of a variable.
    #[inline]
    pub(crate) fn store(&mut self, by: Request, lock: u32) -> Reply {
        let Self { memory, locks, me, rule, stride, mask, met } = self;
        let words = &memory.locks[lock as usize * *stride..][..*stride];
        let (at, bit) = place_of(*me);
        locks.with((mix(lock) & *mask) as usize, || {
            // ORDERING: Acquire, pairs with the Release in release [twin-lock]
            let writer = words[0].load(Ordering::Acquire);
            let mut others = words[1..].iter().zip(1..).map(|(readers, word)| {
                // ORDERING: Acquire, pairs with the Release in release: their reads come before what is written next [twin-lock]
                readers.load(Ordering::Acquire) & !(if word == at { bit } else { 0 })
            });
            if (writer == 0 || writer == writer_word(*me)) && others.all(|readers| readers == 0) {
                // ORDERING: Relaxed, only its owner and others with the bucket's lock change it from now on
                words[0].store(writer_word(*me), Ordering::Relaxed);
                return Reply::Granted;
            }
            decide(memory, words, met, |entry, met| entry.store(*rule, met, &**memory, by))
        })
    }

    /// Gives back all locks of a variable that this participant has, if they were not taken away.
    #[inline]
    pub(crate) fn release(&mut self, lock: u32, is_written: bool) {
        let words = &self.memory.locks[lock as usize * self.stride..][..self.stride];
        let (at, bit) = place_of(self.me);
        clear(&words[at], bit);
        if is_written {
            free_writer(&words[0], writer_word(self.me));
        }
    }
}

/// The word and the bit of a reader.
#[inline]
fn place_of(client: ClientId) -> (usize, u64) {
    (1 + client.index() / 64, 1 << (client.index() % 64))
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
    // ORDERING: Release, pairs with the Acquire in load, store and read_entry [twin-lock]
    readers.fetch_and(!bits, Ordering::Release);
}

#[inline]
fn free_writer(word: &AtomicU64, writer: u64) {
    // ORDERING: Release, pairs with the Acquire in load, store and read_entry; Relaxed where another one has it [twin-lock]
    let _taken_away = word.compare_exchange(writer, 0, Ordering::Release, Ordering::Relaxed);
}

/// Statuses and keys of the holders that a request met, as they were before the locks were looked at for good.
struct Met<'a>(&'a [(ClientId, Claim)]);

impl Holders for Met<'_> {
    fn holder(&self, client: ClientId) -> Claim {
        let known = self.0.iter().find(|(met, _)| *met == client);
        known.expect("every holder was met, as nobody takes locks meanwhile").1
    }
}

/// Applies the rule where others have locks, and writes back what it changed. With the bucket's lock.
#[cold]
fn decide(
    memory: &Memory,
    words: &[AtomicU64],
    met: &mut Vec<(ClientId, Claim)>,
    rule: impl FnOnce(&mut Entry, &Met<'_>) -> Reply,
) -> Reply {
    met.clear();
    let first = read_entry(words);
    for client in first.readers.iter().chain(first.writer) {
        if client.index() < memory.config.participants {
            let (epoch, _) = memory.get(client);
            // ORDERING: Relaxed, acquired with the status
            let key = memory.key(client).load(Ordering::Relaxed);
            met.push((client, Claim { epoch, key }));
        }
    }
    let before = read_known(words, met);
    let mut after = before;
    let reply = rule(&mut after, &Met(met));
    write_back(words, &before, &after);
    reply
}

fn read_entry(words: &[AtomicU64]) -> Entry {
    let mut entry = Entry::default();
    // ORDERING: Acquire, pairs with the Release in clear and free_writer [twin-lock]
    entry.writer = words[0].load(Ordering::Acquire).checked_sub(1).map(|writer| ClientId(writer as u16));
    for (at, readers) in words[1..].iter().enumerate() {
        // ORDERING: Acquire, as above [twin-lock]
        let mut bits = readers.load(Ordering::Acquire);
        while bits != 0 {
            entry.readers.insert(ClientId((at * 64) as u16 + bits.trailing_zeros() as u16));
            bits &= bits - 1;
        }
    }
    entry
}

/// The locks as they are now, of those that were met: a stranger may have written others.
fn read_known(words: &[AtomicU64], met: &[(ClientId, Claim)]) -> Entry {
    let now = read_entry(words);
    let mut known = Entry::default();
    let is_known = |client: ClientId| met.iter().any(|&(other, _)| other == client);
    known.writer = now.writer.filter(|&writer| is_known(writer));
    now.readers.iter().filter(|&reader| is_known(reader)).for_each(|reader| known.readers.insert(reader));
    known
}

fn write_back(words: &[AtomicU64], before: &Entry, after: &Entry) {
    if before.writer != after.writer {
        if let Some(old) = before.writer {
            free_writer(&words[0], writer_word(old));
        }
        if let Some(new) = after.writer {
            // ORDERING: Relaxed, only its owner and others with the bucket's lock change it from now on
            words[0].store(writer_word(new), Ordering::Relaxed);
        }
    }
    let (old, new) = (before.readers.words(), after.readers.words());
    for ((readers, old), new) in words[1..].iter().zip(old).zip(new) {
        if old & !new != 0 {
            clear(readers, old & !new);
        }
        if new & !old != 0 {
            set(readers, new & !old);
        }
    }
}
