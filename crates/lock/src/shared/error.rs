//! Errors of locks among processes.

use corecast_base::region::{Forked, RegionPlanError, SectionError};

use super::lock::SharedGuard;
use crate::registry::Algorithm;

/// Why a lock could not be declared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeclareError {
    /// The algorithm is none for processes.
    #[error("lock '{name}' cannot be of the algorithm {algorithm}, which is for the threads of one process")]
    NotShared {
        /// The lock's name.
        name: String,
        /// The name that was asked for.
        algorithm: Algorithm,
    },
    /// The region cannot hold it.
    #[error(transparent)]
    Plan(#[from] RegionPlanError),
}

/// Why a lock could not be opened. Each tells its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// There is nothing of this name.
    #[error("the region has no lock '{0}'")]
    NoLock(String),
    /// It is something else.
    #[error("'{name}' is of kind {found}, not a lock")]
    Kind {
        /// Its name.
        name: String,
        /// What the region's directory says of it.
        found: u32,
    },
    /// The region says of the lock what cannot be, or of an algorithm that this version does not know.
    #[error("lock '{name}' is damaged: its algorithm has the number {number}")]
    Algorithm {
        /// Its name.
        name: String,
        /// What the region's directory says.
        number: u64,
    },
    /// Its memory cannot be reached.
    #[error("lock '{name}' is damaged: {error}")]
    Section {
        /// Its name.
        name: String,
        /// Why.
        error: SectionError,
    },
    /// This process is a forked child of the one that attached to the region.
    #[error(transparent)]
    Forked(#[from] Forked),
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
