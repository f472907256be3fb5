//! A lock of a region as its users hold it.

use std::fmt;
use std::marker::PhantomData;
use std::time::{Duration, Instant};

use corecast_base::region::{Forked, Liveness, RegionPlan, SharedRegion};
use corecast_base::sync::Scope;
use corecast_base::wait::LONGEST_SLEEP;
use corecast_base::{LINE_BYTES, Place, Shareable};

use super::error::{DeclareError, OpenError};
use super::owned_word::{Outcome, OwnedWord, Owner};
use crate::patience::Patience;
use crate::raw::RawTimed;
use crate::registry::Algorithm;
use crate::tas::Tas;
use crate::ticket::Ticket;
use crate::ttas::Ttas;

pub use corecast_base::region::KIND_LOCK;
/// The algorithms that work among processes.
pub const ALGORITHMS: [Algorithm; 4] = [Algorithm::Word, Algorithm::Tas, Algorithm::Ttas, Algorithm::Ticket];

// SAFETY: one atomic, of which any value is one; transparent.
unsafe impl Shareable for Tas {}
// SAFETY: the same.
unsafe impl Shareable for Ttas {}
// SAFETY: two atomics, of which any values are one, laid out as C does.
unsafe impl Shareable for Ticket {}

/// Declares a lock under a name, alone on its line. See the [module](super).
///
/// # Errors
/// [`DeclareError`] if it is none of [`ALGORITHMS`], or the name is none or taken.
pub fn declare(plan: RegionPlan, name: &str, algorithm: Algorithm) -> Result<RegionPlan, DeclareError> {
    if !ALGORITHMS.contains(&algorithm) {
        return Err(DeclareError::NotShared { name: name.to_owned(), algorithm });
    }
    Ok(plan.add(name, KIND_LOCK, [(algorithm as u32).into(), 0, 0, 0, 0, 0], LINE_BYTES as u64)?)
}

/// The contents of the region.
#[derive(Debug)]
enum Words {
    Word(Place<OwnedWord>),
    Tas(Place<Tas>),
    Ttas(Place<Ttas>),
    Ticket(Place<Ticket>),
}

/// A lock among processes, for any thread of this one.
#[derive(Debug)]
pub struct SharedLock {
    region: SharedRegion,
    algorithm: Algorithm,
    words: Words,
    me: Owner,
    scope: Scope,
}

impl SharedLock {
    /// The lock with this name.
    ///
    /// # Errors
    /// [`OpenError`] if there is none, or it is damaged.
    pub fn open(region: &SharedRegion, name: &str) -> Result<Self, OpenError> {
        refuse_copy(region)?;
        let named = || name.to_owned();
        let entry = region.entry(name).ok_or_else(|| OpenError::NoLock(named()))?;
        if entry.kind != KIND_LOCK {
            return Err(OpenError::Kind { name: named(), found: entry.kind });
        }
        let number = entry.config[0];
        let algorithm = u32::try_from(number).ok().and_then(Algorithm::of_number);
        let section = region.section(&entry);
        let words = match algorithm {
            Some(Algorithm::Word) => section.place(0).map(Words::Word),
            Some(Algorithm::Tas) => section.place(0).map(Words::Tas),
            Some(Algorithm::Ttas) => section.place(0).map(Words::Ttas),
            Some(Algorithm::Ticket) => section.place(0).map(Words::Ticket),
            _ => return Err(OpenError::Algorithm { name: named(), number }),
        };
        let words = words.map_err(|error| OpenError::Section { name: named(), error })?;
        let me = region.me();
        let me = Owner::new(me.index, me.generation).expect("a region has fewer seats than owners have numbers");
        let algorithm = algorithm.expect("found above");
        Ok(Self { region: region.clone(), algorithm, words, me, scope: region.wake_scope() })
    }

    /// The lock's algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Waits until the lock is free, and takes it.
    ///
    /// # Errors
    /// [`SharedLockError::OwnerDied`] with the lock taken; [`SharedLockError::Forked`].
    pub fn lock(&self) -> Result<SharedGuard<'_>, SharedLockError<'_>> {
        self.acquire(Patience::Endless, SharedLockError::WouldBlock)
    }

    /// Takes the lock if it is free, or its holder is gone. Where it is held by another process this asks the kernel.
    ///
    /// # Errors
    /// [`SharedLockError::WouldBlock`] if it is held; else as of [`lock`](Self::lock).
    pub fn try_lock(&self) -> Result<SharedGuard<'_>, SharedLockError<'_>> {
        self.acquire(Patience::None, SharedLockError::WouldBlock)
    }

    /// As [`lock`](Self::lock), but gives up when `limit` has passed, perhaps a little later.
    ///
    /// # Errors
    /// [`SharedLockError::Timeout`] if it was held; else as of [`lock`](Self::lock).
    pub fn lock_timeout(&self, limit: Duration) -> Result<SharedGuard<'_>, SharedLockError<'_>> {
        let patience = Instant::now().checked_add(limit).map_or(Patience::Endless, Patience::Until);
        self.acquire(patience, SharedLockError::Timeout)
    }

