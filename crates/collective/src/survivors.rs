//! Who is left of a group that has failed, as all who are left come to agree.
//!
//! Each member has a word, which is written once, by a compare and exchange from 0: by the member itself, that it stays and
//! what it has completed, or by whoever finds that it has left or died, that it is gone. When no word is 0 everybody reads
//! the same. So each member is decided on by itself, and nobody has to propose a set of them; and as a word says all there is
//! to say, nothing has to be ordered.
//!
//! Nobody is taken for gone who may still come: a member says itself that it has left, and the kernel that a process is
//! dead. One that stays and dies later is a member of what comes after, and lost to that.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, Place, PlaceSlice};

use crate::error::{Error, Loss};

/// Says that a member is gone.
const GONE: u64 = 1;
/// Says that it stays; the bits below count the operations that it has completed.
const STAYS: u64 = 1 << 63;

/// The words of all members.
#[derive(Debug, Clone)]
pub(crate) struct Survivors {
    /// 0, [`GONE`] or [`STAYS`] and a count; written once, as said above.
    words: PlaceSlice<AtomicU64>,
    /// What each of them lays out for what comes after, in bytes; 0 until the first one has. Written once, by that one.
    bytes: Place<AtomicU64>,
}

/// A member that stays, and the operations that it has completed.
pub(crate) type Survivor = (usize, u64);

impl Survivors {
    pub(crate) fn lay_out(arena: &mut Arena, members: usize) -> Result<Self, ArenaError> {
        Ok(Self { words: arena.slice(members)?, bytes: arena.place()? })
    }

    /// Says that a member stays, by the member itself; as often as it likes.
    pub(crate) fn stay(&self, rank: usize, completed: u64) -> Result<(), Error> {
        match self.decide(rank, STAYS | completed) {
            0 => Ok(()),
            word if word & STAYS != 0 => Ok(()),
            // It had left when somebody looked, and joined again just before it heard of the failure.
            GONE => Err(Error::MemberLost { rank, loss: Loss::Left }),
            _ => Err(Error::Corrupt),
        }
    }

    /// Says what a member that stays lays out for what comes after, which is more than nothing.
    ///
    /// # Errors
    /// [`Error::Corrupt`] if another one lays out something else, as one of another version might.
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

    /// Those of whom nothing is known yet.
    pub(crate) fn undecided(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.words.len()).filter(|&rank| self.word(rank) == 0)
    }

    /// Those who stay, by rank, once everybody is decided on. A stranger may have written any word.
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
    fn what_is_said_first_of_a_member_stands() {
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
    fn who_lays_out_something_else_is_told() {
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
