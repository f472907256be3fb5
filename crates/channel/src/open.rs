//! Channels in regions: their declaration, and the errors of opening an end.
//!
//! ```
//! use corecast_base::region::{RegionPlan, SharedRegion};
//! use corecast_channel::ump;
//! let plan = ump::bytes::spec(ump::Config::default()).declare(RegionPlan::new(), "orders")?;
//! let region = SharedRegion::memfd(&plan)?;
//! let mut tx = ump::bytes::sender(&region, "orders")?;
//! let mut rx = ump::bytes::receiver(&region, "orders")?;
//! tx.send(b"two of the blue ones")?;
//! assert_eq!(rx.recv()?.to_vec(), b"two of the blue ones");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use corecast_base::region::{
    Entry, Forked, ParticipantId, RegionPlan, RegionPlanError, SectionError, SharedRegion, kind_name,
};

use crate::policy::Policy;

/// The contents of a region that a channel needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// The kind of channel, such as [`KIND_UMP`](corecast_base::region::KIND_UMP).
    pub kind: u32,
    /// The layout, as the channel itself reads it.
    pub config: [u64; 6],
    /// The memory that it takes, in bytes.
    pub bytes: u64,
}

impl Spec {
    /// Declares the channel under a name.
    ///
    /// # Errors
    /// [`RegionPlanError`] if the name is bad or taken, or there are too many channels.
    pub fn declare(self, plan: RegionPlan, name: &str) -> Result<RegionPlan, RegionPlanError> {
        plan.add(name, self.kind, self.config, self.bytes)
    }
}

/// The reason why the end of a channel could not be opened. Each variant names the channel.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenChannelError {
    /// The region has no channel of this name.
    #[error("the region has no channel '{0}'")]
    NoChannel(String),
    /// The channel is of another kind.
    #[error("channel '{name}' is of kind {found} ({}), not of kind {expected} ({})", kind_name(*.found), kind_name(*.expected))]
    Kind {
        /// The channel's name.
        name: String,
        /// The kind that was found.
        found: u32,
        /// The kind or policy that was asked for.
        expected: u32,
    },
    /// Another participant has this end, or all ends of this kind are taken.
    #[error("the {end} of channel '{name}' is taken by {by:?}")]
    Taken {
        /// The channel's name.
        name: String,
        /// The end: "sender", "receiver" or "reader".
        end: &'static str,
        /// A participant that has it.
        by: ParticipantId,
    },
    /// One end has said goodbye, so nothing comes through this channel any more.
    #[error("channel '{name}' is closed: its {end} has left")]
    Closed {
        /// The channel's name.
        name: String,
        /// The end: "sender", "receiver" or "reader".
        end: &'static str,
    },
    /// The process of an end that cannot be replaced has died.
    #[error("channel '{name}' is dead: the process of its {end} is gone")]
    Died {
        /// The channel's name.
        name: String,
        /// The end: "sender", "receiver" or "reader".
        end: &'static str,
    },
    /// The channel has no readers with this policy.
    #[error("channel '{name}' never overwrites: its readers are reliable, not {policy:?}")]
    Policy {
        /// The channel's name.
        name: String,
        /// The kind or policy that was asked for.
        policy: Policy,
    },
    /// The region describes a channel that cannot be, or its memory holds words that no protocol leaves there.
    #[error("channel '{name}' is damaged: {why}")]
    Layout {
        /// The channel's name.
        name: String,
        /// The finding and the expectation.
        why: String,
    },
    /// This process is a forked child of the one that attached to the region.
    #[error(transparent)]
    Forked(#[from] Forked),
}

impl OpenChannelError {
    /// The error of the channel for an error of its section.
    pub(crate) fn section(name: &str) -> impl Fn(SectionError) -> Self + '_ {
        move |error| match error {
            SectionError::Forked(forked) => forked.into(),
            other => Self::Layout { name: name.to_owned(), why: other.to_string() },
        }
    }
}

/// The channel's entry in the region's directory.
///
/// # Errors
/// [`OpenChannelError::NoChannel`], [`OpenChannelError::Kind`], or [`OpenChannelError::Forked`].
pub(crate) fn find(region: &SharedRegion, name: &str, expected: u32) -> Result<Entry, OpenChannelError> {
    region.check_fork()?;
    let entry = region.entry(name).ok_or_else(|| OpenChannelError::NoChannel(name.to_owned()))?;
    if entry.kind != expected {
        return Err(OpenChannelError::Kind { name: name.to_owned(), found: entry.kind, expected });
    }
    Ok(entry)
}
