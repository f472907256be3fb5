//! The families that were withdrawn before the program was bound: they are passed on for good.

use corecast_base::sync::{AtomicU32, Ordering};
use corecast_preload::{Family, Settings};

/// A bit for each of them. Written by the first thread, while the loader relocates this object.
static WITHDRAWN: AtomicU32 = AtomicU32::new(0);

/// Remembers these families, of which the program now reaches the C library's functions.
#[cfg_attr(test, allow(dead_code, reason = "tests withdraw nothing"))]
pub(crate) fn remember(families: u32) {
    // ORDERING: Relaxed, there is one thread
    WITHDRAWN.store(families, Ordering::Relaxed);
}

/// Whether this object serves the functions of this family.
pub(crate) fn serves(family: Family) -> bool {
    // ORDERING: Relaxed, written before there was a second thread
    let withdrawn = WITHDRAWN.load(Ordering::Relaxed);
    withdrawn & family as u32 == 0 && Settings::get().serves(family)
}
