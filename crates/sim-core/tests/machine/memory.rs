//! Memory of simulated programs.

use corecast_sim_core::Word;

/// A line of memory of its own, which is never freed.
#[derive(Clone, Copy)]
pub(crate) struct Line(*mut Bytes);

#[repr(align(64))]
struct Bytes(#[expect(dead_code, reason = "only its address is used")] [u64; 8]);

impl Line {
    pub(crate) fn new() -> Self {
        Self(Box::into_raw(Box::new(Bytes([0; 8]))))
    }

    /// Its first word.
    pub(crate) fn word(self) -> Word {
        // SAFETY: eight bytes that are never freed, which threads of one run access only.
        unsafe { Word::of(self.0.cast::<u64>()) }
    }

    /// Its first two words.
    pub(crate) fn words(self) -> [Word; 2] {
        let second = self.0.cast::<u64>().wrapping_add(1);
        // SAFETY: as in `word`.
        [self.word(), unsafe { Word::of(second) }]
    }

    /// The value of its first word, once no run is left that uses it.
    pub(crate) fn value(self) -> u64 {
        // SAFETY: as in `word`; no thread runs.
        unsafe { self.0.cast::<u64>().read() }
    }
}
