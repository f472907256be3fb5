//! What goes wrong with regions.

use std::io;

use super::name::BadName;

/// Why a plan is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// A channel's name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// Two channels have the same name.
    #[error("channel '{0}' is declared twice")]
    Duplicate(String),
    /// More channels or participants than a region has room for.
    #[error("{count} {what} in a region: at most {max}, at least 1 allowed")]
    Count {
        /// What there is too many or too few of.
        what: &'static str,
        /// How many are asked for.
        count: usize,
        /// The most that are allowed.
        max: usize,
    },
    /// The region would be larger than its plan allows.
    #[error("a region of {bytes} bytes is larger than the {max} allowed by its plan")]
    TooLarge {
        /// The size it would have, in bytes; saturated.
        bytes: u64,
        /// The most that is allowed, in bytes.
        max: u64,
    },
}

/// Why a region could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The plan is none.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The region's name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// There is no memory for all of it.
    #[error("no space for a region of {bytes} bytes: {source}")]
    NoSpace {
        /// The size asked for, in bytes.
        bytes: u64,
        /// What the system says.
        source: io::Error,
    },
    /// There is a region of this name, in use.
    #[error("{0} exists and is in use")]
    Exists(String),
    /// The directory of named regions is not to be trusted.
    #[error("{what} is not to be trusted: {why}")]
    Directory {
        /// Its path.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// Attaching the creator failed.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The system refuses something else.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried on what.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

/// Why a region could not be attached to. Each tells the file or name, and what was expected of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// There is no such region.
    #[error("{0}: no such region")]
    NotFound(String),
    /// It is no region, or not one of a user who is trusted.
    #[error("{what} is not ours: {why}")]
    NotOurs {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// It was made by another version of corecast, or for another kind of machine.
    #[error("{what} is of another version or machine: {why}")]
    Abi {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// Its size is not what its header says.
    #[error("{what} has the wrong size: {why}")]
    Size {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// Its header or directory contradicts itself.
    #[error("{what} is damaged: {why}")]
    Layout {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// It holds other channels than expected.
    #[error("{what} holds other channels: {why}")]
    Type {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// It is not finished, or its last participant has left.
    #[error("{what} is closed: {why}")]
    Closed {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// It is from before the last boot of the machine.
    #[error("{what} is stale: {why}")]
    Stale {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// All seats are taken, or another process holds the region's lock and does not let go.
    #[error("{what} takes nobody more: {why}")]
    Busy {
        /// The file or name.
        what: String,
        /// What was found and what was expected.
        why: String,
    },
    /// The system refuses something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried on what.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

/// This process is a forked copy of the one that attached: the memory is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this process is a forked child of the one that attached to the region: attach anew")]
pub struct Forked;

/// Why a part of a section is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionError {
    /// It reaches beyond the section.
    #[error("{bytes} bytes at offset {offset} are not inside a section of {len} bytes")]
    Outside {
        /// Where it begins, in bytes from the section's start.
        offset: usize,
        /// How long it is; saturated.
        bytes: usize,
        /// How long the section is, in bytes.
        len: usize,
    },
    /// It is not aligned.
    #[error("offset {offset} is not aligned to {align} bytes")]
    Unaligned {
        /// Where it begins, in bytes from the section's start.
        offset: usize,
        /// What it should be a multiple of, in bytes.
        align: usize,
    },
    /// The memory is not here.
    #[error(transparent)]
    Forked(#[from] Forked),
}
