//! The number that the system gives to this thread, by which a lock knows its holder.
//!
//! Take it to tell whether it was this thread that left something. The address of something of the thread's own would not do:
//! the next thread often gets the stack of one that has ended, and would be taken for it. Linux gives numbers in turn, and
//! one of a thread that has ended only when all others were given.
//!
//! After `fork` the only thread of the child keeps the number of the one that forked, if that had asked for it.
//!
//! **Progress:** wait-free; the first call of a thread asks the system. **Memory ordering:** none.

use std::cell::Cell;

/// No number is larger: Linux gives 22 bits at most.
pub const LARGEST: u32 = (1 << 24) - 1;

thread_local! {
    /// 0 before it was asked for.
    static NUMBER: Cell<u32> = const { Cell::new(0) };
}

/// A number that no other thread of this process has at the same time; never 0.
#[inline]
#[must_use]
pub fn number() -> u32 {
    match NUMBER.get() {
        0 => ask(),
        number => number,
    }
}

#[cold]
fn ask() -> u32 {
    let number = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs() & LARGEST;
    NUMBER.set(number);
    number
}
