//! The number in a variable of Rust's own.

use std::cell::Cell;

thread_local! {
    /// 0 before it is kept.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

#[inline]
pub(super) fn get() -> u32 {
    NUMBER.get()
}

pub(super) fn set(number: u32) {
    NUMBER.set(number);
}
