//! Why a lock among processes could not be declared or opened.

use corecast_base::region::{Forked, RegionPlanError, SectionError};

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
        /// The kind that the region's directory gives.
        found: u32,
    },
    /// The region's entry of the lock is impossible, or names an algorithm that this version does not know.
    #[error("lock '{name}' is damaged: its algorithm has the number {number}")]
    Algorithm {
        /// Its name.
        name: String,
        /// The number that the region's directory gives.
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
