//! Asks the CPU for a line that will be written, so that it is here, and nowhere else, when the stores come.
//!
//! A hint: no memory is read or written, and a CPU that does not know it does nothing. For lines that no other CPU still
//! reads, as it takes them away.

use crate::sync::AtomicU64;

/// Asks for the line of `word`.
#[cfg(all(target_arch = "x86_64", not(any(loom, miri, simulated))))]
#[inline(always)]
pub fn prefetch_for_write(word: &AtomicU64) {
    // Not `_mm_prefetch`: for a target without PRFCHW, as any x86-64 is by default, it reads the line instead.
    // SAFETY: PREFETCHW changes no register, flag or memory, and is ignored by CPUs that lack it.
    unsafe { std::arch::asm!("prefetchw [{}]", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags)) };
}

/// Asks for the line of `word` as a store does, in its turn among the stores that wait, and goes on.
#[cfg(simulated)]
pub fn prefetch_for_write(word: &AtomicU64) {
    crate::sync::before_write(word.as_ptr().cast(), size_of_val(word));
}

/// Nothing where there is no such hint.
#[cfg(not(any(simulated, all(target_arch = "x86_64", not(any(loom, miri))))))]
#[inline(always)]
pub fn prefetch_for_write(_word: &AtomicU64) {}
