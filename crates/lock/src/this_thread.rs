//! The number that the system gives to this thread, by which a lock knows its holder.
//!
//! Take it to tell whether it was this thread that left something. The address of something of the thread's own would not do:
//! the next thread often gets the stack of one that has ended, and would be taken for it. Linux gives numbers in turn, and
//! one of a thread that has ended only when all others were given.
//!
//! After `fork` the only thread of the child keeps the number of the one that forked, if that had asked for it. The system may
//! give that number to a thread that the child makes once the parent has ended. So a part of a number says which process has
//! asked for it: a child's differ from those of its parent, and of two before that.
//!
//! **Progress:** wait-free; the first call of a thread asks the system. **Memory ordering:** none.

use std::cell::Cell;

use corecast_base::sync::thread_id;
#[cfg(not(loom))]
use corecast_base::sync::{AtomicU64, Ordering};

/// The bits of the system's numbers.
const SYSTEM_BITS: u32 = 22;
/// Processes of a line of parents and children whose numbers differ.
const GENERATIONS: u64 = 4;

/// No number is larger: Linux gives 22 bits at most.
pub const LARGEST: u32 = (1 << 24) - 1;

const _: () = assert!(((GENERATIONS as u32) << SYSTEM_BITS) - 1 == LARGEST);

corecast_base::per_thread! {
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
    let system = thread_id() & ((1 << SYSTEM_BITS) - 1);
    let number = (generation() << SYSTEM_BITS) | system;
    NUMBER.set(number);
    number
}

/// The place of this process in a line of parents and children whose threads have asked, as far as it is told apart.
#[cfg(not(loom))]
fn generation() -> u32 {
    /// The process in which a thread has asked last, and in the upper half its generation; 0 before any has. Written by the
    /// threads that ask first in a process.
    static PROCESS: AtomicU64 = AtomicU64::new(0);
    // ORDERING: Relaxed, the word is all there is
    let seen = PROCESS.load(Ordering::Relaxed);
    let own = own_process(seen, std::process::id());
    // ORDERING: Relaxed, the word is all there is
    let _ = PROCESS.compare_exchange(seen, own, Ordering::Relaxed, Ordering::Relaxed);
    (own >> 32) as u32
}

/// A model has one process, and its atomics no `const fn new`.
#[cfg(loom)]
fn generation() -> u32 {
    0
}

/// The word of a process, in which `seen` is what it or a parent has left.
#[cfg(not(loom))]
fn own_process(seen: u64, process: u32) -> u64 {
    match seen {
        0 => u64::from(process),
        _ if seen as u32 == process => seen,
        _ => ((((seen >> 32) + 1) % GENERATIONS) << 32) | u64::from(process),
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn threads_of_a_child_have_other_numbers_than_the_one_that_forked() {
        let mut word = own_process(0, 100);
        assert_eq!((word, own_process(word, 100)), (100, 100));
        let generations = [101, 102, 103, 104].map(|process| {
            word = own_process(word, process);
            assert_eq!((word as u32, own_process(word, process)), (process, word));
            word >> 32
        });
        assert_eq!(generations, [1, 2, 3, 0]);
    }

    #[test]
    fn each_thread_has_a_number_of_its_own() {
        let mine = number();
        let theirs = std::thread::spawn(|| [number(), number()]).join().expect("no panic");
        assert!(mine == number() && theirs[0] == theirs[1] && mine != theirs[0]);
        assert!(mine != 0 && mine <= LARGEST && theirs[0] <= LARGEST);
    }
}
