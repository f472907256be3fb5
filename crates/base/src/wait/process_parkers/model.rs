//! The parkers of a model, made anew in every run.

use super::Parkers;
use crate::CacheLine;
use crate::place::PlaceSlice;
use crate::sync::{EventCount, Mutex, in_each_run};

in_each_run! {
    static ref PARKERS: Parkers = PlaceSlice::new((0..2).map(|_| CacheLine::new(EventCount::new())).collect());
    static ref NEXT: Mutex<u32> = Mutex::new(0);
}

pub(in crate::wait) fn all() -> Parkers {
    PARKERS.clone()
}

/// A number that no recent call returned.
pub(in crate::wait) fn next_number() -> u32 {
    let mut next = NEXT.lock().expect("no thread of a model panics while it holds the number");
    *next += 1;
    *next - 1
}
