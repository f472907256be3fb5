//! Locks among processes: words in a region, found by a name.

use corecast::base::sync::{AtomicU32, Ordering};
use corecast::lock::shared::{self, SharedGuard, SharedLock as Words, SharedLockError};
use corecast::lock::{Algorithm, WrongUse, this_thread};

use crate::error::Failure;
use crate::lock::algorithm_of;
use crate::region::Region;
use crate::region_plan::RegionPlan;
use crate::status::Status;

/// A lock among processes, for the threads of this one. It guards whatever its users agree on, such as bytes of another
/// mapping.
///
/// Take word. It records its holder: if that process is killed, or leaves the region while it holds the lock, one of the
/// waiting threads gets CORECAST_OWNER_DIED, a tenth of a second later at most. **It has the lock then**, repairs the data
/// that the dead holder left half changed, and unlocks; from then on the lock is like any other. If the thread is killed
/// before that, the next one gets CORECAST_OWNER_DIED too. With tas, ttas and ticket a dead holder holds the lock for ever.
///
/// The thread that locked it unlocks it, with the same object: unlocking a lock that this thread does not hold, and locking
/// one that it holds, is CORECAST_INVALID_ARGUMENT and changes nothing. Another object of the same lock does not know of
/// it: a thread that holds the lock by one object and locks it by another waits for ever, so open a lock once in each
/// process. When a thread ends, its locks stay held for as long as its process has a place in the region. A process that
/// writes nonsense into the region can make a lock have two holders, or none for ever, but nothing worse: wait with limits
/// where that matters.
#[derive(Debug)]
pub struct SharedLock {
    words: Words,
    /// The thread of this process that holds it by this object, 0 for none. Written by holders.
    holder: AtomicU32,
}

impl SharedLock {
    fn is_held_here(&self) -> bool {
        // ORDERING: Relaxed, a thread sees its own store, and no other one has its number
        self.holder.load(Ordering::Relaxed) == this_thread::number()
    }

    fn expect_another(&self) -> Result<(), Failure> {
        self.words.check_fork()?;
        if self.is_held_here() { Err(WrongUse::HeldHere.into()) } else { Ok(()) }
    }

    /// Keeps the lock until it is unlocked.
    fn keep(&self, taken: Result<SharedGuard<'_>, SharedLockError<'_>>) -> Result<(), Failure> {
        let (guard, told) = match taken {
            Ok(guard) => (guard, Ok(())),
            Err(SharedLockError::OwnerDied(guard)) => (guard, Err(owner_died())),
            Err(error) => return Err(error.into()),
        };
        std::mem::forget(guard);
        // ORDERING: Relaxed, as in is_held_here
        self.holder.store(this_thread::number(), Ordering::Relaxed);
        told
    }

    fn unlock(&self) -> Result<(), Failure> {
        self.words.check_fork()?;
        if !self.is_held_here() {
            return Err(WrongUse::NotHeldHere.into());
        }
        // ORDERING: Relaxed, as in is_held_here; the next holder's store comes after this one, by the lock
        self.holder.store(0, Ordering::Relaxed);
        // SAFETY: this thread holds it, by a guard that was forgotten above.
        Ok(unsafe { self.words.force_unlock() }?)
    }
}

#[cold]
fn owner_died() -> Failure {
    let words = "the process that held the lock is gone, and this thread has the lock: repair what was left half changed, then \
                 unlock";
    Failure::new(Status::OwnerDied, words)
}

c_functions! {
    /// Declares a lock of a region to be, alone on its line. `algorithm` is a corecast_lock_algorithm: word, or tas, ttas
    /// or ticket where no process is ever killed; CORECAST_INVALID_ARGUMENT for others, CORECAST_NOT_FOUND for none.
    unsafe fn corecast_region_plan_add_lock(plan: &mut RegionPlan, name: text, algorithm: u32) {
        let algorithm: Algorithm = algorithm_of(algorithm)?;
        plan.change(|plan| shared::declare(plan, name, algorithm))?
    }

    /// Opens the lock with this name, any number of times. CORECAST_NOT_FOUND if the region has none, CORECAST_MISMATCH if it is
    /// something else, or damaged.
    unsafe fn corecast_shared_lock_open(region: &Region, name: text) -> (lock: new SharedLock) {
        SharedLock { words: Words::open(&region.shared, name)?, holder: AtomicU32::new(0) }
    }

    /// Waits until the lock is free, and takes it. CORECAST_OWNER_DIED: this thread has it, from a holder that is gone.
    safe fn corecast_shared_lock_lock(lock: &SharedLock) {
        lock.expect_another()?;
        lock.keep(lock.words.lock())?
    }

    /// The same if the lock is free or its holder is gone; CORECAST_TAKEN if not, even if this thread holds it.
    safe fn corecast_shared_lock_try_lock(lock: &SharedLock) {
        lock.keep(lock.words.try_lock())?
    }

    /// As corecast_shared_lock_lock, for at most `timeout_ns` nanoseconds: CORECAST_TIMEOUT if it was held all the time.
    safe fn corecast_shared_lock_lock_timeout_ns(lock: &SharedLock, timeout_ns: Duration) {
        lock.expect_another()?;
        lock.keep(lock.words.lock_timeout(timeout_ns))?
    }

    /// Frees the lock, which this thread holds by this object.
    safe fn corecast_shared_lock_unlock(lock: &SharedLock) {
        lock.unlock()?
    }

    /// Closes a lock; NULL is none. A lock that is held stays held until this participant gives up its place in the region:
    /// the next thread to take it gets CORECAST_OWNER_DIED.
    closing fn corecast_shared_lock_close(lock: SharedLock);
}
