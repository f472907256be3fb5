//! What a contender lends the harness for each participant: a loop over its operation, and a check of it.
//!
//! A contender implements the small trait of its operation ([`BarrierEnd`] and so on); the generic body around it holds
//! the timed loop and the check, the same for all contenders and compiled for each.

mod allreduce;
mod barrier;
mod broadcast;
mod reduce;
mod slice;

pub use allreduce::{AllreduceEnd, allreduce_bodies, allreduce_body};
pub use barrier::{BarrierEnd, Witness, barrier_bodies, barrier_body};
pub use broadcast::{BroadcastEnd, broadcast_bodies, broadcast_body};
pub use reduce::{ReduceEnd, reduce_bodies, reduce_body};
pub use slice::{SliceEnd, SliceTask, slice_bodies, slice_body};

use std::fmt::Debug;
use std::num::NonZeroU64;

use crate::failure::Failure;
use crate::harness::{Task, Timing};

/// A message that fills one slot: 56 bytes.
pub type Message = [u64; 7];

/// One participant's part in a contender.
///
/// The loop is inside, so that the operation is inlined into it and the one call through the trait object is shared by
/// all operations of a block.
pub trait Body: Send {
    /// Performs `iterations` operations back to back.
    ///
    /// # Errors
    /// Whatever stops the operation; the contender is then out of the race.
    fn run(&mut self, iterations: u64) -> Result<(), Failure>;

    /// Performs `rounds` operations and verifies the outcome of each.
    ///
    /// # Errors
    /// As [`Body::run`], and [`Failure::Wrong`] if an outcome is not what the operation promises.
    fn check(&mut self, rounds: u64) -> Result<(), Failure>;

    /// Sends or takes in `count` messages, of which the first is due at the tick `begin` and each other `every` ticks after
    /// the one before. Returns when each was sent or taken in. For channels only.
    ///
    /// # Errors
    /// As [`Body::run`].
    fn paced(&mut self, begin: u64, count: u64, every: u64) -> Result<Vec<u64>, Failure> {
        let _ = (begin, count, every);
        Err(Failure::Refused("its operations are no messages that could be sent at a pace".to_owned()))
    }

    /// Called before the participants meet to begin `task`: whoever stands for a process tells it.
    ///
    /// # Errors
    /// As [`Body::run`].
    fn ready(&mut self, task: Task) -> Result<(), Failure> {
        let _ = task;
        Ok(())
    }

    /// True for whoever stands for a participant elsewhere: its first call after [`ready`](Body::ready) performs the whole
    /// task there.
    fn performs_elsewhere(&self) -> bool {
        false
    }

    /// Adds what only the body knows to what its thread saw of the task just done.
    fn amend(&mut self, timing: &mut Timing) {
        let _ = timing;
    }
}

/// What channels carry, of which every number has one.
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

/// The contribution of a member to the sum of a round.
#[inline(always)]
fn contribution(rank: usize, round: u64) -> u64 {
    (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(round)
}

/// The sum that a round must yield.
fn expected_sum(members: usize, round: u64) -> u64 {
    (0..members).fold(0, |sum, rank| sum.wrapping_add(contribution(rank, round)))
}

/// Refuses a message that is not the expected one.
///
/// # Errors
/// A [`Failure`](crate::Failure) in words: the operation, a process that takes part, or the system did not do its part.
pub fn expect_item<T: Item>(found: T, number: u64) -> Result<(), Failure> {
    if found == T::numbered(number) {
        return Ok(());
    }
    Err(Failure::Wrong(format!("message {number} arrived as {found:?}")))
}

/// Refuses a sum that is not that of all contributions.
fn expect_sum(found: u64, members: usize, round: u64) -> Result<(), Failure> {
    let expected = expected_sum(members, round);
    if found == expected {
        return Ok(());
    }
    Err(Failure::Wrong(format!("round {round}: the sum of {members} members is {found}, expected {expected}")))
}
