//! Applying the log: the group's own part first, then the state machine.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::driver::Driver;
use super::inner::Inner;
use super::status::Counters;
use crate::crash_point;
use crate::runtime::durable::Disk;
use crate::runtime::{Applied, Content, End, Letter, Reply};
use crate::segment::{Body, NodeState};
use crate::shm::Damaged;
use crate::system::Outcome;
use crate::{Command, Index, LeaveReason, NodeId, Op, SessionId, StateMachine, Wire};

/// The most commands that are applied while readers wait.
const RUN: u64 = 256;

/// Why a run of commands ended early.
enum Stop {
    /// The last command was a cut: readers go on while the state there is taken.
    Cut(u64),
    /// The state machine panicked at this command, or its operation cannot be read: the replica cannot go on.
    Panicked(Index),
    /// The bytes of an operation are damaged.
    Damaged(u16),
    /// The write-ahead log cannot be written.
    Files(io::Error),
}

impl<S: StateMachine> Driver<S> {
    /// Applies the commands below `limit`: the visible count covers no more.
    pub(super) fn apply(&mut self, inner: &Inner<S>, limit: Index) {
        while self.core.applied_count() < limit && !self.core.is_lagging() && inner.ending.get().is_none() {
            let first = self.core.applied_count();
            let (end, stop) = self.apply_run(inner, first, limit);
            inner.publish_applied(end);
            if let Some(Stop::Cut(id)) = stop {
                // Before others hear of the count, so that they find the digest. Only this thread changes the state.
                self.cut(inner, &inner.state.read().machine, end - 1, id);
            }
            self.shm.writer.set_applied(end, Some(self.system.prefix()));
            crash_point::here("applied");
            self.note_applied(end);
            match stop {
                None | Some(Stop::Cut(_)) => {}
                Some(Stop::Panicked(index)) => return self.panicked(inner, index),
                Some(Stop::Files(error)) => return inner.ending.fail_files(&error),
                Some(Stop::Damaged(slot)) => return self.damaged(inner, end, slot),
            }
        }
        self.shm.bulk.free_below(self.core.stable());
        self.shm.forward_line(self.core.configuration().leader);
        inner.callers.wake_others(self.is_with_caller);
    }

    /// The bytes of the operation at `index` cannot be read. Those whose node has come back several times, and those that are
    /// freed as this node is counted no more, are in the state of other members. If it was so before, all are as badly off.
    #[cold]
    fn damaged(&mut self, inner: &Inner<S>, index: Index, slot: u16) {
        if self.damaged_at.replace(index) == Some(index) {
            return inner.ending.set(End::Corrupt(slot));
        }
        self.fall_behind();
    }

