//! Copies between memory that others may write at any time and memory of our own.
//!
//! Short copies go word by word, relaxed. A long one uses the processor's own copy instruction, which counts for the
//! language like the relaxed accesses: the compiler assumes nothing about the copied bytes and never elides or repeats the
//! copy. A neighbour that breaks the protocol may tear words then, too.

use corecast_base::sync::{AtomicU64, Ordering};
#[cfg(all(target_arch = "x86_64", not(loom), not(miri), not(sanitized)))]
use corecast_base::sync::{before_read, before_write};

const WORD_BYTES: usize = size_of::<u64>();

/// Copies all words to `into`, which has the same length.
#[inline(always)]
pub(crate) fn load(from: &[AtomicU64], into: &mut [u8]) {
    debug_assert_eq!(into.len(), from.len() * WORD_BYTES, "whole words");
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri), not(sanitized)))]
    if into.len() >= string::LEAST_BYTES {
        before_read(from.as_ptr().cast::<u8>(), into.len());
        // SAFETY: both have this length, and are valid for as long as they are borrowed; `into` is borrowed here alone.
        unsafe { string::copy(from.as_ptr().cast::<u8>(), into.as_mut_ptr(), into.len()) };
        return;
    }
    for (word, chunk) in from.iter().zip(into.chunks_exact_mut(WORD_BYTES)) {
        // ORDERING: Relaxed, ordered by the word that published the message
        chunk.copy_from_slice(&word.load(Ordering::Relaxed).to_ne_bytes());
    }
}

/// Copies all of `from` to the words, which have the same length.
#[inline(always)]
pub(crate) fn store(to: &[AtomicU64], from: &[u8]) {
    debug_assert_eq!(from.len(), to.len() * WORD_BYTES, "whole words");
    #[cfg(all(target_arch = "x86_64", not(loom), not(miri), not(sanitized)))]
    if from.len() >= string::LEAST_BYTES {
        before_write(to.as_ptr().cast::<u8>(), from.len());
        // SAFETY: both have this length, and are valid for as long as they are borrowed; atomics may change behind a shared
        // reference.
        unsafe { string::copy(from.as_ptr(), to.as_ptr().cast::<u8>().cast_mut(), from.len()) };
        return;
    }
    for (word, chunk) in to.iter().zip(from.chunks_exact(WORD_BYTES)) {
        let value = u64::from_ne_bytes(chunk.try_into().expect("chunks are of one word"));
        // ORDERING: Relaxed, ordered by the word that publishes the message
        word.store(value, Ordering::Relaxed);
    }
}

#[cfg(all(target_arch = "x86_64", not(loom), not(miri), not(sanitized)))]
mod string {
    use std::arch::asm;

    /// The shortest copy by the instruction, which takes some tens of cycles to begin.
    pub(super) const LEAST_BYTES: usize = 1024;

    /// Copies bytes. No thread sees a later store before the copied bytes, or before they are read: processors reorder only
    /// the bytes of one copy among themselves, and order earlier loads and later stores as for any other instruction (Intel
    /// 64 and IA-32 Architectures Software Developer's Manual, volume 3, 9.2.4). On processors without enhanced string
    /// copies (before 2013) this is slower than word by word.
    ///
    /// # Safety
    /// - `from` is valid for reads and `to` for writes of `len` bytes, which do not overlap.
    #[inline(always)]
    pub(super) unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
        // SAFETY: as the caller promises; the direction flag is clear in Rust code.
        unsafe {
            asm!(
                "rep movsb",
                inout("rcx") len => _,
                inout("rsi") from => _,
                inout("rdi") to => _,
                options(nostack, preserves_flags)
            );
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn every_length_comes_back_as_it_went() {
        for words in [0, 1, 7, 127, 128, 129, 2048, 5000] {
            let memory: Vec<AtomicU64> = (0..words + 2).map(|_| AtomicU64::new(u64::MAX)).collect();
            let from: Vec<u8> = (0..words * WORD_BYTES).map(|i| (i * 31 % 251) as u8).collect();
            store(&memory[1..=words], &from);
            let mut into = vec![0; from.len()];
            load(&memory[1..=words], &mut into);
            assert!(into == from, "{words} words");
            for outside in [&memory[0], &memory[words + 1]] {
                assert_eq!(outside.load(Ordering::Relaxed), u64::MAX, "{words} words");
            }
        }
    }
}
