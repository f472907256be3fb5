//! The survivors of a failed group: how all of them come to agree on the same set.
//!
//! Each member has a word, which is written once, by a compare and exchange from 0. The member itself writes that it stays
//! and how many operations it has completed; or another member writes that it is gone, after finding that it has left or
//! died. Once no word is 0, all members read the same. So each member is decided on by itself, and no member has to propose
//! a set; and as a word is complete in itself, nothing has to be ordered.
//!
//! A member that may still come is never counted as gone: a member announces its own leaving, and the kernel reports the
//! death of a process. A member that stays and dies later belongs to the new group, and is lost to that one.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, Place, PlaceSlice};

use crate::error::{Error, Loss};

/// Marks a member as gone.
const GONE: u64 = 1;
/// Marks a member that stays; the bits below count the operations that it has completed.
const STAYS: u64 = 1 << 63;

/// The words of all members.
#[derive(Debug, Clone)]
pub(crate) struct Survivors {
    /// 0, [`GONE`] or [`STAYS`] and a count; written once, as said above.
    words: PlaceSlice<AtomicU64>,
    /// The bytes that each survivor lays out for the new group; 0 until the first one has. Written once, by the first.
    bytes: Place<AtomicU64>,
}

/// A member that stays, and the operations that it has completed.
pub(crate) type Survivor = (usize, u64);

impl Survivors {
    pub(crate) fn lay_out(arena: &mut Arena, members: usize) -> Result<Self, ArenaError> {
        Ok(Self { words: arena.slice(members)?, bytes: arena.place()? })
    }

    /// Marks a member as staying. Called by the member itself, any number of times.
    pub(crate) fn stay(&self, rank: usize, completed: u64) -> Result<(), Error> {
        match self.decide(rank, STAYS | completed) {
            0 => Ok(()),
            word if word & STAYS != 0 => Ok(()),
            // Another member found that it had left, and it joined again just before it heard of the failure.
            GONE => Err(Error::MemberLost { rank, loss: Loss::Left }),
            _ => Err(Error::Corrupt),
        }
    }

    /// Records the bytes that a staying member lays out for the new group, more than 0.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if another member lays out a different number, as one of another version might.
    pub(crate) fn agree_on(&self, bytes: usize) -> Result<(), Error> {
        // ORDERING: Relaxed, the number is all there is to say
        let first = self.bytes.compare_exchange(0, bytes as u64, Ordering::Relaxed, Ordering::Relaxed);
        first.map_or_else(|found| found == bytes as u64, |_| true).then_some(()).ok_or(Error::Corrupt)
    }

    /// Says that a member is gone, which has left or died.
    pub(crate) fn declare_gone(&self, rank: usize) {
        self.decide(rank, GONE);
    }

    /// Writes a word that is 0 still; returns what it was.
    fn decide(&self, rank: usize, word: u64) -> u64 {
        // ORDERING: Relaxed, the word is all there is to say
        self.words[rank].compare_exchange(0, word, Ordering::Relaxed, Ordering::Relaxed).unwrap_or_else(|found| found)
    }

    fn word(&self, rank: usize) -> u64 {
        // ORDERING: Relaxed, the word is all there is to read
        self.words[rank].load(Ordering::Relaxed)
    }

    /// The members that are not decided on yet.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len()).filter(|&rank| self.word(rank) == 0)
    }

    /// The survivors by rank, once all members are decided on. Another process may have written anything into a word.
    pub(crate) fn decided(&self) -> Option<Result<Vec<Survivor>, Error>> {
        if self.undecided().next().is_some() {
            return None;
        }
        let words = (0..self.words.len()).map(|rank| (rank, self.word(rank)));
        let stay = words.filter(|&(_, word)| word != GONE);
        let survivors = stay.map(|(rank, word)| word.checked_sub(STAYS).map(|completed| (rank, completed)));
        Some(survivors.collect::<Option<_>>().ok_or(Error::Corrupt))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn survivors(members: usize) -> Survivors {
        Survivors::lay_out(&mut Arena::heap(), members).expect("the heap has room")
    }

    #[test]
    fn the_first_word_of_a_member_stands() {
        let survivors = survivors(3);
        assert_eq!(survivors.stay(0, 7), Ok(()));
        survivors.declare_gone(0);
        survivors.declare_gone(1);
        assert_eq!(survivors.stay(0, 9), Ok(()), "it has said so before");
        assert_eq!(survivors.stay(1, 9), Err(Error::MemberLost { rank: 1, loss: Loss::Left }));
        assert_eq!(survivors.undecided().collect::<Vec<_>>(), [2]);
        assert_eq!(survivors.decided(), None);
        assert_eq!(survivors.stay(2, 0), Ok(()));
        assert_eq!(survivors.decided(), Some(Ok(vec![(0, 7), (2, 0)])));
    }

    #[test]
    fn a_member_that_lays_out_another_size_gets_an_error() {
        let survivors = survivors(3);
        assert_eq!([4096, 8192, 4096].map(|bytes| survivors.agree_on(bytes)), [Ok(()), Err(Error::Corrupt), Ok(())]);
    }

    #[test]
    fn a_word_that_no_member_writes_is_damage() {
        for word in [2, STAYS - 1] {
            let survivors = survivors(2);
            survivors.words[0].store(word, Ordering::Relaxed);
            assert_eq!(survivors.stay(0, 1), Err(Error::Corrupt), "{word:#x}");
            survivors.words[0].store(STAYS | 1, Ordering::Relaxed);
            survivors.words[1].store(word, Ordering::Relaxed);
            assert_eq!(survivors.decided(), Some(Err(Error::Corrupt)), "{word:#x}");
        }
    }
}
