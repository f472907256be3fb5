//! How a replica and its group are, as C sees it.

use std::ptr::NonNull;

use corecast::replica::{NodeId, Status as Known};

use crate::argument::required;
use crate::error::Failure;

/// How a replica and its group are. Nodes are numbers that no other node of the group ever has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ReplicaStatus {
    /// sizeof(corecast_replica_status), set by the caller: later versions may add fields.
    pub size: usize,
    /// This node.
    pub node: u32,
    /// The node that leads.
    pub leader: u32,
    /// The node that accepts.
    pub acceptor: u32,
    /// The number of the configuration, from 0; one more with each change of a role.
    pub epoch: u32,
    /// The number of members.
    pub members: u32,
    /// 1 while this node is one of them.
    pub is_member: u32,
    /// The number of operations and commands of the group that this replica has applied.
    pub applied: u64,
    /// The number of those that it knows to be decided.
    pub commit: u64,
    /// The number of those that all members have applied.
    pub stable: u64,
    /// The number of those whose effect anyone may have seen.
    pub visible: u64,
    /// The number of configurations that this node has seen come.
    pub role_changes: u64,
    /// The number of times that it came back by a snapshot.
    pub rejoins: u64,
    /// The time without a sign of life after which this node holds one with work for stuck, at the moment, in nanoseconds.
    pub patience_ns: u64,
}

/// The most bytes that the struct of any later version has: a size beyond it was never set.
const MOST_BYTES: usize = 4096;

impl ReplicaStatus {
    /// Writes it where C wants it. Fields of later versions stay as they are.
    ///
    /// # Safety
    /// - `to` is NULL, or aligned and readable for a `usize`, which is a number of bytes, and writable for that many.
    pub(crate) unsafe fn write_to(mut self, to: *mut Self) -> Result<(), Failure> {
        required(NonNull::new(to), "status")?;
        // SAFETY: readable by the caller's promise.
        self.size = unsafe { to.cast::<usize>().read() };
        let known = size_of::<Self>();
        if !(known..=MOST_BYTES).contains(&self.size) {
            let why = format_args!("its size is {}, not sizeof of its type, {known}", self.size);
            return Err(Failure::argument("status", why));
        }
        // SAFETY: it has no fewer bytes, by the caller's promise.
        unsafe { to.write(self) };
        Ok(())
    }
}

/// The number by which C knows a node.
pub(crate) fn number_of(node: NodeId) -> u32 {
    node.to_bits()
}

impl From<&Known> for ReplicaStatus {
    fn from(known: &Known) -> Self {
        Self {
            size: size_of::<Self>(),
            node: number_of(known.me),
            leader: number_of(known.leader),
            acceptor: number_of(known.acceptor),
            epoch: known.epoch,
            members: known.members.len() as u32,
            is_member: known.is_member.into(),
            applied: known.applied,
            commit: known.commit,
            stable: known.stable,
            visible: known.visible,
            role_changes: known.counters.role_changes,
            rejoins: known.counters.rejoins,
            patience_ns: u64::try_from(known.patience.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// A consistent cut through the group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(C)]
pub struct ReplicaCheckpoint {
    /// The number of operations and commands of the group that the cut shows.
    pub index: u64,
    /// The bytes that were written.
    pub bytes: u64,
    /// The members that have told their digests, this one included.
    pub answers: u32,
    /// Those whose digest is not that of most, and which are put out; of two members, the other one if it differs, which stays.
    pub diverged: u32,
}
