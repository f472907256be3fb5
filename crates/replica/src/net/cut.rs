//! Consistent cuts: every replica takes its digest at exactly one place of the log and tells it to the node that asked,
//! which takes its whole state there.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::barriers::CUT;
use super::driver::Driver;
use super::inner::Inner;
use super::wire::StateMessage;
use crate::error::ExecuteError;
use crate::runtime::{CUT_ASKED_AGAIN, Checkpoint, CheckpointError, Member, state_bytes};
use crate::segment::Cut;
use crate::{Command, Index, LeaveReason, NodeId, Op, SessionId, StateMachine};

/// A cut, and the state there.
type Reached = (Cut, io::Result<Vec<u8>>);

/// A cut that a thread of this node waits for.
#[derive(Debug)]
struct Wanted {
    id: u64,
    /// False if only digests are compared.
    is_written: bool,
    /// The state at the cut, or no bytes if none is written, once the cut was reached and until it is taken.
    state: Option<Reached>,
    /// The digests of the members, and at which index each was found: a cut that was asked for twice may be there twice.
    digests: Vec<(NodeId, Index, u128)>,
}

/// The cuts that threads of a node wait for.
#[derive(Debug, Default)]
pub(super) struct Cuts {
    wanted: Mutex<Vec<Wanted>>,
    last: Mutex<u32>,
}

impl Cuts {
    fn wanted(&self) -> MutexGuard<'_, Vec<Wanted>> {
        self.wanted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to wait for a cut; its number, which no read has.
    fn begin(&self, me: NodeId, is_written: bool) -> u64 {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = last.wrapping_add(1);
        let id = u64::from(me.to_bits()) << 32 | CUT | u64::from(*last) & (CUT - 1);
        self.wanted().push(Wanted { id, is_written, state: None, digests: Vec::new() });
        id
    }

    fn end(&self, id: u64) {
        self.wanted().retain(|one| one.id != id);
    }

    /// Notes what a node found.
    pub(super) fn heard(&self, node: NodeId, id: u64, index: Index, digest: u128) {
        if let Some(one) = self.wanted().iter_mut().find(|one| one.id == id) {
            one.digests.push((node, index, digest));
        }
    }

    fn digest_of(&self, node: NodeId, cut: &Cut) -> Option<u128> {
        let wanted = self.wanted();
        let digests = &wanted.iter().find(|one| one.id == cut.id)?.digests;
        digests.iter().find(|&&(of, index, _)| (of, index) == (node, cut.index)).map(|&(_, _, digest)| digest)
    }
}

impl<S: StateMachine> Driver<S> {
    /// The log has come to a cut.
    pub(super) fn cut(&mut self, inner: &Inner<S>, machine: &S, index: Index, id: u64) {
        let digest = machine.digest();
        // The number begins with the node that asked.
        match NodeId::from_bits((id >> 32) as u32) {
            Some(asker) if asker != inner.id() => {
                self.transport.send_state(asker, &StateMessage::Digest { id, index, digest });
            }
            _ => {
                inner.cuts.heard(inner.id(), id, index, digest);
                let mut wanted = inner.cuts.wanted();
                if let Some(one) = wanted.iter_mut().find(|one| one.id == id && one.state.is_none()) {
                    let mut bytes = Vec::new();
                    let written = match one.is_written {
                        true => state_bytes::write(&self.system, machine, &mut bytes),
                        false => Ok(()),
                    };
                    one.state = Some((Cut { id, index, digest }, written.map(|()| bytes)));
                }
            }
        }
    }

    /// Has a command of the group ordered.
    pub(super) fn request_for_group(&mut self, inner: &Inner<S>, op: Op<super::wire::Body>) {
        self.step(inner, crate::one_paxos::Input::Requests(vec![Command { session: SessionId::SYSTEM, rid: 0, op }]));
        self.transport.flush();
    }

