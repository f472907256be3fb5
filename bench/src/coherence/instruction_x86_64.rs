//! Instructions of x86-64 for flushes and order for which the supported compilers have no common stable intrinsic.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count};

use corecast::base::sync::AtomicU64;

use super::lines::Line;

/// Whether lines can be put out of all caches here.
pub(super) const FLUSHES: bool = true;

/// Writes the line back and puts it out of all caches; done when this returns.
#[inline(always)]
pub(super) fn flush(word: &AtomicU64) {
    // SAFETY: CLFLUSH is part of SSE2, which every x86-64 has, and changes no value; the address is of a living word.
    unsafe { asm!("clflush [{}]", "mfence", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags)) };
}

/// Whether this core knows PREFETCHW (CPUID 8000_0001h, ECX bit 8); others take it for a NOP.
pub(super) fn knows_prefetch_for_write() -> bool {
    __cpuid(0x8000_0000).eax >= 0x8000_0001 && __cpuid(0x8000_0001).ecx & (1 << 8) != 0
}

/// PREFETCHW: fetches the line to write to it.
#[inline(always)]
pub(super) fn prefetch_for_write(word: &AtomicU64) {
    // SAFETY: a hint that changes no value; the address is of a living word.
    unsafe { asm!("prefetchw [{}]", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags)) };
}

/// Whether this core knows CLDEMOTE (CPUID 7, ECX bit 25); others take it for a NOP.
pub(super) fn knows_demote() -> bool {
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ecx & (1 << 25) != 0
}

/// CLDEMOTE: moves the line towards the caches that others share.
#[inline(always)]
pub(super) fn demote(word: &AtomicU64) {
    // SAFETY: a hint that changes no value; the address is of a living word.
    unsafe { asm!("cldemote [{}]", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags)) };
}

/// Whether this core knows CLWB (CPUID 7, EBX bit 24); others must not meet it.
pub(super) fn knows_write_back() -> bool {
    __cpuid(0).eax >= 7 && __cpuid_count(7, 0).ebx & (1 << 24) != 0
}

/// CLWB: writes the line to memory and may keep it; done when this returns. Only where [`knows_write_back`].
#[inline(always)]
pub(super) fn write_back(word: &AtomicU64) {
    // SAFETY: the caller has asked whether the core knows it; it changes no value, and the address is of a living word.
    unsafe { asm!("clwb [{}]", "mfence", in(reg) std::ptr::from_ref(word), options(nostack, preserves_flags)) };
}

/// Whether this core knows CMPXCHG16B (CPUID 1, ECX bit 13); others must not meet it.
pub(super) fn knows_wide_cas() -> bool {
    __cpuid(1).ecx & (1 << 13) != 0
}

/// CMPXCHG16B: compares and swaps both words of a line at once, and returns what was there. Only where [`knows_wide_cas`].
#[inline(always)]
pub(super) fn wide_cas(line: &Line, [mut low, mut high]: [u64; 2], [value, value_high]: [u64; 2]) -> [u64; 2] {
    let words = line.as_ptr();
    // The compiler keeps RBX for itself, so the lower half of the value is only there while the instruction needs it.
    // SAFETY: the caller has asked whether the core knows it; both words are alive, reached by atomics alone, and aligned, as
    // they begin a line.
    unsafe {
        asm!(
            "xchg {value}, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, {value}",
            value = inout(reg) value => _,
            in("rcx") value_high,
            in("rdi") words,
            inout("rax") low,
            inout("rdx") high,
            options(nostack),
        );
    }
    [low, high]
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
