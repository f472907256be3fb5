//! Applying the log: the group's own part first, then the state machine.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::driver::Driver;
use super::ending::End;
use super::inner::{Applied, Inner};
use super::mailbox::{Content, Letter};
use crate::crash_point;
use crate::segment::{Body, NodeState};
use crate::system::Outcome;
use crate::{Command, Index, LeaveReason, NodeId, Op, SessionId, StateMachine, Wire};

/// The most commands that are applied while readers wait.
const RUN: u64 = 256;

/// Why a run of commands ended early.
enum Stop {
    /// The state machine panicked at this command, or its operation cannot be read: the replica cannot go on.
    Panicked(Index),
    /// The bytes of an operation are damaged.
    Damaged(u16),
}

impl<S: StateMachine> Driver<S> {
    /// Applies the commands below `limit`: the visible count covers no more.
    pub(super) fn apply(&mut self, inner: &Inner<S>, limit: Index) {
        while self.core.applied_count() < limit && inner.ending.get().is_none() {
            let first = self.core.applied_count();
            let (end, stop) = self.apply_run(inner, first, limit);
            inner.publish_applied(end);
            self.shm.writer.set_applied(end, Some(self.system.prefix()));
            crash_point::here("applied");
            self.note_applied(end);
            match stop {
                None => {}
                Some(Stop::Panicked(index)) => return self.panicked(inner, index),
                Some(Stop::Damaged(slot)) => return inner.ending.set(End::Corrupt(slot)),
            }
        }
        self.shm.bulk.free_below(self.core.stable());
    }

    /// Applies commands from `first` on under the lock of the state. The count reached, and why it went no further.
    fn apply_run(&mut self, inner: &Inner<S>, first: Index, limit: Index) -> (Index, Option<Stop>) {
        let mut applied = inner.state.write();
        let end = limit.min(first + RUN);
        for index in first..end {
            let Some(command) = self.core.decided(index).copied() else { return (index, None) };
            if let Err(stop) = self.apply_one(inner, &mut applied, index, &command) {
                return (index, Some(stop));
            }
            applied.count = index + 1;
        }
        (end, None)
    }

    fn apply_one(
        &mut self,
        inner: &Inner<S>,
        applied: &mut Applied<S>,
        index: Index,
        command: &Command<Body>,
    ) -> Result<(), Stop> {
        let (session, rid) = (command.session, command.rid);
        match self.system.begin(index, command) {
            Outcome::Run(body) => {
                let body = *body;
                let reply = self.run(&mut applied.machine, index, &body)?;
                self.system.finish(session, rid, Arc::clone(&reply));
                self.deliver(session, rid, &reply);
            }
            Outcome::Cached(reply) => {
                let reply = Arc::clone(reply);
                self.deliver(session, rid, &reply);
            }
            Outcome::Forgotten | Outcome::UnknownSession => self.expire(session, rid),
            Outcome::SessionOpened(session) => self.deliver_at(session, 0, index, &[]),
            Outcome::SessionEnded(ended) => self.expire(ended, rid),
            Outcome::Joined(node) => self.joined(node),
            Outcome::JoinRefused(node, _) => self.settled(SessionId::SYSTEM, node.to_bits()),
            Outcome::Left(node, reason) => self.left(inner, node, reason),
            Outcome::Barrier(id) => self.cut(inner, &applied.machine, index, id),
            Outcome::Noop => {}
        }
        if let Op::User(Body::Bulk(place)) = command.op {
            self.shm.ordered_bulk(&place, index);
        }
        Ok(())
    }

    /// Runs the state machine. The reply begins with the index, so that a retry gets the same one.
    fn run(&mut self, machine: &mut S, index: Index, body: &Body) -> Result<Arc<[u8]>, Stop> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.shm.read_body(body, &mut bytes).map_err(|damaged| Stop::Damaged(damaged.slot))?;
        let op = S::Op::decode(&bytes).ok_or(Stop::Panicked(index))?;
        let out = catch_unwind(AssertUnwindSafe(|| machine.apply(index, &op))).map_err(|_| Stop::Panicked(index))?;
        bytes.clear();
        bytes.extend_from_slice(&index.to_le_bytes());
        out.encode(&mut bytes);
        let reply = Arc::from(&bytes[..]);
        self.bytes = bytes;
        Ok(reply)
    }

    /// Puts a result where the session finds it, if the session is one of this node.
    pub(super) fn deliver(&mut self, session: SessionId, rid: u32, reply: &Arc<[u8]>) {
        let Some(mailbox) = self.mailboxes.get(&session) else { return };
        crash_point::here("before-reply");
        mailbox.put(Letter { rid, content: Content::Done(Arc::clone(reply)) });
        self.settled(session, rid);
    }

    fn deliver_at(&mut self, session: SessionId, rid: u32, index: Index, out: &[u8]) {
        let bytes: Vec<u8> = index.to_le_bytes().iter().chain(out).copied().collect();
        self.deliver(session, rid, &Arc::from(bytes));
    }

    /// Tells a session that it has ended.
    pub(super) fn expire(&mut self, session: SessionId, rid: u32) {
        if let Some(mailbox) = self.mailboxes.get(&session) {
            mailbox.put(Letter { rid, content: Content::Expired });
        }
        self.settled(session, rid);
    }

    /// A request needs no more care.
    fn settled(&mut self, session: SessionId, rid: u32) {
        self.submitted.remove(session, rid);
        self.shm.answered(session, rid);
    }

    fn joined(&mut self, node: NodeId) {
        if node == self.shm.me {
            self.show_state(NodeState::Member);
        }
        self.settled(SessionId::SYSTEM, node.to_bits());
    }

    fn left(&mut self, inner: &Inner<S>, node: NodeId, reason: LeaveReason) {
        self.settled(SessionId::SYSTEM, node.to_bits());
        if node == self.shm.me {
            self.was_let_go(inner, reason);
        }
    }
}
