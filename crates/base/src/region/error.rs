//! What goes wrong with regions.

use std::io;

use super::name::BadName;

/// Why a plan is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegionPlanError {
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
    Plan(#[from] RegionPlanError),
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
    #[error("no such region: {0}")]
    NotFound(String),
    /// It is no region, or not one of a user who is trusted.
    #[error("not a region of ours: {0}")]
    NotOurs(Mismatch),
    /// It was made by another version of corecast, or for another kind of machine.
    #[error("a region of another version or machine: {0}")]
    Abi(Mismatch),
    /// Its size is not what its header says.
    #[error("a region of the wrong size: {0}")]
    Size(Mismatch),
    /// Its header or directory contradicts itself.
    #[error("a damaged region: {0}")]
    Layout(Mismatch),
    /// It holds other channels than expected.
    #[error("a region of other channels: {0}")]
    Type(Mismatch),
    /// It is not finished, or its last participant has left.
    #[error("a closed region: {0}")]
    Closed(Mismatch),
    /// It is from before the last boot of the machine.
    #[error("a stale region: {0}")]
    Stale(Mismatch),
    /// All seats are taken, or somebody holds the region's lock and does not let go.
    #[error("a region that takes nobody more: {0}")]
    Busy(Mismatch),
    /// The system refuses something.
    #[error("cannot {what}: {source}")]
    System {
        /// What was tried on what.
        what: String,
        /// What the system says.
        source: io::Error,
    },
}

/// What is wrong with what.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct Mismatch {
    /// The file or name.
    pub what: String,
    /// What was found and what was expected.
    pub why: String,
}

/// The file or name that errors tell of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a>(pub(super) &'a str);

impl Subject<'_> {
    /// `kind` of doubt about it, unless `holds`.
    pub(super) fn expect(
        self,
        holds: bool,
        kind: impl FnOnce(Mismatch) -> AttachError,
        why: impl FnOnce() -> String,
    ) -> Result<(), AttachError> {
        if holds { Ok(()) } else { Err(kind(self.doubt(why()))) }
    }

    pub(super) fn doubt(self, why: impl Into<String>) -> Mismatch {
        Mismatch { what: self.0.to_owned(), why: why.into() }
    }

    /// The system's refusal to do `verb` to it.
    pub(super) fn refused(self, verb: &str) -> impl FnOnce(io::Error) -> AttachError {
        let what = format!("{verb} {}", self.0);
        |source| AttachError::System { what, source }
    }
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
