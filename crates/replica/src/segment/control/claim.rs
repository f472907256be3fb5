//! The word that says which node has a slot, and which process.

/// The last claim of a slot. It names its process from the first moment on, so that a slot whose claimant was killed before it
/// said anything else is found to be free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim {
    /// The incarnation, from 1; 0 if nobody has claimed the slot yet.
    pub inc: u16,
    /// The participant of the region that the node is, as a word; 0 among threads.
    pub participant: u64,
}

const INDEX: u32 = 16;
const GENERATION: u32 = 32;

impl Claim {
    /// The claim of a slot that nobody has had.
    pub const NONE: Self = Self { inc: 0, participant: 0 };

    /// The next claim of the slot, by this participant; `None` if the slot has had all its incarnations, as none is used twice.
    #[must_use]
    pub const fn next(self, participant: u64) -> Option<Self> {
        match self.inc.checked_add(1) {
            Some(inc) => Some(Self { inc, participant }),
            None => None,
        }
    }

    /// As a word: the participant's generation, its index below 2^16, the incarnation.
    ///
    /// # Panics
    /// If the index of the participant is larger than that of any region's.
    #[track_caller]
    pub(crate) const fn to_bits(self) -> u64 {
        let (generation, index) = (self.participant >> 32, self.participant & 0xffff_ffff);
        assert!(index <= 0xffff, "a region has at most 1,024 participants");
        generation << GENERATION | index << INDEX | self.inc as u64
    }

    pub(crate) const fn from_bits(bits: u64) -> Self {
        let (generation, index) = (bits >> GENERATION, bits >> INDEX & 0xffff);
        Self { inc: bits as u16, participant: generation << 32 | index }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_says_what_it_was_made_of() {
        for (inc, participant) in [(0, 0), (1, 1 << 32), (u16::MAX, u64::from(u32::MAX) << 32 | 1023), (7, 5 << 32 | 9)]
        {
            let claim = Claim { inc, participant };
            assert_eq!(Claim::from_bits(claim.to_bits()), claim);
        }
        assert_eq!(Claim::NONE.to_bits(), 0, "zeroed memory holds no claim");
    }

    #[test]
    fn no_incarnation_is_used_twice() {
        let last = Claim { inc: u16::MAX, participant: 1 << 32 };
        assert_eq!(last.next(2 << 32), None);
        assert_eq!(Claim::NONE.next(2 << 32), Some(Claim { inc: 1, participant: 2 << 32 }));
    }
}
