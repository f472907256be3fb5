//! The message that operations carry, and how a receiver checks that it got the right one.

use std::fmt::Debug;
use std::num::NonZeroU64;

use crate::failure::Failure;

/// A message that fills one slot: 56 bytes.
pub type Message = [u64; 7];

/// The content of a channel's message, of which every number has one.
pub trait Item: Copy + Debug + PartialEq {
    /// The one of this number.
    fn numbered(number: u64) -> Self;

    /// The sum of its words.
    fn sum(self) -> u64;
}

/// No two words of a message are equal, and no word equals its neighbour in another message.
impl Item for Message {
    #[inline(always)]
    fn numbered(number: u64) -> Self {
        std::array::from_fn(|word| number.wrapping_mul(8).wrapping_add(word as u64))
    }

    #[inline(always)]
    fn sum(self) -> u64 {
        self.iter().fold(0, |sum, word| sum.wrapping_add(*word))
    }
}

impl Item for u64 {
    #[inline(always)]
    fn numbered(number: u64) -> Self {
        number.saturating_add(1)
    }

    #[inline(always)]
    fn sum(self) -> u64 {
        self
    }
}

/// The same words as those that may be 0.
impl Item for NonZeroU64 {
    #[inline(always)]
    fn numbered(number: u64) -> Self {
        Self::MIN.saturating_add(number)
    }

    #[inline(always)]
    fn sum(self) -> u64 {
        self.get()
    }
}

/// Refuses a message that is not the expected one.
///
/// # Errors
/// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
pub fn expect_item<T: Item>(found: T, number: u64) -> Result<(), Failure> {
    if found == T::numbered(number) {
        return Ok(());
    }
    Err(Failure::Wrong(format!("message {number} arrived as {found:?}")))
}
