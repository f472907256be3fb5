//! The part that a contender lends the harness for each participant: a loop over its operation, and a check of it.
//!
//! A contender implements the small trait of its operation ([`BarrierEnd`] and so on); the generic body around it holds
//! the timed loop and the check, the same for all contenders and compiled for each.

mod allreduce;
mod atomic_stream;
mod barrier;
mod broadcast;
mod commit;
mod gather;
mod reduce;
mod scatter;
mod slice;

pub use allreduce::{AllreduceEnd, allreduce_bodies, allreduce_body};
pub use atomic_stream::{AtomicStreamEnd, Round, atomic_stream_body};
pub use barrier::{BarrierEnd, Witness, barrier_bodies, barrier_body};
pub use broadcast::{BroadcastEnd, broadcast_bodies, broadcast_body};
pub use commit::{CommitEnd, commit_body};
pub use gather::{GatherEnd, gather_body};
pub use reduce::{ReduceEnd, reduce_bodies, reduce_body};
pub use scatter::{ScatterEnd, scatter_body};
pub use slice::{SliceEnd, SliceTask, slice_body};

use crate::failure::Failure;

/// The contribution of a member to the sum of a round.
#[inline(always)]
fn contribution(rank: usize, round: u64) -> u64 {
    (rank as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(round)
}

/// The sum that a round must yield.
fn expected_sum(members: usize, round: u64) -> u64 {
    (0..members).fold(0, |sum, rank| sum.wrapping_add(contribution(rank, round)))
}

/// Refuses a sum that is not that of all contributions.
fn expect_sum(found: u64, members: usize, round: u64) -> Result<(), Failure> {
    let expected = expected_sum(members, round);
    if found == expected {
        return Ok(());
    }
    Err(Failure::Wrong(format!("round {round}: the sum of {members} members is {found}, expected {expected}")))
}
