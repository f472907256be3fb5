//! Instructions about caches and order that no stable intrinsic of every supported compiler names alike.

use std::arch::asm;

use corecast::base::sync::AtomicU64;

/// Whether lines can be put out of all caches here.
pub(super) const FLUSHES: bool = true;

/// Writes the line back and puts it out of all caches; done when this returns.
#[inline(always)]
pub(super) fn flush(word: &AtomicU64) {
    // SAFETY: CLFLUSH is part of SSE2, which every x86-64 has, and changes no value; the address is of a living word.
    unsafe { asm!("clflush [{}]", "mfence", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags)) };
}

/// LFENCE: waits for every load before it.
#[inline(always)]
pub(super) fn load_fence() {
    // SAFETY: LFENCE is part of SSE2, and only makes the core wait.
    unsafe { asm!("lfence", options(nostack, preserves_flags)) };
}

/// SFENCE: orders stores.
#[inline(always)]
pub(super) fn store_fence() {
    // SAFETY: SFENCE is part of SSE, and only orders.
    unsafe { asm!("sfence", options(nostack, preserves_flags)) };
}

/// MFENCE: waits until every load has arrived and every store is seen.
#[inline(always)]
pub(super) fn full_fence() {
    // SAFETY: MFENCE is part of SSE2, and only makes the core wait.
    unsafe { asm!("mfence", options(nostack, preserves_flags)) };
}

/// NOP.
#[inline(always)]
pub(super) fn nop() {
    // SAFETY: it does nothing.
    unsafe { asm!("nop", options(nomem, nostack, preserves_flags)) };
}
