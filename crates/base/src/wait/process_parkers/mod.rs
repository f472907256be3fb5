//! The parkers of this process. A model makes them anew in every run.

use crate::CacheLine;
use crate::place::PlaceSlice;
use crate::sync::EventCount;

#[cfg(loom)]
mod model;
#[cfg(not(loom))]
mod native;

#[cfg(loom)]
pub(super) use model::{all, next_number};
#[cfg(not(loom))]
pub(super) use native::{all, next_number};

/// The parkers of one memory.
pub type Parkers = PlaceSlice<CacheLine<EventCount>>;
