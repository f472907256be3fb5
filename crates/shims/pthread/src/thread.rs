//! The number of this thread, as the system gives it, in the block that each thread has from its start.
//!
//! It is the model "initial exec" of U. Drepper, ELF Handling For Thread-Local Storage, 2013, which stable Rust has no word
//! for: a variable of `thread_local!` costs a call of `__tls_get_addr` at each lock. An object that is preloaded is there
//! when the blocks are laid out.
//!
//! `corecast-capi` reaches its number of a thread in the same way, and has its own copy of these instructions: it stands on
//! the crate `corecast` alone, whose public names would have to hold a macro for the two. The numbers differ as well: that one
//! is small and of locks.
//!
//! After `fork` the only thread of the child has another number, and a thread that it makes may one day be given the number that
//! it had before. So the word says of which epoch its number is. What the thread held in the parent it finds again by the number
//! that it had there ([`in_this_process`]).

use std::arch::{asm, global_asm};

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};

use crate::fork;

// The number, and in the upper half its epoch plus one. Hidden: no other library sees or replaces it. Zero in a new thread.
global_asm!(
    ".pushsection .tbss.corecast_pthread_thread, \"awT\", @nobits",
    ".globl corecast_pthread_thread",
    ".hidden corecast_pthread_thread",
    ".type corecast_pthread_thread, @object",
    ".size corecast_pthread_thread, 8",
    ".p2align 3",
    "corecast_pthread_thread:",
    ".zero 8",
    ".popsection",
);

/// The processes of a line of children in which the number of the thread that forked is known.
const KNOWN: usize = 16;
/// The number of a thread that is not in this process. The system gives 22 bits at most.
const GONE: u32 = u32::MAX;

/// The epochs of parents, in the upper halves, and the numbers that the thread had there which forked. Written by that thread.
static FORMER: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];
/// The number that this thread has here, if it was forked. Written by that thread.
static FORKED: AtomicU32 = AtomicU32::new(0);

/// The number of this thread, not 0.
#[inline]
pub(crate) fn number() -> u32 {
    let word = word();
    if (word >> 32) as u32 == fork::epoch_or_none() + 1 { word as u32 } else { ask(word) }
}

#[inline]
fn word() -> u64 {
    let word: u64;
    // SAFETY: the offset is of the eight bytes above, in this thread's block, which only this thread reads and writes.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + corecast_pthread_thread@GOTTPOFF]",
            "mov {word}, qword ptr fs:[{offset}]",
            offset = out(reg) _,
            word = lateout(reg) word,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    word
}

/// `before`: the word of this thread so far.
#[cold]
fn ask(before: u64) -> u32 {
    let epoch = fork::epoch();
    // SAFETY: asks for a number.
    let number = unsafe { libc::gettid() }.unsigned_abs();
    if before != 0 {
        keep_former((before >> 32) as u32 - 1, before as u32, number);
    }
    let word = u64::from(epoch + 1) << 32 | u64::from(number);
    // SAFETY: as in word.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + corecast_pthread_thread@GOTTPOFF]",
            "mov qword ptr fs:[{offset}], {word}",
            offset = out(reg) _,
            word = in(reg) word,
            options(nostack, preserves_flags),
        );
    }
    number
}

fn place(epoch: u32) -> &'static AtomicU64 {
    &FORMER[(epoch / 2) as usize % KNOWN]
}

/// Keeps the number that this thread had in that epoch, in which it forked.
fn keep_former(epoch: u32, former: u32, number: u32) {
    // ORDERING: Relaxed, read by this thread, and by others that it makes later
    place(epoch).store(u64::from(epoch) << 32 | u64::from(former), Ordering::Relaxed);
    // ORDERING: Relaxed, read by the same threads as the number above
    FORKED.store(number, Ordering::Relaxed);
}

/// The number that this process knows a thread by which was known by `former` in that epoch. One that is not here is never found
/// again, whatever number a new thread is given.
pub(crate) fn in_this_process(former: u32, epoch: u32) -> u32 {
    // The thread that was forked says so when it is first asked for its number.
    number();
    if epoch == fork::epoch() {
        return former;
    }
    // ORDERING: Relaxed, as in keep_former
    let is_forked = place(epoch).load(Ordering::Relaxed) == u64::from(epoch) << 32 | u64::from(former);
    // ORDERING: Relaxed, as in keep_former
    if is_forked { FORKED.load(Ordering::Relaxed) } else { GONE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thread_has_its_own_number() {
        let mine = number();
        let theirs = std::thread::spawn(|| [number(), number()]).join().expect("no panic");
        assert!(mine == number() && theirs[0] == theirs[1] && mine != theirs[0] && mine != 0);
    }

    #[test]
    fn only_the_thread_that_was_forked_is_found_again() {
        let epoch = fork::epoch() + 2 * KNOWN as u32;
        keep_former(epoch + 2, 7, 9);
        keep_former(epoch + 4, 8, 9);
        assert_eq!([2, 4].map(|ahead| in_this_process(6 + ahead / 2, epoch + ahead)), [9, 9]);
        assert_eq!([in_this_process(8, epoch + 2), in_this_process(7, epoch + 4)], [GONE; 2]);
        assert_eq!(in_this_process(7, fork::epoch()), 7);
        keep_former(epoch + 2 + 2 * KNOWN as u32, 6, 9);
        assert_eq!(in_this_process(7, epoch + 2), GONE, "too long ago");
    }
}
