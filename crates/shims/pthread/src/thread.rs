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
//! After `fork` the only thread of the child keeps its number, by which it knows what it holds.

use std::arch::{asm, global_asm};

// Hidden: no other library sees or replaces it. Zero in a new thread.
global_asm!(
    ".pushsection .tbss.corecast_pthread_thread, \"awT\", @nobits",
    ".globl corecast_pthread_thread",
    ".hidden corecast_pthread_thread",
    ".type corecast_pthread_thread, @object",
    ".size corecast_pthread_thread, 4",
    ".p2align 2",
    "corecast_pthread_thread:",
    ".zero 4",
    ".popsection",
);

/// The number of this thread, not 0.
#[inline]
pub(crate) fn number() -> u32 {
    let number: u32;
    // SAFETY: the offset is of the four bytes above, in this thread's block, which only this thread reads and writes.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + corecast_pthread_thread@GOTTPOFF]",
            "mov {number:e}, dword ptr fs:[{offset}]",
            offset = out(reg) _,
            number = lateout(reg) number,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    if number == 0 { ask() } else { number }
}

#[cold]
fn ask() -> u32 {
    // SAFETY: asks for a number.
    let number = unsafe { libc::gettid() }.unsigned_abs();
    // SAFETY: as in number.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + corecast_pthread_thread@GOTTPOFF]",
            "mov dword ptr fs:[{offset}], {number:e}",
            offset = out(reg) _,
            number = in(reg) number,
            options(nostack, preserves_flags),
        );
    }
    number
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
}
