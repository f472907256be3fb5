//! Leaving the group, being put out, and coming back.

use std::time::{Duration, Instant};

use corecast_base::Clock;

use super::driver::Driver;
use super::inner::Inner;
use super::open::{NewSegment, restored};
use super::{giving, open};
use crate::error::OpenError;
use crate::runtime::{End, GroupState};
use crate::segment::{Body, NodeState};
use crate::{Command, LeaveReason, NodeId, Op, SessionId, StateMachine};

/// The time after which a node that joins asks once more.
const JOIN_AGAIN: Duration = Duration::from_millis(5);

/// The time between two looks at the state of a member.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// The request of a node that fell behind to be put out.
fn leave_of<B>(node: NodeId) -> Command<B> {
    let op = Op::Leave { node, reason: LeaveReason::Lagging };
    Command { session: SessionId::SYSTEM, rid: node.to_bits(), op }
}

impl<S: StateMachine> Driver<S> {
    /// Asks to be let go. The last member just goes.
    pub(super) fn ask_to_leave(&mut self, inner: &Inner<S>, reason: LeaveReason) {
        let me = self.shm.me;
        let configuration = *self.core.configuration();
        if self.core.members().len() <= 1 {
            return;
        }
        if configuration.leader == me || configuration.acceptor == me {
            // The others take the roles over, and put this node out.
            self.show_state(NodeState::Left);
            return self.shm.peers.wake_others(me);
        }
        self.request_for_group(inner, me, Op::Leave { node: me, reason });
    }

    /// True once this node has gone as it wanted to. One that the log did not wait for is not counted any more.
    pub(super) fn has_left(&self) -> bool {
        self.is_leaving && (!self.is_member() || self.core.is_lagging() || self.core.members().len() == 1)
    }

    /// The log says that this node is no longer a member.
    pub(super) fn was_let_go(&mut self, inner: &Inner<S>, reason: LeaveReason) {
        self.show_state(NodeState::Left);
        match reason {
            LeaveReason::Lagging => {}
            LeaveReason::Diverged => inner.ending.set(End::Diverged(self.system.applied())),
            LeaveReason::Asked | LeaveReason::Dead | LeaveReason::Panicked => inner.ending.set(End::Expelled),
        }
    }

    /// Does what only the node's own thread does: giving the state, and coming back with another one.
    pub(super) fn maintain(&mut self, inner: &Inner<S>) {
        if inner.ending.get().is_some() || self.panicked_at.is_some() {
            return;
        }
        if !self.core.is_lagging() {
            self.give(inner);
            let shortened = self.disk.as_mut().map_or(Ok(()), |disk| disk.shorten(&inner.state));
            shortened.unwrap_or_else(|error| inner.ending.fail_files(&std::io::Error::other(error)));
        }
        let was_put_out =
            !self.is_member() && self.shm.segment(self.shm.me).is_some_and(|own| own.state() == Some(NodeState::Left));
        if (self.core.is_lagging() || was_put_out) && !self.is_leaving {
            if !was_put_out {
                self.show_state(NodeState::Lagging);
            }
            // It is tried again at the next round, as long as anybody may have the state.
            if self.come_back(inner).is_err() && !self.shm.peers.has_source(self.shm.me) {
                inner.ending.set(End::Lost);
                inner.callers.wake();
            }
        }
    }

    /// The state of a member that shows that incarnation `old` of this node has gone.
    fn take_state_without(&mut self, inner: &Inner<S>, old: NodeId) -> Result<(GroupState, S), OpenError> {
        let until = Instant::now() + self.config.joining;
        let mut told = None;
        loop {
            self.shm.refresh_peers();
            if !self.shm.peers.has_source(self.shm.me) {
                return Err(OpenError::Lost);
            }
            // Each new leader is told once; it may put this node out by itself, as that holds back the log.
            let newest = self.shm.newest_configuration();
            if let Some(newest) = newest.filter(|newest| told != Some(newest.epoch)) {
                told = Some(newest.epoch);
                self.shm.forward(newest.leader, &[leave_of(old)]);
            }
            let state = inner.state.read();
            let restore = |from: &mut dyn std::io::Read| state.machine.restore_anew(from);
            let taken = giving::take(&mut self.shm, until, &mut self.asked, &restore).map_err(OpenError::State)?;
            drop(state);
            // A state older than what clients here have seen would show them an earlier time, and no session opened since.
            if !taken.0.members().contains(old) && taken.0.applied() >= self.core.applied_count() {
                return Ok(taken);
            }
            if Instant::now() >= until || inner.is_stopping() {
                return Err(OpenError::NotTakenIn(self.config.joining));
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }

    /// Takes the state of a member, and asks to be taken in as the next incarnation.
    fn come_back(&mut self, inner: &Inner<S>) -> Result<(), OpenError> {
        let old = self.shm.me;
        let (system, machine) = self.take_state_without(inner, old)?;
        let before = inner.control.last_claim(usize::from(old.slot));
        let by = before.next(inner.region.me().to_word()).ok_or(OpenError::NoSlot(self.config.slots))?;
        inner.control.claim(usize::from(old.slot), before, by).map_err(|_| OpenError::Lost)?;
        let me = NodeId::new(old.slot, by.inc);
        let (writer, memory): NewSegment = open::segment(&self.config, me)?;
        let core = restored(&self.config, me, &mut self.shm, &system)?;
        // All that may fail comes before the first part of the node is exchanged.
        if let Some(disk) = &mut self.disk {
            let restarted = disk.restart(&machine, system.applied());
            restarted.inspect_err(|error| inner.ending.fail_files(&std::io::Error::other(error.to_string())))?;
        }
        self.shm.move_to(me, writer, memory, self.boot);
        self.core = core;
        inner.replace_state(me, machine, system.applied());
        self.shm.writer.set_applied(system.applied(), Some(system.prefix()));
        self.system = system;
        self.pin_peers();
        self.counters.rejoins += 1;
        self.reconcile(inner);
        Ok(())
    }

    /// Requests whose results the new state knows have their results. The bytes of the others move to the new arena, as only few
    /// of a node's earlier ones are kept.
    fn reconcile(&mut self, inner: &Inner<S>) {
        let mut bytes = std::mem::take(&mut self.bytes);
        for command in self.submitted.iter_mut() {
            if let Op::User(body @ Body::Bulk(_)) = &mut command.op {
                let moved = self.shm.read_body(body, &mut bytes).is_ok().then(|| self.shm.write_body(&bytes));
                if let Some(Ok(moved)) = moved {
                    *body = moved;
                }
            }
        }
        self.bytes = bytes;
        for command in self.submitted.in_order() {
            self.submit(inner, command);
        }
    }

    /// As [`ask_to_join`](Self::ask_to_join), for a thread that waits for it and looks often.
    pub(super) fn ask_to_join_now_and_then(&mut self, inner: &Inner<S>) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now.saturating_sub(self.resubmitted) > clock.ticks_in(JOIN_AGAIN) {
            self.resubmitted = now;
            self.ask_to_join(inner);
        }
    }

    /// Asks to be taken in, as long as it is not a member.
    pub(super) fn ask_to_join(&mut self, inner: &Inner<S>) {
        let (node, boot) = (self.shm.me, self.boot);
        if !self.is_member() && !self.is_leaving {
            // An earlier asking knows of a smaller count, and takes room.
            self.shm.answered(SessionId::SYSTEM, node.to_bits());
            let applied = self.core.applied_count();
            self.request_for_group(inner, node, Op::Join { node, boot, applied });
        }
    }
}
