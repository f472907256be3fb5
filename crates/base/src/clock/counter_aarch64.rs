//! The generic timer's virtual count.

use std::arch::asm;

/// The architecture promises one constant rate.
pub(super) fn is_invariant() -> bool {
    !cfg!(miri)
}

/// The count now. Ticks may be as long as 40 ns, so time batches.
#[inline(always)]
pub(super) fn read() -> u64 {
    let count: u64;
    // SAFETY: reading CNTVCT_EL0 has no side effect, and Linux allows it to user programs.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) count, options(nomem, nostack, preserves_flags)) };
    count
}

/// The count, read after everything before it has executed and before anything behind it begins (ISB on both sides).
#[inline(always)]
pub(super) fn read_in_order() -> u64 {
    let count: u64;
    // SAFETY: as for `read`; ISB only makes the core wait.
    unsafe { asm!("isb", "mrs {}, cntvct_el0", "isb", out(reg) count, options(nostack, preserves_flags)) };
    count
}
