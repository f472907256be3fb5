//! The participants of a channel that is raced: the loop over its operation, and a check of it.
//!
//! A channel implements [`SendEnd`] and [`RecvEnd`]; the generic bodies around them hold the timed loops and the checks, the
//! same for all channels and compiled for each.

mod one_way;
mod stream;

pub(crate) use one_way::one_way_bodies;
pub(crate) use stream::stream_bodies;

use corecast_race::failure::Failure;
use corecast_race::message::Item;
use corecast_race::op::Op;

/// The sending end of a channel that is raced.
pub(crate) trait SendEnd: Send + 'static {
    /// The payload.
    type Item: Item;

    fn send(&mut self, item: Self::Item) -> Result<(), Failure>;
}

/// The receiving end of a channel that is raced.
pub(crate) trait RecvEnd: Send + 'static {
    /// The payload.
    type Item: Item;

    fn recv(&mut self) -> Result<Self::Item, Failure>;
}

/// The name of a channel: where one operation races several sizes, the size tells them apart.
pub(crate) fn channel_name(family: &str, op: Op, slots: usize) -> String {
    if matches!(op, Op::Stream | Op::Words) { format!("{family}/{slots}") } else { family.to_owned() }
}
