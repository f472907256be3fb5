//! Being taken in, and leaving: what a node asks of the others for that.

use std::time::Duration;

use corecast_base::Clock;

use super::driver::Driver;
use super::inner::Inner;
use crate::one_paxos::{Input, Message};
use crate::runtime::Member;
use crate::{Command, LeaveReason, Op, SessionId, StateMachine};

/// The time after which a node that joins asks once more.
const JOIN_AGAIN: Duration = Duration::from_millis(5);

impl<S: StateMachine> Driver<S> {
    /// Asks to be let go. The last member just goes.
    pub(super) fn ask_to_leave(&mut self, inner: &Inner<S>) {
        let node = self.core.id();
        let configuration = self.core.configuration();
        if self.core.members().len() <= 1 || inner.execute_error().is_some() {
            return;
        }
        if configuration.leader == node || configuration.acceptor == node {
            // The others take the roles over, and put this node out.
            return self.table.leave(node);
        }
        let op = Op::Leave { node, reason: LeaveReason::Asked };
        let command = Command { session: SessionId::SYSTEM, rid: node.to_bits(), op };
        self.step(inner, Input::Requests(vec![command]));
    }

    /// Asks to be taken in, as long as it is not a member; not for a while if it has asked just now.
    pub(super) fn ask_to_join(&mut self, inner: &Inner<S>) {
        let clock = Clock::get();
        let now = clock.ticks();
        let is_due = now.saturating_sub(self.joining.asked) >= clock.ticks_in(JOIN_AGAIN);
        if self.is_member() || self.is_leaving || self.is_out || !is_due {
            return;
        }
        self.joining.asked = now;
        self.ask_for_newest();
        let (node, boot, applied) = (inner.id(), self.joining.boot, self.core.applied_count());
        let op = Op::Join { node, boot, applied };
        let command = Command { session: SessionId::SYSTEM, rid: node.to_bits(), op };
        self.step(inner, Input::Requests(vec![command]));
        self.transport.flush();
    }

    /// Asks one of the nodes that it reaches, each in its turn, for what it lacks. Others do not know yet that it is there, and
    /// all that its state and the first configuration name may be dead.
    fn ask_for_newest(&mut self) {
        let slots = self.table.len();
        let turn = self.joining.turn;
        let next = (1..=slots).map(|step| (turn + step) % slots).find(|&slot| self.transport.reaches(slot));
        let Some(slot) = next else { return };
        self.joining.turn = slot;
        let message = Message::Missing { epoch: self.core.configuration().epoch, first: self.core.learned_end() };
        if let Some(node) = self.transport.peer(slot) {
            self.transport.send(node, &message);
        }
    }

    /// True once this node has gone as it wanted to.
    pub(super) fn has_left(&self) -> bool {
        self.is_leaving && (self.is_out || !self.is_member() || self.core.members().len() == 1)
    }

    pub(super) fn is_member(&self) -> bool {
        self.core.members().contains(self.core.id())
    }
}
