//! The bits of the lock's word, and the ways to wait that two of them name.

use std::fmt;

/// Held, by the thread whose exchange set this bit.
pub(super) const LOCKED: u32 = 1;
/// While the mode is [`Mode::Park`]: a thread may be asleep.
pub(super) const PARKED: u32 = 1 << 1;
/// While the mode is [`Mode::Park`]: a thread has slept for long, so newcomers hold back for a moment and let it go first.
pub(super) const NOBARGE: u32 = 1 << 2;
/// While the mode is [`Mode::Queue`] and [`LOCKED`] is set: the holder is the first in the queue, and may hand it to the one
/// behind. While the queue is empty nobody holds it: the next to come there does.
pub(super) const QUEUED: u32 = 1 << 3;
/// The mode: 0 is [`Mode::Spin`], and 2 is kept for queues by cache domain.
const MODE: u32 = 3 << 4;
const QUEUE: u32 = 1 << 4;
const PARK: u32 = 3 << 4;
/// The bits that an unlock keeps while the mode stays [`Mode::Park`].
pub(super) const KEPT: u32 = MODE | NOBARGE;

/// How the threads at an [`Auto`](crate::Auto) lock wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
#[repr(u8)]
pub enum Mode {
    /// All poll the word. For few threads, each on a CPU.
    #[default]
    Spin = 0,
    /// The first of a queue polls the word, each other one its own line, on which it may be handed the lock. For many threads,
    /// each on a CPU.
    Queue,
    /// All poll the word for as long as a wake-up costs, and sleep then. For long sections, and for more threads than CPUs.
    Park,
}

impl Mode {
    /// All modes.
    pub const ALL: [Self; 3] = [Self::Spin, Self::Queue, Self::Park];

    /// The mode that this word of a lock names.
    #[inline]
    pub(super) fn of(word: u32) -> Self {
        match word & MODE {
            QUEUE => Self::Queue,
            PARK => Self::Park,
            _ => Self::Spin,
        }
    }

    /// A free word with this mode.
    #[inline]
    pub(super) fn bits(self) -> u32 {
        match self {
            Self::Spin => 0,
            Self::Queue => QUEUE,
            Self::Park => PARK,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Queue => "queue",
            Self::Park => "park",
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_mode_is_read_from_its_word_whatever_else_is_set() {
        for mode in Mode::ALL {
            assert_eq!(Mode::of(mode.bits() | LOCKED | PARKED | NOBARGE), mode);
            assert_eq!(mode.bits() & (LOCKED | PARKED | NOBARGE), 0);
        }
        assert_eq!(Mode::of(0), Mode::default(), "a free word of zeros");
        assert_eq!(Mode::Park.to_string(), "park");
    }
}
