//! Channels in regions: how they are declared, and what opening one of their ends can fail with.
//!
//! ```
//! use corecast_base::region::{RegionPlan, SharedRegion};
//! use corecast_channel::ump;
//! let plan = ump::bytes::spec(&ump::Config::default()).declare(RegionPlan::new(), "orders")?;
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

/// What a region has to hold for a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spec {
    /// Which channel: [`KIND_UMP`], [`KIND_FF`] or [`KIND_MCAST`].
    pub kind: u32,
    /// How it is laid out, as the channel itself reads it.
    pub config: [u64; 6],
    /// How much memory it takes, in bytes.
    pub bytes: u64,
}

impl Spec {
    /// Declares the channel under a name.
    ///
    /// # Errors
    /// [`RegionPlanError`] if the name is none or taken, or there are too many channels.
    pub fn declare(self, plan: RegionPlan, name: &str) -> Result<RegionPlan, RegionPlanError> {
        plan.add(name, self.kind, self.config, self.bytes)
    }
}

/// Why the end of a channel could not be opened. Each tells the channel's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum OpenChannelError {
    /// The region has no channel of this name.
    #[error("the region has no channel '{0}'")]
    NoChannel(String),
    /// It is another kind of channel.
    #[error("channel '{name}' is of kind {found} ({}), not of kind {expected} ({})", kind_name(*.found), kind_name(*.expected))]
    Kind {
        /// The channel's name.
        name: String,
        /// What it is.
        found: u32,
        /// What was asked for.
        expected: u32,
    },
    /// Another participant has this end, or all places of this kind of end are taken.
    #[error("the {end} of channel '{name}' is taken by {by:?}")]
    Taken {
        /// The channel's name.
        name: String,
        /// Which end.
        end: &'static str,
        /// One of those who have it.
        by: ParticipantId,
    },
    /// One end has said goodbye: nothing will come through this channel any more.
    #[error("channel '{name}' is closed: its {end} has left")]
    Closed {
        /// The channel's name.
        name: String,
        /// Which end.
        end: &'static str,
    },
    /// The process of an end that cannot be replaced is gone.
    #[error("channel '{name}' is dead: the process of its {end} is gone")]
    Died {
        /// The channel's name.
        name: String,
        /// Which end.
        end: &'static str,
    },
    /// The channel has no readers of the policy that was asked for.
    #[error("channel '{name}' never overwrites: its readers are reliable, not {policy:?}")]
    Policy {
        /// The channel's name.
        name: String,
        /// What was asked for.
        policy: Policy,
    },
    /// The region says of the channel what cannot be, or its memory holds what no protocol leaves there.
    #[error("channel '{name}' is damaged: {why}")]
    Layout {
        /// The channel's name.
        name: String,
        /// What was found and what was expected.
        why: String,
    },
    /// This process is a forked child of the one that attached to the region.
    #[error(transparent)]
    Forked(#[from] Forked),
}

impl OpenChannelError {
    /// What a wrong part of a section means for the channel.
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
