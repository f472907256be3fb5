//! The errors of regions.

use std::io;

use super::name::BadName;

/// The reason why a plan of a region is not valid.
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
        /// The items: "channels" or "participants".
        what: &'static str,
        /// The number asked for.
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

/// The reason why a region could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CreateError {
    /// The plan is not valid.
    #[error(transparent)]
    Plan(#[from] RegionPlanError),
    /// The region's name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// There is not enough memory.
    #[error("no space for a region of {bytes} bytes: {source}")]
    NoSpace {
        /// The size asked for, in bytes.
        bytes: u64,
        /// The system's error.
        source: io::Error,
    },
    /// A region of this name is in use.
    #[error("{0} exists and is in use")]
    Exists(String),
    /// Attaching the creator failed.
    #[error(transparent)]
    Attach(#[from] AttachError),
    /// The system refused another call.
    #[error("cannot {what}: {source}")]
    System {
        /// The action that was tried, and on what.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

/// The reason why a process could not attach to a region. Each variant names the file or name, and what was expected of it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// The name breaks a rule.
    #[error(transparent)]
    BadName(#[from] BadName),
    /// There is no such region.
    #[error("no such region: {0}")]
    NotFound(String),
    /// The file is not a region, or it belongs to a user who is not trusted.
    #[error("not a region of ours: {0}")]
    NotOurs(Mismatch),
    /// Another version of corecast made it, or it was made for another kind of machine.
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
    /// It is unfinished, or its last participant has left.
    #[error("a closed region: {0}")]
    Closed(Mismatch),
    /// It dates from before the last boot of the machine.
    #[error("a stale region: {0}")]
    Stale(Mismatch),
    /// All participant slots are taken, or a process holds the region's lock and does not let go.
    #[error("a region that takes no further participant: {0}")]
    Busy(Mismatch),
    /// The system refuses something.
    #[error("cannot {what}: {source}")]
    System {
        /// The action that was tried, and on what.
        what: String,
        /// The system's error.
        source: io::Error,
    },
}

/// A file or name that is not as expected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what}: {why}")]
pub struct Mismatch {
    /// The file or name.
    pub what: String,
    /// The value that was found and the one that was expected.
    pub why: String,
}

/// The file or name that an error is about.
#[derive(Debug, Clone, Copy)]
pub(super) struct Subject<'a>(pub(super) &'a str);

impl Subject<'_> {
    /// The error `kind` about it, unless `holds`.
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

/// This process is a forked child of the one that attached, and does not have the memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("this process is a forked child of the one that attached to the region: attach anew")]
pub struct Forked;

/// The reason why a range is not a part of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SectionError {
    /// The range reaches beyond the section.
    #[error("{bytes} bytes at offset {offset} are not inside a section of {len} bytes")]
    Outside {
        /// Where it begins, in bytes from the section's start.
        offset: usize,
        /// Its length in bytes; saturated.
        bytes: usize,
        /// The length of the section, in bytes.
        len: usize,
    },
    /// The range is not aligned.
    #[error("offset {offset} is not aligned to {align} bytes")]
    Unaligned {
        /// Where it begins, in bytes from the section's start.
        offset: usize,
        /// The alignment that it needs, in bytes.
        align: usize,
    },
    /// This process does not have the memory.
    #[error(transparent)]
    Forked(#[from] Forked),
}
