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

use corecast_base::sync::{AtomicU64, Ordering};

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

/// The processes of a line of children in which the number of the thread that was forked all the way is known.
const KNOWN: usize = 16;
/// The number of a thread that is not in this process. The system gives 22 bits at most.
const GONE: u32 = u32::MAX;

/// The epochs of parents, in the upper halves, and the numbers that this process's first thread had there. Written by that
/// thread.
static FORMER: [AtomicU64; KNOWN] = [const { AtomicU64::new(0) }; KNOWN];
/// The word of the first thread of the last process whose first thread had a word when it was forked: of this process, if the
/// epoch is its own. Written by that thread. No other thread gets its number while that process lives, as it is the process's.
static FORKED: AtomicU64 = AtomicU64::new(0);

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
    let word = word_of(epoch, number);
    if before != 0 {
        keep_former(before, word);
    }
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

fn word_of(epoch: u32, number: u32) -> u64 {
    u64::from(epoch + 1) << 32 | u64::from(number)
}

/// The epoch of a word; of a word 0 one that no process has.
fn epoch_of(word: u64) -> u32 {
    ((word >> 32) as u32).wrapping_sub(1)
}

fn place(epoch: u32) -> &'static AtomicU64 {
    &FORMER[(epoch / 2) as usize % KNOWN]
}

/// Keeps the word that this thread had when it was forked, and those before if it was the parent's first thread, too: the
/// thread of the others is not here.
fn keep_former(former: u64, word: u64) {
    // ORDERING: Relaxed, written by the first thread of a parent
    if FORKED.load(Ordering::Relaxed) != former {
        // ORDERING: Relaxed, as of the word below
        FORMER.iter().for_each(|place| place.store(0, Ordering::Relaxed));
    }
    // ORDERING: Relaxed, read by this thread, and by others that it makes later
    place(epoch_of(former)).store(former, Ordering::Relaxed);
    // ORDERING: Relaxed, read by the same threads as the word above
    FORKED.store(word, Ordering::Relaxed);
}

/// The number that this process knows a thread by which was known by `former` in that epoch. One that is not here is never found
/// again, whatever number a new thread is given.
pub(crate) fn in_this_process(former: u32, epoch: u32) -> u32 {
    // The thread that was forked says so when it is first asked for its number.
    number();
    if epoch == fork::epoch() {
        return former;
    }
    found_here(former, epoch, fork::epoch())
}

/// As [`in_this_process`], where the epoch of the process is `here` and not that one.
fn found_here(former: u32, epoch: u32, here: u32) -> u32 {
    // ORDERING: Relaxed, as in keep_former
    let is_kept = place(epoch).load(Ordering::Relaxed) == word_of(epoch, former);
    // ORDERING: Relaxed, as in keep_former
    let forked = FORKED.load(Ordering::Relaxed);
    if is_kept && epoch_of(forked) == here { forked as u32 } else { GONE }
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
    fn no_word_has_an_epoch_of_none() {
        assert_eq!(
            [epoch_of(word_of(2, 7)), epoch_of(word_of(u32::MAX - 1, 7)), epoch_of(0)],
            [2, u32::MAX - 1, u32::MAX]
        );
    }

    #[test]
    fn only_the_thread_that_was_forked_is_found_again() {
        let epoch = |number: u32| fork::epoch() + 2 * number;
        // Forks by this thread, which has the numbers 7, 8 and so on in turn.
        let fork_again = |at: u32| keep_former(word_of(epoch(at), 6 + at), word_of(epoch(at + 1), 7 + at));
        fork_again(1);
        fork_again(2);
        assert_eq!([1, 2].map(|at| found_here(6 + at, epoch(at), epoch(3))), [9, 9]);
        assert_eq!([found_here(8, epoch(1), epoch(3)), found_here(7, epoch(2), epoch(3))], [GONE; 2]);
        assert_eq!(in_this_process(7, fork::epoch()), 7);
        assert_eq!(found_here(7, epoch(1), epoch(4)), GONE, "a thread has forked that had no number");
        (3..3 + KNOWN as u32).for_each(fork_again);
        let last = 3 + KNOWN as u32;
        assert_eq!(found_here(7, epoch(1), epoch(last)), GONE, "too long ago");
        assert_eq!(found_here(9, epoch(3), epoch(last)), 6 + last);
        keep_former(word_of(epoch(last), 100), word_of(epoch(last + 1), 101));
        assert_eq!(found_here(9, epoch(3), epoch(last + 1)), GONE, "another thread has forked");
        assert_eq!(found_here(100, epoch(last), epoch(last + 1)), 101);
    }
}
