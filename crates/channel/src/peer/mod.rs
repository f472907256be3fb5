//! The participants at the two ends of a channel in a region: who has which end, and whether the other one is there.
//!
//! A word for each end holds the participant that has it, 0 for nobody yet. It is claimed by compare-and-swap. Death is
//! asked of the kernel, and seldom: a waiter looks before each nap, a call that fails without waiting once a millisecond.
//! Under loom there are no regions, and so no peers.

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(crate) use model::Peer;
#[cfg(not(loom))]
pub(crate) use native::{Claim, Peer, claim};

use std::time::Duration;

use corecast_base::wait::LONGEST_SLEEP;

/// The longest sleep without a look at the other end's participant.
const NAP: Duration = Duration::from_millis(50);

/// How long a wait that began `waited` ago may sleep; `None` if its time limit has passed.
pub(crate) fn nap(peer: Option<&Peer>, timeout: Option<Duration>, waited: Duration) -> Option<Duration> {
    let longest = if peer.is_some() { NAP } else { LONGEST_SLEEP };
    match timeout {
        None => Some(longest),
        Some(timeout) if waited < timeout => Some(longest.min(timeout - waited)),
        Some(_) => None,
    }
}
