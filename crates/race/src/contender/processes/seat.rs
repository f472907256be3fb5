//! A member's part in an operation, as contenders get it for threads and processes alike.

use crate::contender::bodies::{SliceTask, Witness};
use crate::op::Op;

/// One member's part, as it is known in the process or thread that is the member.
#[derive(Debug)]
pub struct Seat {
    /// The operation.
    pub op: Op,
    /// The length in bytes of what it carries.
    pub bytes: usize,
    /// The member.
    pub rank: usize,
    /// The number of members.
    pub members: usize,
    /// The rank that a rooted operation starts from or ends at.
    pub root: usize,
    /// The witness that checks a barrier.
    pub witness: Witness,
}

impl Seat {
    /// The task of bodies whose operations carry slices; `None` if operations carry what they usually do.
    pub fn slice_task(&self) -> Option<SliceTask> {
        let Self { op, bytes, members, root, .. } = *self;
        (!op.is_usual(bytes)).then(|| SliceTask::carrying(bytes, op, root, members))
    }
}
