//! Coming back: a node that slept for so long that the group put it out goes on as another incarnation.
//!
//! The others have trimmed what it lacks, so it takes a state of one of them, as a node does that joins. Its process is the one
//! that it was: its sessions stay open, and their requests without a result are handed in again. Its vote is lost with the former
//! incarnation; the group counts on that of the next one once it is a member.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::wait::Waiter;

use super::barriers::Barriers;
use super::beginning;
use super::driver::Driver;
use super::inner::Inner;
use super::peers::Peers;
use super::states::Taker;
use super::transport::Transport;
use crate::error::OpenError;
use crate::one_paxos::{Message, Node as OneNode};
use crate::runtime::{End, GroupState};
use crate::{NodeId, StateMachine};

/// The time between two looks for a state that shows that the former incarnation is out.
const LOOK_AGAIN: Duration = Duration::from_millis(1);

impl<S: StateMachine> Driver<S> {
    /// Comes back if the group has put this node out. If it cannot, the node has ended, and its callers are told.
    pub(super) fn come_back_if_out(&mut self, inner: &Inner<S>) {
        if !self.is_out || inner.ending.get().is_some() || inner.is_stopping() {
            return;
        }
        if self.is_leaving || self.come_back(inner).is_err() {
            inner.end(End::Expelled);
        }
        inner.callers.wake();
    }

    #[cold]
    fn come_back(&mut self, inner: &Inner<S>) -> Result<(), OpenError> {
        let clock = Clock::get();
        let until = clock.ticks() + clock.ticks_in(self.config.joining);
        let is_over = || clock.ticks() >= until || inner.is_stopping();
        let (me, mut transport) = self.claim_next(inner)?;
        let waiter = Waiter::new(self.config.wait, inner.region.cpu_sharing(2), None);
        let mut taker = Taker::new(me, &mut transport, &self.table, waiter, &is_over);
        let ((system, machine), giver) = loop {
            let state = inner.state.read();
            let taken = taker.take(&|from| state.machine.restore_anew(from))?;
            // An older state would show clients here an earlier time, and no session opened since.
            let (system, _) = &taken.0;
            let is_out = system.members().next_incarnation(me.slot).is_some_and(|next| next.inc <= me.inc);
            if is_out && system.members().at(me.slot).is_none() && system.applied() >= state.count {
                break taken;
            }
            drop(state);
            if is_over() {
                return Err(OpenError::NotTakenIn(self.config.joining));
            }
            taker.rest(LOOK_AGAIN);
        };
        transport.counters = self.transport.counters;
        transport.counters.rejoins += 1;
        transport.send(giver, &Message::Missing { epoch: 0, first: system.applied() });
        self.go_on_from(inner, (system, machine), transport)
    }

    /// Takes the next incarnation, with channels of its own.
    fn claim_next(&mut self, inner: &Inner<S>) -> Result<(NodeId, Transport), OpenError> {
        let old = inner.id();
        let slot = usize::from(old.slot);
        let before = self.table.claim_of(slot);
        // The others give up what they sent to the former one.
        self.table.leave(old);
        self.transport.close();
        self.transport.flush();
        let me = if before.inc == old.inc { self.table.claim(slot, before) } else { None };
        let me = me.ok_or(OpenError::NoSlot(self.config.slots))?;
        inner.set_id(me);
        let peers = Peers::of_later(&self.table, &self.config, me)?;
        Ok((me, Transport::open(&inner.region, Arc::clone(&self.table), &self.config, me, peers)?))
    }

    /// Begins with this state as the incarnation that it has claimed.
    fn go_on_from(
        &mut self,
        inner: &Inner<S>,
        (system, machine): (GroupState, S),
        transport: Transport,
    ) -> Result<(), OpenError> {
        let (me, count) = (inner.id(), system.applied());
        let (settings, first) = (beginning::settings(&self.config, me), beginning::configuration(&self.config));
        if let Some(disk) = &mut self.disk {
            let restarted = disk.restart(&machine, count);
            restarted.inspect_err(|error| inner.ending.fail_files(&io::Error::other(error.to_string())))?;
        }
        self.core = OneNode::restored(settings, system.members().clone(), first, count);
        (self.system, self.transport, self.barriers) = (system, transport, Barriers::new(me));
        inner.replace_state(machine, count);
        self.suspicions.last.clear();
        self.is_out = false;
        self.ask_to_join(inner);
        // Requests whose results the new state knows have their results.
        for command in self.submitted.in_order() {
            self.submit(inner, command);
        }
        Ok(())
    }
}
