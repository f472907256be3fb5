//! Telling one process of a node from another that asks for the same incarnation.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use corecast_base::region::SharedRegion;

use crate::NodeId;

/// A number that only this node has.
pub(crate) fn boot_number(region: &SharedRegion, me: NodeId) -> u64 {
    let mut hasher = DefaultHasher::new();
    (region.generation(), region.me().to_word(), me, std::process::id(), Instant::now()).hash(&mut hasher);
    hasher.finish()
}
