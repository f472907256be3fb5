//! The number in the block that each thread has from its start: the model "initial exec" of U. Drepper, ELF Handling For
//! Thread-Local Storage, 2013, which stable Rust has no word for.

use std::arch::{asm, global_asm};

// Hidden: no other library sees or replaces it. Zero in a new thread.
global_asm!(
    ".pushsection .tbss.corecast_c_thread_number, \"awT\", @nobits",
    ".globl corecast_c_thread_number",
    ".hidden corecast_c_thread_number",
    ".type corecast_c_thread_number, @object",
    ".size corecast_c_thread_number, 4",
    ".p2align 2",
    "corecast_c_thread_number:",
    ".zero 4",
    ".popsection",
);

#[inline]
pub(super) fn get() -> u32 {
    let number: u32;
    // SAFETY: the offset is of the four bytes above, in this thread's block, which only this thread reads and writes.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + corecast_c_thread_number@GOTTPOFF]",
            "mov {number:e}, dword ptr fs:[{offset}]",
            offset = out(reg) _,
            number = lateout(reg) number,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    number
}

pub(super) fn set(number: u32) {
    // SAFETY: as in get.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + corecast_c_thread_number@GOTTPOFF]",
            "mov dword ptr fs:[{offset}], {number:e}",
            offset = out(reg) _,
            number = in(reg) number,
            options(nostack, preserves_flags),
        );
    }
}
