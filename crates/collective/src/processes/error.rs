//! Errors of founding and joining a group of processes.

use std::io;

use corecast_base::ArenaError;
use corecast_base::region::{AttachError, CreateError, RegionPlanError};
use corecast_base::rendezvous::RendezvousError;
use corecast_machine::ModelError;
use corecast_machine::pin::PinError;

use crate::error::{BuildError, Error};

/// Why a group of processes could not be founded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FoundError {
    /// The settings do not fit.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The model of the machine cannot be written for the others.
    #[error("the machine model cannot be told to the members: {0}")]
    Model(#[from] ModelError),
    /// The region cannot hold the group.
    #[error(transparent)]
    Plan(#[from] RegionPlanError),
    /// The region cannot be made.
    #[error(transparent)]
    Create(#[from] CreateError),
}

/// Why a process could not become a member.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JoinError {
    /// The region cannot be attached to.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The group's name cannot be hosted or found.
    #[error(transparent)]
    Meet(#[from] RendezvousError),
    /// The group cannot be founded.
    #[error(transparent)]
    Found(#[from] FoundError),
    /// The region holds something else.
    #[error("the region holds no group")]
    NoGroup,
    /// The group was founded by another version of corecast, or another program has written its memory.
    #[error("the group in the region is damaged: {0}")]
    Corrupt(String),
    /// The group has another size than this process expects.
    #[error("a group of {found} members, where {expected} were expected")]
    Size {
        /// Its members.
        found: usize,
        /// The size this process expects.
        expected: usize,
    },
    /// The place cannot be taken: [`Error::BadRank`], [`Error::AlreadyJoined`], or a member was lost before all had come.
    #[error(transparent)]
    Member(#[from] Error),
    /// Not all members have come in time.
    #[error("the group is not complete: {} missing", ranks(missing))]
    SetupTimeout {
        /// The members that have not come, by rank.
        missing: Vec<usize>,
    },
    /// This thread could not be bound to the member's CPU.
    #[error(transparent)]
    Pin(#[from] PinError),
    /// A variable of the environment has an impossible value.
    #[error("the environment variable {variable} is '{value}', expected {expected}")]
    Environment {
        /// Its name.
        variable: String,
        /// Its value.
        value: String,
        /// The values that are possible.
        expected: &'static str,
    },
    /// The group's descriptor cannot be opened anew.
    #[error("the group's descriptor cannot be opened: {0}")]
    Descriptor(#[from] io::Error),
}

impl JoinError {
    /// The error of a joining process whose memory cannot be laid out.
    pub(super) fn of_memory(error: ArenaError) -> Self {
        match error {
            ArenaError::Forked => Error::Forked.into(),
            other => Self::Corrupt(other.to_string()),
        }
    }
}

/// The first of the ranks, and the number of the others.
fn ranks(all: &[usize]) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = all.iter().take(SHOWN).map(usize::to_string).collect();
    let noun = if all.len() == 1 { "rank" } else { "ranks" };
    match all.len().saturating_sub(SHOWN) {
        0 => format!("{noun} {}", shown.join(", ")),
        more => format!("{noun} {} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_missing_are_named_and_the_many_counted() {
        let told = |missing: Vec<usize>| JoinError::SetupTimeout { missing }.to_string();
        assert_eq!(told(vec![3]), "the group is not complete: rank 3 missing");
        assert_eq!(told(vec![1, 2]), "the group is not complete: ranks 1, 2 missing");
        assert!(told((0..20).collect()).ends_with("ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 more missing"));
    }
}
