//! The stubs of x86-64: at the entry of a function the return address is on top of the stack.

use std::arch::asm;

/// The block of this thread's state.
#[inline(always)]
pub(crate) fn thread_block() -> *const u8 {
    let block: *const u8;
    // SAFETY: the offset is of the bytes above in this thread's block, whose own address is its first word.
    unsafe {
        asm!(
            "mov {block}, qword ptr fs:[0]",
            "add {block}, qword ptr [rip + corecast_omp_thread@GOTTPOFF]",
            block = out(reg) block,
            options(pure, readonly, nostack),
        );
    }
    block
}

/// A function without parameters: the handler is given the address of the call.
macro_rules! caller_first {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::with_caller! { $(#[$doc])* $name => $handler, "mov rdi, [rsp]" })*
    };
}

/// A function with one parameter: the handler is given it, and the address of the call.
macro_rules! caller_second {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::with_caller! { $(#[$doc])* $name => $handler, "mov rsi, [rsp]" })*
    };
}

/// A function with two parameters: the handler is given them, and the address of the call.
macro_rules! caller_third {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::with_caller! { $(#[$doc])* $name => $handler, "mov rdx, [rsp]" })*
    };
}

macro_rules! with_caller {
    ($(#[$doc:meta])* $name:ident => $handler:path, $take:literal) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> ! {
            // SAFETY: the block is all of the function, so that the stack is as the call left it; the handler returns to the
            // caller, and takes its arguments and the one that is added here.
            unsafe {
                std::arch::asm!($take, "jmp {handler}", handler = sym $handler, options(noreturn, nostack))
            }
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

/// As `diverted`, but a call goes straight on to the function that the first word of the thread's state names, if any. That takes
/// a nanosecond, and the way past the handler five.
macro_rules! diverted_task {
    ($($(#[$doc:meta])* $name:ident => $handler:path;)*) => {
        $(crate::stub::diverted_after! { $(#[$doc])* $name => $handler,
            "mov r11, qword ptr [rip + corecast_omp_thread@GOTTPOFF]\n\
             mov r11, qword ptr fs:[r11]\n\
             test r11, r11\n\
             jz 2f\n\
             jmp r11\n\
             2:"
        })*
    };
}

macro_rules! diverted_after {
    ($(#[$doc:meta])* $name:ident => $handler:path, $first:literal) => {
        $(#[$doc])*
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name() -> ! {
            // SAFETY: the block is all of the function, so that the stack is as the call left it. It keeps the registers that
            // carry arguments, keeps the stack aligned for the handler, and leaves both as they were for the function that the
            // handler names, which returns to the caller.
            unsafe {
                std::arch::asm!(
                    $first,
                    "push rdi", "push rsi", "push rdx", "push rcx", "push r8", "push r9", "sub rsp, 8",
                    ".cfi_adjust_cfa_offset 56",
                    "mov rdi, [rsp + 56]",
                    "call {handler}",
                    "mov r11, rax",
                    "add rsp, 8", "pop r9", "pop r8", "pop rcx", "pop rdx", "pop rsi", "pop rdi",
                    ".cfi_adjust_cfa_offset -56",
                    "jmp r11",
                    handler = sym $handler,
                    options(noreturn, nostack)
                )
            }
        }
    };
}

pub(crate) use {caller_first, caller_second, caller_third, diverted, diverted_after, diverted_task, with_caller};