    /// Applies commands from `first` on under the lock of the state. The count reached, and why it went no further.
    fn apply_run(&mut self, inner: &Inner<S>, first: Index, limit: Index) -> (Index, Option<Stop>) {
        let mut applied = inner.state.write();
        let end = limit.min(first + RUN);
        for index in first..end {
            let Some(command) = self.core.decided(index).copied() else { return (index, None) };
            if let Err(stop) = self.apply_one(inner, &mut applied, index, &command) {
                match stop {
                    Stop::Cut(_) => applied.count = index + 1,
                    Stop::Panicked(_) => inner.ending.panicked(index),
                    Stop::Damaged(_) | Stop::Files(_) => {}
                }
                return (applied.count, Some(stop));
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
        let outcome = self.system.begin(index, command);
        if let (Some(disk), false) = (&mut self.disk, matches!(outcome, Outcome::Run(_))) {
            disk.keep(index, None).map_err(Stop::Files)?;
        }
        match outcome {
            Outcome::Run(body) => {
                let body = *body;
                if let Body::Bulk(place) = &body {
                    self.shm.ordered_bulk(place, index);
                }
                let reply = self.run(&mut applied.machine, index, &body)?;
                self.system.finish(session, rid, reply.clone());
                self.deliver(session, rid, reply);
            }
            Outcome::Cached(reply) => {
                let reply = reply.clone();
                self.deliver(session, rid, reply);
            }
            // Ordered once more after a change of the leader: the client has its answer.
            Outcome::Forgotten => self.settled(session, rid),
            Outcome::Early => self.came_early(session, rid),
            Outcome::UnknownSession => self.expire(session, rid),
            Outcome::SessionOpened(session) => self.deliver_at(session, 0, index, &[]),
            Outcome::SessionEnded(ended) => self.expire(ended, rid),
            Outcome::Joined(node) => self.joined(node),
            Outcome::JoinRefused(node, _) => self.settled(SessionId::SYSTEM, node.to_bits()),
            Outcome::Left(node, reason) => self.left(inner, node, reason),
            Outcome::Barrier(id) => return Err(Stop::Cut(id)),
            Outcome::Noop => {}
        }
        Ok(())
    }

    /// Runs the state machine. The reply begins with the index, so that a retry gets the same one.
    fn run(&mut self, machine: &mut S, index: Index, body: &Body) -> Result<Reply, Stop> {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.read_body(body, &mut bytes).map_err(|damaged| Stop::Damaged(damaged.slot))?;
        let op = S::Op::decode(&bytes).ok_or(Stop::Panicked(index))?;
        let at = self.config.files.base + index;
        let out = catch_unwind(AssertUnwindSafe(|| machine.apply(at, &op))).map_err(|_| Stop::Panicked(index))?;
        // Not before: nobody could start from files with an operation at which all replicas panic.
        if let Some(disk) = &mut self.disk {
            disk.keep(index, Some(&bytes)).map_err(Stop::Files)?;
        }
        bytes.clear();
        bytes.extend_from_slice(&index.to_le_bytes());
        out.encode(&mut bytes);
        let reply = Reply::from(&bytes[..]);
        self.bytes = bytes;
        Ok(reply)
    }

    /// The bytes of an operation. Its node may have come, or come back, since this one last looked for others.
    fn read_body(&mut self, body: &Body, bytes: &mut Vec<u8>) -> Result<(), Damaged> {
        self.shm.read_body(body, bytes).or_else(|_| {
            self.shm.refresh_peers();
            self.shm.read_body(body, bytes)
        })?;
        self.counters.bulk_read += Counters::bulk_bytes(body);
        Ok(())
    }

    /// Puts a result where the session finds it, if the session is one of this node.
    pub(super) fn deliver(&mut self, session: SessionId, rid: u32, reply: Reply) {
        let Some(mailbox) = self.mailboxes.get(&session) else { return };
        crash_point::here("before-reply");
        if self.direct.awaited == Some((session, rid)) && self.disk.is_none() {
            self.direct.reply = Some(reply);
        } else {
            Disk::hand_out(self.disk.as_mut(), mailbox, Letter { rid, content: Content::Done(reply) });
        }
        self.settled(session, rid);
    }

    pub(super) fn deliver_at(&mut self, session: SessionId, rid: u32, index: Index, out: &[u8]) {
        let bytes: Vec<u8> = index.to_le_bytes().iter().chain(out).copied().collect();
        self.deliver(session, rid, Reply::from(bytes));
    }

    /// Tells a session that it has ended.
    pub(super) fn expire(&mut self, session: SessionId, rid: u32) {
        if let Some(mailbox) = self.mailboxes.get(&session) {
            mailbox.put(Letter { rid, content: Content::Expired });
        }
        self.settled(session, rid);
    }

    /// A request was ordered before one that its session has begun earlier. It stays among those without a result.
    #[cold]
    fn came_early(&mut self, session: SessionId, rid: u32) {
        self.shm.answered(session, rid);
        if self.mailboxes.contains_key(&session) {
            self.submitted.early.push(session);
        }
    }

    /// A request needs no more care: replicas that get as far as this one look no more at the bytes of its operation.
    pub(super) fn settled(&mut self, session: SessionId, rid: u32) {
        self.shm.answered(session, rid);
        let Some(command) = self.submitted.remove(session, rid) else { return };
        let last = self.system.applied().saturating_sub(1);
        match command.op {
            Op::User(Body::Bulk(place)) => self.shm.ordered_bulk(&place, last),
            Op::CloseSession => self.has_closed(session, last),
            _ => {}
        }
    }

    fn members_changed(&mut self) {
        self.patience.set_nodes(self.system.members().len());
        self.pin_peers();
    }

    fn joined(&mut self, node: NodeId) {
        // The log may name its memory from here on, and it may die at any time.
        self.shm.refresh_peers();
        self.members_changed();
        if node == self.shm.me {
            self.show_state(NodeState::Member);
        }
        self.settled(SessionId::SYSTEM, node.to_bits());
    }

    fn left(&mut self, inner: &Inner<S>, node: NodeId, reason: LeaveReason) {
        self.settled(SessionId::SYSTEM, node.to_bits());
        self.members_changed();
        if node == self.shm.me {
            self.was_let_go(inner, reason);
        }
    }
}
