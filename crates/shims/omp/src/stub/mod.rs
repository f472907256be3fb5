//! Functions that know where they were called from, or that pass a call on without knowing its arguments.
//!
//! A runtime's function is found by the object that calls, which the return address tells. Where a function has a body in the
//! caller's object among its arguments, that tells it too; the others are made here. Their code is a block of assembly and
//! nothing else, which ends in a jump, so that the frame is the caller's: they have no parameters, no locals, and never return
//! themselves. (Functions without a prologue by promise are stable from Rust 1.88 on only.) A test looks at their first bytes.
//!
//! The block of a thread's state is reserved here, too: the stub of tasks looks into it, for a way past everything else.

/// The bytes of a thread's state, which `thread` lays out.
pub(crate) const BLOCK_BYTES: usize = 624;

// Hidden: no other library sees or replaces it.
std::arch::global_asm!(
    ".pushsection .tbss.corecast_omp_thread, \"awT\", @nobits",
    ".globl corecast_omp_thread",
    ".hidden corecast_omp_thread",
    ".type corecast_omp_thread, @object",
    ".size corecast_omp_thread, {bytes}",
    ".p2align 4",
    "corecast_omp_thread:",
    ".zero {bytes}",
    ".popsection",
    bytes = const BLOCK_BYTES,
);

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use self::aarch64::{
    caller_first, caller_second, caller_third, diverted, diverted_after, diverted_task, thread_block, with_caller,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use self::x86_64::{
    caller_first, caller_second, caller_third, diverted, diverted_after, diverted_task, thread_block, with_caller,
};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use std::ffi::c_void;

    extern "C" fn double(caller: *const c_void) -> usize {
        2 * usize::from(!caller.is_null())
    }

    extern "C" fn sum(_caller: *const c_void) -> *const c_void {
        nine_numbers as *const c_void
    }

    extern "C" fn nine_numbers(a: u64, b: u64, c: u64, d: u64, e: u64, f: u64, g: u64, h: u64, i: u64) -> u64 {
        [a, b, c, d, e, f, g, h, i].iter().zip(1..).map(|(value, place)| value * place).sum()
    }

    super::caller_first! {
        /// Of this test.
        corecast_test_double => double;
    }
    super::diverted! {
        /// Of this test.
        corecast_test_sum => sum;
    }

    /// The first bytes of a function's code.
    fn code(function: *const c_void) -> [u8; 4] {
        // SAFETY: a function is longer than that.
        unsafe { function.cast::<[u8; 4]>().read_unaligned() }
    }

    #[test]
    fn stubs_begin_with_their_own_instructions() {
        assert_eq!(code(corecast_test_double as *const c_void), [0x48, 0x8b, 0x3c, 0x24]);
        assert_eq!(code(corecast_test_sum as *const c_void), [0x57, 0x56, 0x52, 0x51]);
    }

    #[test]
    fn arguments_of_a_diverted_call_arrive_and_the_caller_is_known() {
        type Nine = unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64) -> u64;
        let address = corecast_test_sum as *const c_void;
        // SAFETY: the call goes on to a function with this signature.
        let function = unsafe { std::mem::transmute::<*const c_void, Nine>(address) };
        // SAFETY: it only adds.
        let sum = unsafe { function(1, 1, 2, 3, 5, 8, 13, 21, 34) };
        assert_eq!(sum, 1 + 2 + 6 + 12 + 25 + 48 + 91 + 168 + 306);
        let address = corecast_test_double as *const c_void;
        // SAFETY: the handler takes the caller from the stub, and returns a number.
        let function = unsafe { std::mem::transmute::<*const c_void, unsafe extern "C" fn() -> usize>(address) };
        // SAFETY: it only looks at an address.
        assert_eq!(unsafe { function() }, 2);
    }
}
