//! A channel each way between two neighbours in a tree.

use std::any::TypeId;

use corecast_channel::Plain;
use corecast_channel::ump::any::{Receiver as AnyReceiver, Sender as AnySender, signature};
use corecast_channel::ump::longest_message;

use crate::error::Error;

/// Slots of an edge: enough for the root to run ahead by some operations, few enough to stay in the first-level cache.
pub(crate) const EDGE_SLOTS: usize = 32;
/// The longest value that travels along an edge in one message.
pub(crate) const LONGEST_MESSAGE: usize = longest_message(EDGE_SLOTS);

/// One member's end of the edge to a neighbour.
#[derive(Debug)]
pub(crate) struct Link {
    /// The neighbour.
    pub(crate) rank: usize,
    pub(crate) tx: AnySender,
    pub(crate) rx: AnyReceiver,
}

/// Refuses values of several messages: a limit could end the wait in the middle of one.
pub(crate) fn check_one_message<T>() -> Result<(), Error> {
    let (bytes, most) = (size_of::<T>(), LONGEST_MESSAGE);
    if bytes <= most { Ok(()) } else { Err(Error::TooLarge { bytes, most }) }
}

/// The type that was shown last and its signature, which takes some time to compute.
#[derive(Debug)]
pub(crate) struct LastType(TypeId, u64);

impl Default for LastType {
    fn default() -> Self {
        Self(TypeId::of::<()>(), signature::<()>())
    }
}

impl LastType {
    #[inline(always)]
    pub(crate) fn signature<T: Plain>(&mut self) -> u64 {
        if self.0 != TypeId::of::<T>() {
            *self = Self(TypeId::of::<T>(), signature::<T>());
        }
        self.1
    }
}
