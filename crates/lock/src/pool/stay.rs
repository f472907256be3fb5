//! [`Stay`]: a node in a queue, for queues that name a node after another thread may have it.

use corecast_base::sync::{AtomicU64, Ordering};

use super::node;

/// A node that is in a queue, and for which time: no two are the same while 2^32 are not in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stay {
    pub(crate) number: u32,
    pub(crate) round: u32,
}

impl Stay {
    /// The next stay of this node, which is the caller's.
    #[inline]
    pub(crate) fn next(number: u32) -> Self {
        let rounds = &node(number).rounds;
        // ORDERING: Relaxed, it went from thread to thread with the node
        let round = rounds.load(Ordering::Relaxed).wrapping_add(1);
        // ORDERING: Relaxed, the caller alone has the node
        rounds.store(round, Ordering::Relaxed);
        Self { number, round }
    }

    #[inline]
    pub(crate) fn word(self) -> u64 {
        u64::from(self.round) << 32 | u64::from(self.number)
    }

    #[inline]
    pub(crate) fn of_word(word: u64) -> Self {
        Self { number: word as u32, round: (word >> 32) as u32 }
    }
}

/// The word of a stay, to swap.
pub(crate) type StayWord = AtomicU64;

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::pool::{give, take};

    #[test]
    fn stays_differ_and_survive_a_word() {
        let number = take();
        let (first, second) = (Stay::next(number), Stay::next(number));
        assert_ne!(first, second);
        assert_eq!(Stay::of_word(second.word()), second);
        give(number);
    }
}