    /// Whether this process may use it.
    ///
    /// # Errors
    /// In a forked child of the one that opened it, which has to open its own.
    pub fn check_fork(&self) -> Result<(), Forked> {
        refuse_copy(&self.region)
    }

    /// Frees the lock, whose guard was forgotten. For callers that cannot keep a guard, such as those in C.
    ///
    /// # Errors
    /// In a forked child, whose parent holds the lock.
    ///
    /// # Safety
    /// - A guard of this very lock was forgotten, of which this is the end.
    pub unsafe fn force_unlock(&self) -> Result<(), Forked> {
        self.check_fork()?;
        self.release();
        Ok(())
    }

    fn acquire<'a>(
        &'a self,
        patience: Patience,
        in_vain: SharedLockError<'a>,
    ) -> Result<SharedGuard<'a>, SharedLockError<'a>> {
        refuse_copy(&self.region)?;
        let outcome = match &self.words {
            Words::Word(word) => self.acquire_word(word, patience),
            Words::Tas(lock) => acquire_polled(&**lock, patience),
            Words::Ttas(lock) => acquire_polled(&**lock, patience),
            Words::Ticket(lock) => acquire_polled(&**lock, patience),
        };
        let guard = || SharedGuard { lock: self, _thread: PhantomData };
        match outcome {
            Outcome::Taken => Ok(guard()),
            Outcome::TakenFromGone => Err(SharedLockError::OwnerDied(guard())),
            Outcome::Held => Err(in_vain),
        }
    }

    fn acquire_word(&self, word: &OwnedWord, patience: Patience) -> Outcome {
        let is_gone = |owner| self.is_gone(owner);
        let left = || match patience {
            Patience::None => None,
            Patience::Until(deadline) => {
                Some(deadline.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero())
            }
            Patience::Endless => Some(LONGEST_SLEEP),
        };
        match word.try_lock(self.me, |_| false) {
            Outcome::Held if matches!(patience, Patience::None) => word.try_lock(self.me, is_gone),
            Outcome::Held => word.lock(self.me, self.scope, is_gone, left),
            taken => taken,
        }
    }

    /// Whether the participant that this name stands for has died, or left.
    fn is_gone(&self, owner: Owner) -> bool {
        let seated = self.region.participant_at(owner.seat());
        let same = seated.filter(|who| Owner::new(who.index, who.generation) == Some(owner));
        same.is_none_or(|who| self.region.liveness(who) != Liveness::Alive)
    }

    fn release(&self) {
        if self.region.is_copy() {
            // The parent holds it.
            return;
        }
        match &self.words {
            Words::Word(word) => word.unlock(self.scope),
            Words::Tas(lock) => release_polled(&**lock),
            Words::Ttas(lock) => release_polled(&**lock),
            Words::Ticket(lock) => release_polled(&**lock),
        }
    }
}

/// A forked child that inherits the memory is no participant either: what it held its parent would seem to hold.
fn refuse_copy(region: &SharedRegion) -> Result<(), Forked> {
    if region.is_copy() { Err(Forked) } else { Ok(()) }
}

fn acquire_polled<L: RawTimed<Node = ()>>(lock: &L, patience: Patience) -> Outcome {
    // SAFETY: there is no node.
    if unsafe { patience.acquire(lock, &()) } { Outcome::Taken } else { Outcome::Held }
}

/// For the holder.
fn release_polled<L: RawTimed<Node = ()>>(lock: &L) {
    // SAFETY: the caller holds it.
    unsafe { lock.unlock(&()) };
}

/// Why a lock was not taken, or not as it should be.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SharedLockError<'a> {
    /// Another thread or process holds it.
    #[error("the lock is held")]
    WouldBlock,
    /// It was held until the limit passed.
    #[error("the lock stayed held until the deadline")]
    Timeout,
    /// **The lock is taken**, from a process that is gone and may have left half done what it did: repair that, and drop the
    /// guard, or keep it to keep all others out. If this process dies before, the next one is told the same.
    #[error("the process that held the lock is gone: repair what it left half changed, then drop the guard")]
    OwnerDied(SharedGuard<'a>),
    /// This process is a forked child of the one that opened the lock, and has to open its own.
    #[error(transparent)]
    Forked(#[from] Forked),
}

/// A lock that is held. Dropped, it frees it; forgotten, this process holds it for as long as it is a participant. It stays on
/// its thread; in a forked child, whose parent holds the lock, dropping it does nothing.
#[must_use = "dropping it frees the lock"]
pub struct SharedGuard<'a> {
    lock: &'a SharedLock,
    _thread: PhantomData<*const ()>,
}

impl Drop for SharedGuard<'_> {
    fn drop(&mut self) {
        self.lock.release();
    }
}

impl fmt::Debug for SharedGuard<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedGuard").field("algorithm", &self.lock.algorithm).finish_non_exhaustive()
    }
}
