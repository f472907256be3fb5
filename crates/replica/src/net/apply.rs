//! Applying the log: the group's own part first, then the state machine.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::barriers::CUT;
use super::driver::Driver;
use super::inner::Inner;
use crate::runtime::durable::Disk;
use crate::runtime::{Applied, Content, End, Letter, Reply};
use crate::system::Outcome;
use crate::{Index, LeaveReason, NodeId, SessionId, StateMachine, Wire};

/// The most commands that are applied while readers wait.
const RUN: u64 = 256;

/// Why a run of commands ended early.
enum Stop {
    /// The last command was a cut: readers go on while the state there is taken.
    Cut(u64),
    /// The state machine panicked, or the operation is none.
    Panicked,
    /// The write-ahead log cannot be written.
    Files(io::Error),
}

impl<S: StateMachine> Driver<S> {
    /// Applies the commands below `limit`.
    pub(super) fn apply(&mut self, inner: &Inner<S>, limit: Index) {
        while self.core.applied_count() < limit && self.applies(inner) {
            let (end, stop) = self.apply_run(inner, limit);
            inner.publish_applied(end);
            if let Some(Stop::Cut(id)) = stop {
                // Only this thread changes the state.
                self.cut(inner, &inner.state.read().machine, end - 1, id);
            }
            self.note_applied(end);
            match stop {
                None | Some(Stop::Cut(_)) => {}
                Some(Stop::Panicked) => return self.panicked(inner, end),
                Some(Stop::Files(error)) => inner.ending.fail_files(&error),
            }
        }
        inner.callers.wake_others(self.is_with_caller);
    }

    /// True while there is reason to apply more.
    fn applies(&self, inner: &Inner<S>) -> bool {
        !self.is_out && self.panicked_at.is_none() && inner.ending.get().is_none()
    }

    /// Applies commands under the lock of the state. The count reached, and why it went no further.
    fn apply_run(&mut self, inner: &Inner<S>, limit: Index) -> (Index, Option<Stop>) {
        let mut applied = inner.state.write();
        let first = self.core.applied_count();
        let end = limit.min(first + RUN);
        for index in first..end {
            if let Err(stop) = self.apply_one(inner, &mut applied, index) {
                match stop {
                    Stop::Cut(_) => applied.count = index + 1,
                    Stop::Panicked => inner.ending.panicked(index),
                    Stop::Files(_) => {}
                }
                return (applied.count, Some(stop));
            }
            applied.count = index + 1;
        }
        (end, None)
    }

    fn apply_one(&mut self, inner: &Inner<S>, applied: &mut Applied<S>, index: Index) -> Result<(), Stop> {
        let Some(command) = self.core.decided(index).cloned() else { return Ok(()) };
        let (session, rid) = (command.session, command.rid);
        let outcome = self.system.begin(index, &command);
        if let (Some(disk), false) = (&mut self.disk, matches!(outcome, Outcome::Run(_))) {
            disk.keep(index, None).map_err(Stop::Files)?;
        }
        match outcome {
            Outcome::Run(bytes) => {
                let at = self.config.files.base + index;
                let reply = run(&mut applied.machine, at, index, bytes, &mut self.bytes)?;
                self.table.show_life_after(usize::from(inner.id().slot), bytes.len());
                // Not before: nobody could start from files with an operation at which all replicas panic.
                if let Some(disk) = &mut self.disk {
                    disk.keep(index, Some(bytes)).map_err(Stop::Files)?;
                }
                self.system.finish(session, rid, reply.clone());
                self.deliver(session, rid, reply);
            }
            Outcome::Cached(reply) => {
                let reply = reply.clone();
                self.deliver(session, rid, reply);
            }
            // Ordered once more after a change of the leader: the client has its answer.
            Outcome::Forgotten => _ = self.submitted.remove(session, rid),
            // It was ordered before one that its session has begun earlier, and stays among those without a result.
            Outcome::Early if self.mailboxes.contains_key(&session) => self.submitted.early.push(session),
            Outcome::UnknownSession => self.expire(session, rid),
            Outcome::SessionOpened(session) => self.deliver_at(session, 0, index),
            Outcome::SessionEnded(ended) => self.expire(ended, rid),
            Outcome::Left(node, reason) => self.left(inner, node, reason),
            Outcome::Barrier(id) if id & CUT != 0 => return Err(Stop::Cut(id)),
            Outcome::Barrier(id) => _ = self.barriers.applied(id, &inner.reads),
            Outcome::Joined(_) => self.patience.set_nodes(self.system.members().len()),
            Outcome::Early | Outcome::JoinRefused(..) | Outcome::Noop => {}
        }
        Ok(())
    }

    /// Puts a result where the session finds it, if the session is one of this node.
    pub(super) fn deliver(&mut self, session: SessionId, rid: u32, reply: Reply) {
        let Some(mailbox) = self.mailboxes.get(&session) else { return };
        let letter = Letter { rid, content: Content::Done(reply) };
        Disk::hand_out(self.disk.as_mut(), mailbox, letter);
        self.submitted.remove(session, rid);
    }

    pub(super) fn deliver_at(&mut self, session: SessionId, rid: u32, index: Index) {
        self.deliver(session, rid, Reply::from(&index.to_le_bytes()[..]));
    }

    /// Tells a session that it has ended.
    pub(super) fn expire(&mut self, session: SessionId, rid: u32) {
        if let Some(mailbox) = self.mailboxes.get(&session) {
            mailbox.put(Letter { rid, content: Content::Expired });
        }
        self.submitted.remove(session, rid);
    }

    fn left(&mut self, inner: &Inner<S>, node: NodeId, reason: LeaveReason) {
        self.patience.set_nodes(self.system.members().len());
        if node == inner.id() {
            match reason {
                LeaveReason::Lagging => self.is_out = true,
                LeaveReason::Diverged => inner.end(End::Diverged(self.system.applied())),
                _ => inner.end(End::Expelled),
            }
        }
    }

    /// The state machine panicked at this command: this replica applies no more, and says so.
    #[cold]
    fn panicked(&mut self, inner: &Inner<S>, index: Index) {
        self.panicked_at = Some(index);
        let me = usize::from(inner.id().slot);
        self.table.set_panicked(me, index);
        self.table.beat(me, index);
        self.table.leave(inner.id());
        self.judge_panic(inner);
    }

    /// Ends this node once it is clear whether another replica has got past the command.
    pub(super) fn judge_panic(&mut self, inner: &Inner<S>) {
        let Some(index) = self.panicked_at else { return };
        let others = self.core.members().iter().filter(|&node| node != inner.id());
        let mut is_undecided = false;
        for node in others {
            let slot = usize::from(node.slot);
            if self.table.applied(slot) > index {
                return inner.end(End::Expelled);
            }
            is_undecided |= self.table.panicked(slot) != Some(index) && !self.table.is_dead(node);
        }
        if !is_undecided {
            inner.end(End::Poisoned(index));
        }
    }
}

/// Runs the state machine at a place, as the files count and as the group does. The reply begins with the group's, so that a
/// retry gets the same one.
fn run<S: StateMachine>(
    machine: &mut S,
    at: Index,
    index: Index,
    bytes: &[u8],
    reply: &mut Vec<u8>,
) -> Result<Reply, Stop> {
    let op = S::Op::decode(bytes).ok_or(Stop::Panicked)?;
    let out = catch_unwind(AssertUnwindSafe(|| machine.apply(at, &op))).map_err(|_| Stop::Panicked)?;
    reply.clear();
    reply.extend_from_slice(&index.to_le_bytes());
    out.encode(reply);
    Ok(Reply::from(&reply[..]))
}
