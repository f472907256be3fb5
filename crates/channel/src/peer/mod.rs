//! The participants at the two ends of a channel in a region: their claims, and whether the other one is alive.
//!
//! A word for each end holds the participant that has it, 0 for none yet. A participant claims it by compare-and-swap. The
//! kernel is asked about deaths, and seldom: a waiter asks before each sleep, a call that fails without waiting once a
//! millisecond. Under loom there are no regions, and so no peers.

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

/// The longest sleep of a wait that began `waited` ago; `None` if its time limit has passed.
pub(crate) fn nap(peer: Option<&Peer>, timeout: Option<Duration>, waited: Duration) -> Option<Duration> {
    let longest = if peer.is_some() { NAP } else { LONGEST_SLEEP };
    match timeout {
        None => Some(longest),
        Some(timeout) if waited < timeout => Some(longest.min(timeout - waited)),
        Some(_) => None,
    }
}
