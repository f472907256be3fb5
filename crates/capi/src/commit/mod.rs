//! Two-phase commit: one member proposes, all vote, and the proposal is applied by all or by none.
//!
//! For C it is a coordinator, and a participant of each other member, each of which C owns until it closes it. A proposal is
//! bytes of up to a length on which all agree when they open.

pub mod coordinator;

pub mod participant;

use crate::error::Failure;
use crate::status::Status;

fn too_large(len: usize, most: usize) -> Failure {
    Failure::new(Status::TooLarge, format!("a proposal has at most {most} bytes, not {len}"))
}
