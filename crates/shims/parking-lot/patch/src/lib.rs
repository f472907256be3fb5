//! `corecast-parking-lot` by the name of parking_lot, for `[patch.crates-io]`: see the readme beside this folder.

pub use corecast_parking_lot::*;