    /// The digests of the members at a cut; `None` for those that have not told.
    fn digests(&self, inner: &Inner<S>, cut: &Cut) -> Vec<(NodeId, Option<u128>)> {
        self.core.members().iter().map(|node| (node, inner.cuts.digest_of(node, cut))).collect()
    }
}

impl<S: StateMachine> Inner<S> {
    /// A checkpoint: see `Node::checkpoint`, and `Node::compare` without a writer.
    pub(super) fn cut_and_compare(
        &self,
        mut to: Option<&mut dyn io::Write>,
        limit: Duration,
    ) -> Result<Checkpoint, CheckpointError> {
        self.check_fork().map_err(ExecuteError::from)?;
        let until = Instant::now() + limit;
        loop {
            let id = self.cuts.begin(self.id(), to.is_some());
            let taken = self.take(id, &mut to, limit.min(CUT_ASKED_AGAIN), until);
            self.cuts.end(id);
            match taken {
                // One that was asked of a leader which died may be lost.
                Err(CheckpointError::Cut(ExecuteError::Unknown { .. })) if Instant::now() < until => {}
                taken => return taken,
            }
        }
    }

    fn take(
        &self,
        id: u64,
        to: &mut Option<&mut dyn io::Write>,
        limit: Duration,
        until: Instant,
    ) -> Result<Checkpoint, CheckpointError> {
        let (cut, bytes) = self.reach(id, limit)?;
        let bytes = bytes.map_err(CheckpointError::State)?;
        if let Some(to) = to {
            to.write_all(&bytes).map_err(CheckpointError::State)?;
        }
        let digests = self.gather(&cut, until.saturating_duration_since(Instant::now()));
        // One that was put out does not judge the others.
        if let Some(error) = self.execute_error() {
            return Err(error.into());
        }
        let checkpoint = Checkpoint::new(&cut, bytes.len() as u64, digests);
        for &node in checkpoint.to_put_out() {
            let op = Op::Leave { node, reason: LeaveReason::Diverged };
            self.driver.lock().request_for_group(self, op);
        }
        Ok(checkpoint)
    }

    /// Has the cut ordered, and waits for it.
    fn reach(&self, id: u64, limit: Duration) -> Result<Reached, ExecuteError> {
        self.driver.lock().request_for_group(self, Op::Barrier(id));
        let reached = self.wait_for(Some(limit), || {
            let found = self.cuts.wanted().iter_mut().find(|one| one.id == id).and_then(|one| one.state.take());
            found.map(Ok).or_else(|| self.execute_error().map(Err))
        });
        reached.unwrap_or(Err(ExecuteError::Unknown { rid: 0 }))
    }

    /// The digests of all members, or of those that have told when the time is up.
    fn gather(&self, cut: &Cut, limit: Duration) -> Vec<(NodeId, u128)> {
        let mut found = Vec::new();
        let _ = self.wait_for(Some(limit), || {
            // Not by trying: the thread that wakes this one may have the driver still.
            let digests = self.driver.lock().digests(self, cut);
            let is_complete = digests.iter().all(|(_, digest)| digest.is_some());
            found = digests.into_iter().filter_map(|(node, digest)| Some((node, digest?))).collect();
            (is_complete || self.ending.get().is_some()).then_some(())
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_another_cut_do_not_count() {
        let (cuts, node) = (Cuts::default(), NodeId::new(3, 2));
        let (first, second) = (cuts.begin(node, true), cuts.begin(node, false));
        assert!(first != second && first & CUT != 0 && (first >> 32) as u32 == node.to_bits());
        cuts.heard(node, first, 7, 70);
        cuts.heard(node, second, 9, 90);
        let digest = |id, index| cuts.digest_of(node, &Cut { id, index, digest: 0 });
        assert_eq!((digest(first, 7), digest(first, 9), digest(second, 9)), (Some(70), None, Some(90)));
        cuts.end(first);
        assert_eq!((digest(first, 7), digest(second, 9)), (None, Some(90)));
    }
}
