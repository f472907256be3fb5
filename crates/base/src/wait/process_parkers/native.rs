//! The parkers of this process, made when a thread first asks for one.

use std::sync::OnceLock;

use super::Parkers;
use crate::CacheLine;
use crate::place::PlaceSlice;
use crate::sync::{AtomicU32, EventCount, Ordering};

/// More than the threads of one process that wait on several channels at once, as a rule. Further threads share parkers.
const COUNT: usize = 256;

pub(in crate::wait) fn all() -> Parkers {
    static PARKERS: OnceLock<Parkers> = OnceLock::new();
    let make = || PlaceSlice::new((0..COUNT).map(|_| CacheLine::new(EventCount::new())).collect());
    PARKERS.get_or_init(make).clone()
}

/// A number that no recent call returned.
pub(in crate::wait) fn next_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // ORDERING: Relaxed, the number is all there is to know
    NEXT.fetch_add(1, Ordering::Relaxed)
}
