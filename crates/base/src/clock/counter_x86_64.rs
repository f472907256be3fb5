//! The time-stamp counter.

use std::arch::asm;
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

/// The counter, read after every load before it has arrived and before anything behind it begins (LFENCE on both sides).
#[inline(always)]
pub(super) fn read_in_order() -> u64 {
    let (low, high): (u32, u32);
    // SAFETY: as for `read`; LFENCE is part of SSE2, which every x86-64 has.
    unsafe {
        asm!("lfence", "rdtsc", "lfence", out("eax") low, out("edx") high, options(nostack, preserves_flags));
    }
    u64::from(high) << 32 | u64::from(low)
}
