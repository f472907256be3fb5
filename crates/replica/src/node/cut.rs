//! Consistent cuts: every replica takes its digest, and the initiator its whole state, at exactly one place of the log.

use std::io;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::driver::Driver;
use super::inner::Inner;
use crate::error::ExecuteError;
use crate::runtime::{CUT_ASKED_AGAIN, Checkpoint, CheckpointError, Member, state_bytes};
use crate::segment::{CUT_BYTES, Cut};
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
        let Some(asker) = Cut::asker(id) else { return };
        self.settled(SessionId::SYSTEM, asker.to_bits());
        // One that is ordered twice counts where it was ordered first, and one that comes late is waited for no more.
        let own = self.shm.segment(self.shm.me);
        if own.and_then(|own| own.cut(asker)).is_some_and(|last| last.id >= id) {
            return;
        }
        let cut = Cut { id, index, digest: machine.digest() };
        self.shm.writer.set_cut(&cut);
        self.counters.cut_bytes += CUT_BYTES;
        // It may have come to the cut before this node, and sleeps until all digests are there.
        if asker != self.shm.me {
            self.shm.peers.wake(asker);
        }
        let mut wanted = inner.cuts();
        for one in wanted.iter_mut().filter(|one| one.id == id) {
            let mut bytes = inner.take_spare();
            let written = if one.is_written { state_bytes::write(&self.system, machine, &mut bytes) } else { Ok(()) };
            one.state = Some((cut, written.map(|()| bytes)));
        }
    }

    /// Adds the digests that members have found at a cut. True if no more will come: each member has a digest, or was taken in
    /// with a state of later.
    fn digests(&self, cut: &Cut, to: &mut Vec<(NodeId, u128)>) -> bool {
        let mut is_complete = true;
        for node in self.core.members().iter() {
            let segment = self.shm.segment(node);
            // The count comes first: a digest is written before it.
            let has_passed = segment.is_some_and(|segment| segment.applied() > cut.index);
            let theirs = segment.and_then(|segment| segment.cut(self.shm.me));
            match theirs.filter(|theirs| theirs.id == cut.id && theirs.index == cut.index) {
                Some(theirs) => to.push((node, theirs.digest)),
                None => is_complete &= has_passed,
            }
        }
        is_complete
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
        // Its digests stand where those of its next one will.
        let only_one =
            self.wait_for(Some(limit), || self.cutting.try_lock()).ok_or(ExecuteError::Unknown { rid: 0 })?;
        let left = || until.saturating_duration_since(Instant::now());
        let (cut, bytes) = loop {
            // One that was asked of a leader which died may be lost.
            match self.reach_next(to.is_some(), left().min(CUT_ASKED_AGAIN)) {
                Err(ExecuteError::Unknown { .. }) if Instant::now() < until => {}
                taken => break taken?,
            }
        };
        let bytes = bytes.map_err(CheckpointError::State)?;
        let digests = self.gather(&cut, left())?;
        // A caller that writes slowly holds up no other checkpoint.
        drop(only_one);
        let (written, len) = (to.map_or(Ok(()), |to| to.write_all(&bytes)), bytes.len() as u64);
        self.keep_spare(bytes);
        written.map_err(CheckpointError::State)?;
        let checkpoint = Checkpoint::new(&cut, len, digests);
        checkpoint.to_put_out().iter().for_each(|&node| self.put_out(node));
        Ok(checkpoint)
    }

    /// Has a cut with a number of its own ordered, and waits for it.
    fn reach_next(&self, is_written: bool, limit: Duration) -> Result<Reached, ExecuteError> {
        let id = Cut::id_of(self.me(), self.next_cut());
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
    fn gather(&self, cut: &Cut, limit: Duration) -> Result<Vec<(NodeId, u128)>, ExecuteError> {
        let mut found = Vec::new();
        let _ = self.wait_for(Some(limit), || {
            found.clear();
            // Not by trying: the thread that wakes this one may have the driver still.
            let is_complete = self.driver.lock().digests(cut, &mut found);
            (is_complete || self.ending.get().is_some()).then_some(())
        });
        // One that was put out does not judge the others.
        self.ending.get().map_or(Ok(found), |end| Err(end.of_execute(self.me())))
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
