//! The time-stamp counter.

use std::arch::x86_64::{__cpuid, _rdtsc};

/// True if the counter runs at one rate in all power states (CPUID 8000_0007h, EDX bit 8).
pub(super) fn is_invariant() -> bool {
    if cfg!(miri) {
        return false;
    }
    __cpuid(0x8000_0000).eax >= 0x8000_0007 && __cpuid(0x8000_0007).edx & (1 << 8) != 0
}

/// The counter now. Not serialising: loads and stores around it may move by some tens of cycles, so time batches.
#[inline(always)]
pub(super) fn read() -> u64 {
    // SAFETY: RDTSC needs no more than x86-64 itself; where the kernel forbids it (PR_TSC_SIGSEGV) nothing else of the
    // standard library's clock works either.
    unsafe { _rdtsc() }
}
