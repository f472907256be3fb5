//! Requests of a leader that accepts its own proposals: their results are there before the caller gives the driver back.

use super::driver::Driver;
use super::inner::Inner;
use crate::one_paxos::Input;
use crate::runtime::{Admission, Reply, admission};
use crate::segment::Body;
use crate::{Command, Epoch, SessionId, StateMachine};

/// A leader that orders its own clients' requests without a pause looks once in this many of them how far the members are: each
/// member writes its count with each run that it applies, so each look takes the line from it.
const SERVED_PER_PROGRESS: u64 = 16;

/// The result of the request that is being handed in. The caller has the driver, and needs no mailbox to find it.
#[derive(Debug, Default)]
pub(super) struct Direct {
    pub(super) awaited: Option<(SessionId, u32)>,
    pub(super) reply: Option<Reply>,
    /// Kept for its memory.
    run: Vec<Command<Body>>,
}

impl Direct {
    /// Keeps the memory of a run that has been written, for the next.
    #[inline]
    pub(super) fn keep_memory_of(&mut self, run: &mut Vec<Command<Body>>) {
        self.run = std::mem::take(run);
        self.run.clear();
    }
}

impl<S: StateMachine> Driver<S> {
    /// Has a request ordered for the session that hands it in, and returns its result if it is there then. A leader that accepts
    /// its own proposals mostly has it, and notes the request only if not. It orders what others ask for in the same run: what a
    /// run costs is then paid once. Such a caller never waits, and so never looks around otherwise; the node's own thread may be
    /// taking a nap.
    #[inline]
    pub(super) fn submit_for_caller(&mut self, inner: &Inner<S>, command: Command<Body>) -> Option<Reply> {
        if self.is_fused_leader() {
            self.counters.served += 1;
            if self.counters.served % SERVED_PER_PROGRESS == 0 {
                self.look(inner);
            }
        }
        // Behind others of this node without a result it is noted at once, to keep the order of its session.
        let is_at_once = self.is_fused_leader() && self.core.orders() && self.submitted.is_empty();
        if !is_at_once || admission(&self.system, &command) != Admission::Order {
            self.submit(inner, command);
            return None;
        }
        let epoch = self.core.configuration().epoch;
        self.direct.awaited = Some((command.session, command.rid));
        let mut run = std::mem::take(&mut self.direct.run);
        run.push(command);
        self.shm.hear_requests(&mut run);
        self.step(inner, Input::Requests(run));
        self.direct.awaited = None;
        let reply = self.direct.reply.take();
        if reply.is_none() {
            self.has_no_result_yet(inner, command, epoch);
        }
        reply
    }

    fn is_fused_leader(&self) -> bool {
        let roles = self.core.configuration();
        roles.leader == self.shm.me && roles.acceptor == self.shm.me && self.panicked_at.is_none()
    }

    /// The request waits for room, or for the log on the disk; or it was lost with the role of this node.
    #[cold]
    fn has_no_result_yet(&mut self, inner: &Inner<S>, command: Command<Body>, epoch: Epoch) {
        match admission(&self.system, &command) {
            Admission::Order if self.core.configuration().epoch == epoch => _ = self.submitted.add(command),
            Admission::Order => self.submit(inner, command),
            // The result is on its way to the session, or its end.
            Admission::Done(_) | Admission::Expired => {}
        }
    }
}
