//! Consistent cuts: every replica takes its digest, and the initiator its whole state, at exactly one place of the log.

use std::io;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::inner::Inner;
use crate::error::ExecuteError;
use crate::runtime::{CUT_ASKED_AGAIN, Checkpoint, CheckpointError, Member, state_bytes};
use crate::segment::Cut;
use crate::{Index, LeaveReason, NodeId, Op, SessionId, StateMachine};

/// The most memory that is kept for the next checkpoint. Fresh memory costs more than a copy: a page fault for every 4 KiB.
const MOST_KEPT: usize = 4 << 20;

/// A cut, and the state there.
type Reached = (Cut, io::Result<Vec<u8>>);

/// A cut that a thread of this node waits for.
#[derive(Debug)]
pub(super) struct Wanted {
    id: u64,
    /// False if only digests are compared.
    is_written: bool,
    /// The state at the cut, or no bytes if none is written, once the cut was reached.
    state: Option<Reached>,
}

impl<S: StateMachine> Driver<S> {
    /// The log has come to a cut.
    pub(super) fn cut(&mut self, inner: &Inner<S>, machine: &S, index: Index, id: u64) {
        // The number begins with the node that asked.
        let asker = (id >> 32) as u32;
        self.settled(SessionId::SYSTEM, asker);
        let cut = Cut { id, index, digest: machine.digest() };
        self.shm.writer.set_cut(&cut);
        // It may have come to the cut before this node, and sleeps until all digests are there.
        if let Some(asker) = NodeId::from_bits(asker).filter(|&asker| asker != self.shm.me) {
            self.shm.peers.wake(asker);
        }
        let mut wanted = inner.cuts();
        for one in wanted.iter_mut().filter(|one| one.id == id) {
            let mut bytes = inner.take_spare();
            let written = if one.is_written { state_bytes::write(&self.system, machine, &mut bytes) } else { Ok(()) };
            one.state = Some((cut, written.map(|()| bytes)));
        }
    }

    /// The digests that members have found at a cut; `None` for those that have not come to it.
    fn digests(&self, cut: &Cut) -> Vec<(NodeId, Option<u128>)> {
        let found = |node: NodeId| {
            let theirs = self.shm.segment(node)?.cut()?;
            (theirs.id == cut.id && theirs.index == cut.index).then_some(theirs.digest)
        };
        self.core.members().iter().map(|node| (node, found(node))).collect()
    }
}

impl<S: StateMachine> Inner<S> {
    /// A checkpoint: see `Node::checkpoint`, and `Node::compare` without a writer.
    pub(super) fn cut_and_compare(
        &self,
        to: Option<&mut dyn io::Write>,
        limit: Duration,
    ) -> Result<Checkpoint, CheckpointError> {
        self.check_fork().map_err(ExecuteError::from)?;
        let until = Instant::now() + limit;
        let (cut, bytes) = loop {
            // One that was asked of a leader which died may be lost.
            match self.reach_next(to.is_some(), limit.min(CUT_ASKED_AGAIN)) {
                Err(ExecuteError::Unknown { .. }) if Instant::now() < until => {}
                taken => break taken?,
            }
        };
        let bytes = bytes.map_err(CheckpointError::State)?;
        let (written, len) = (to.map_or(Ok(()), |to| to.write_all(&bytes)), bytes.len() as u64);
        self.keep_spare(bytes);
        written.map_err(CheckpointError::State)?;
        let digests = self.gather(&cut, limit);
        let checkpoint = Checkpoint::new(&cut, len, digests);
        checkpoint.to_put_out().iter().for_each(|&node| self.put_out(node));
        Ok(checkpoint)
    }

    /// Has a cut with a number of its own ordered, and waits for it.
    fn reach_next(&self, is_written: bool, limit: Duration) -> Result<Reached, ExecuteError> {
        let id = u64::from(self.me().to_bits()) << 32 | u64::from(self.next_cut());
        self.cuts().push(Wanted { id, is_written, state: None });
        let reached = self.reach(id, limit);
        self.cuts().retain(|one| one.id != id);
        reached
    }

    /// Has the cut ordered, and waits for it.
    fn reach(&self, id: u64, limit: Duration) -> Result<Reached, ExecuteError> {
        self.driver.lock().request_for_group(self, self.me(), Op::Barrier(id));
        let reached = self.wait_for(Some(limit), || {
            if let Some(end) = self.ending.get() {
                return Some(Err(end.of_execute(self.me())));
            }
            self.cuts().iter_mut().find(|one| one.id == id)?.state.take().map(Ok)
        });
        reached.unwrap_or(Err(ExecuteError::Unknown { rid: 0 }))
    }

    /// The digests of all members, or of those that have come to the cut when the time is up.
    fn gather(&self, cut: &Cut, limit: Duration) -> Vec<(NodeId, u128)> {
        let mut found = Vec::new();
        let _ = self.wait_for(Some(limit), || {
            // Not by trying: the thread that wakes this one may have the driver still.
            let digests = self.driver.lock().digests(cut);
            let is_complete = digests.iter().all(|(_, digest)| digest.is_some());
            found = digests.into_iter().filter_map(|(node, digest)| Some((node, digest?))).collect();
            is_complete.then_some(())
        });
        found
    }

    fn put_out(&self, node: NodeId) {
        let op = Op::Leave { node, reason: LeaveReason::Diverged };
        self.driver.lock().request_for_group(self, node, op);
    }
}

impl<S: StateMachine> Inner<S> {
    /// An empty buffer for a state.
    fn take_spare(&self) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut *self.spare.lock().unwrap_or_else(PoisonError::into_inner));
        bytes.clear();
        bytes
    }

    /// Keeps the memory of a state for the next one.
    fn keep_spare(&self, bytes: Vec<u8>) {
        if bytes.capacity() <= MOST_KEPT {
            *self.spare.lock().unwrap_or_else(PoisonError::into_inner) = bytes;
        }
    }
}
