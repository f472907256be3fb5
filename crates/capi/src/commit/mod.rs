//! Two-phase commit: one member proposes, all vote, and the proposal is applied by all or by none.
//!
//! For C it is a coordinator, and a participant of each other member, each of which C owns until it closes it. A proposal is
//! bytes of up to a length on which all agree when they open, and travels as a value of one of two sizes
//! ([`sized`](crate::sized)).

pub mod coordinator;

pub mod participant;

use crate::error::Failure;
use crate::sized::MESSAGE_BYTES;
use crate::status::Status;

/// Refuses proposals that do not travel in one message.
fn check_longest(longest_bytes: usize) -> Result<(), Failure> {
    let too_large = || too_large(longest_bytes, MESSAGE_BYTES);
    (longest_bytes <= MESSAGE_BYTES).then_some(()).ok_or_else(too_large)
}

fn too_large(len: usize, most: usize) -> Failure {
    Failure::new(Status::TooLarge, format!("a proposal has at most {most} bytes, not {len}"))
}
