//! The stubs of 64-bit ARM: at the entry of a function the return address is in x30.

use std::arch::asm;

/// The block of this thread's state.
#[inline(always)]
pub(crate) fn thread_block() -> *const u8 {
    let block: *const u8;
    // SAFETY: the offset is of the bytes above in this thread's block.
    unsafe {
        asm!(
            "adrp {offset}, :gottprel:corecast_omp_thread",
            "ldr {offset}, [{offset}, :gottprel_lo12:corecast_omp_thread]",
            "mrs {block}, tpidr_el0",
            "add {block}, {block}, {offset}",
            offset = out(reg) _,
            block = lateout(reg) block,
            options(pure, readonly, nostack, preserves_flags),
        );
    }
    block
}

/// A function without parameters: the handler is given the address of the call.
macro_rules! caller_first {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::with_caller! { $(#[$doc])* $name => $handler, "mov x0, x30" })*
    };
}

/// A function with one parameter: the handler is given it, and the address of the call.
macro_rules! caller_second {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::with_caller! { $(#[$doc])* $name => $handler, "mov x1, x30" })*
    };
}

/// A function with two parameters: the handler is given them, and the address of the call.
macro_rules! caller_third {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::with_caller! { $(#[$doc])* $name => $handler, "mov x2, x30" })*
    };
}

macro_rules! with_caller {
    ($(#[$doc:meta])* $name:ident => $handler:path, $take:literal) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> ! {
            // SAFETY: the block is all of the function, so that x30 and the stack are as the call left them; the handler returns
            // to the caller, and takes its arguments and the one that is added here.
            unsafe { std::arch::asm!($take, "b {handler}", handler = sym $handler, options(noreturn, nostack)) }
        }
    };
}

/// A function of any parameters that are numbers or addresses: the handler is given the address of the call, and returns the
/// function that the call goes on to.
macro_rules! diverted {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::diverted_after! { $(#[$doc])* $name => $handler, "" })*
    };
}

/// As `diverted`, but a call goes straight on to the function that the first word of the thread's state names, if any.
macro_rules! diverted_task {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::diverted_after! { $(#[$doc])* $name => $handler,
            "adrp x16, :gottprel:corecast_omp_thread\n\
             ldr x16, [x16, :gottprel_lo12:corecast_omp_thread]\n\
             mrs x17, tpidr_el0\n\
             ldr x16, [x17, x16]\n\
             cbz x16, 2f\n\
             br x16\n\
             2:"
        })*
    };
}

macro_rules! diverted_after {
    ($(#[$doc:meta])* $name:ident => $handler:path, $first:literal) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> ! {
            // SAFETY: the block is all of the function, so that x30 and the stack are as the call left them. It keeps the
            // registers that carry arguments, and leaves them and the stack as they were for the function that the handler
            // names, which returns to the caller.
            unsafe {
                std::arch::asm!(
                    $first,
                    "stp x29, x30, [sp, #-96]!",
                    ".cfi_def_cfa_offset 96", ".cfi_offset w29, -96", ".cfi_offset w30, -88",
                    "stp x0, x1, [sp, #16]", "stp x2, x3, [sp, #32]",
                    "stp x4, x5, [sp, #48]", "stp x6, x7, [sp, #64]", "str x8, [sp, #80]",
                    "mov x0, x30",
                    "bl {handler}",
                    "mov x16, x0",
                    "ldp x0, x1, [sp, #16]", "ldp x2, x3, [sp, #32]",
                    "ldp x4, x5, [sp, #48]", "ldp x6, x7, [sp, #64]", "ldr x8, [sp, #80]",
                    "ldp x29, x30, [sp], #96",
                    ".cfi_def_cfa_offset 0", ".cfi_restore w29", ".cfi_restore w30",
                    "br x16",
                    handler = sym $handler,
                    options(noreturn, nostack)
                )
            }
        }
    };
}

pub(crate) use {caller_first, caller_second, caller_third, diverted, diverted_after, diverted_task, with_caller};
