//! Watching the other nodes, and showing them that this one runs.

use std::time::Duration;

use corecast_base::Clock;

use super::driver::Driver;
use super::inner::Inner;
use crate::one_paxos::Input;
use crate::runtime::{End, SHORTEST_HOLD};
use crate::segment::NodeState;
use crate::{LeaveReason, NodeId, Op, StateMachine};

/// Requests without a result are handed in once more after this time at the latest.
const LOST_AFTER: Duration = Duration::from_millis(50);
/// The time between two looks at nodes from which nothing is expected.
const IDLE_LOOK: Duration = Duration::from_millis(20);

/// The wish that a node be put out which is too slow: its clients go on at its next incarnation.
fn leave_of(node: NodeId) -> Op<crate::segment::Body> {
    Op::Leave { node, reason: LeaveReason::Lagging }
}

impl<S: StateMachine> Driver<S> {
    /// Shows that this node runs, and suspects those that do not.
    pub(super) fn watch(&mut self, inner: &Inner<S>, now: u64) {
        if let Some(index) = inner.control.poisoned() {
            return inner.ending.set(End::Poisoned(index));
        }
        if self.panicked_at.is_some() {
            return self.judge_panic(inner);
        }
        self.shm.writer.beat();
        let (clock, expects) = (Clock::get(), self.expects_something());
        if expects || now.saturating_sub(self.looked) > clock.ticks_in(IDLE_LOOK) {
            self.looked = now;
            self.shm.refresh_peers();
            self.suspect_dead(inner, now);
        }
        self.wait_for_joiners(inner, now);
        self.go_on_alone(inner);
        if expects {
            // First, as a suspicion begins the time of a node anew.
            self.put_out_holders(inner, now);
            self.suspect_stuck(inner, now);
            self.resubmit_late(inner, now);
        }
    }

    /// The leader lets nodes that are about to join keep up, for as long as a stuck member would be waited for four times.
    fn wait_for_joiners(&mut self, inner: &Inner<S>, now: u64) {
        let found = if self.core.leads() { self.shm.joiners(self.core.members()) } else { Vec::new() };
        let limit = SHORTEST_HOLD.max(self.patience.limit() * 4);
        if let Some(least) = self.joiners.hold(&found, self.core.applied_count(), limit, now) {
            self.hold_users(inner, least);
        }
    }

    /// A node that is about to join goes on from the log of the members, if all of them are dead.
    fn go_on_alone(&mut self, inner: &Inner<S>) {
        let may_lead = !self.is_member() && !self.core.is_lagging() && !self.core.leads();
        let me = self.shm.me;
        let is_joining = || self.shm.segment(me).is_some_and(|own| own.state() == Some(NodeState::Joining));
        if may_lead && is_joining() && self.shm.peers.is_first_without_members(me) {
            self.step(inner, Input::Alone);
        }
    }

    /// True if this node waits for others.
    pub(super) fn expects_something(&self) -> bool {
        !self.submitted.is_empty()
            || self.core.waiting() > 0
            || self.core.has_outstanding()
            || !self.is_member()
            || self.room.is_wanted
            || self.is_leaving
    }

    pub(super) fn is_member(&self) -> bool {
        self.core.members().contains(self.shm.me)
    }

    /// Nodes whose process is dead, at once if it is this node's turn.
    fn suspect_dead(&mut self, inner: &Inner<S>, now: u64) {
        let configuration = *self.core.configuration();
        let roles = [configuration.leader, configuration.acceptor];
        let mut dead: Vec<NodeId> = self.core.members().iter().filter(|&node| node != self.shm.me).collect();
        dead.extend(roles.into_iter().filter(|&node| node != self.shm.me && !self.core.members().contains(node)));
        dead.retain(|&node| self.shm.is_gone(node));
        for node in dead {
            let is_leader = node == self.core.configuration().leader;
            let turn = self.core.rank().unwrap_or(0);
            // The same sign as in `suspect_stuck`: with another one each look would begin the time anew.
            let sign = self.shm.segment(node).map_or(u64::MAX, |segment| segment.beat());
            let is_turn = !is_leader || turn == 0 || self.patience.is_turn(node, sign, turn, now);
            if is_turn {
                let has_gone_on =
                    self.core.members().boot(node).is_some_and(|boot| self.shm.control.has_gone_on(node, boot));
                let dead = Input::Suspect { node, is_dead: true };
                self.step(inner, if has_gone_on { Input::GoneOn(node) } else { dead });
            }
        }
    }

    /// Nodes that have something to do and show no sign of life.
    fn suspect_stuck(&mut self, inner: &Inner<S>, now: u64) {
        let configuration = *self.core.configuration();
        let turn = self.core.rank().unwrap_or(0);
        let mut watched = vec![configuration.leader, configuration.acceptor];
        if self.core.leads() {
            watched.extend(self.core.slow_members());
        }
        watched.dedup();
        for node in watched {
            if node == self.shm.me {
                continue;
            }
            let Some(sign) = self.shm.segment(node).map(|segment| segment.beat()) else { continue };
            let before = self.patience.before_turn(if node == configuration.leader { turn } else { 0 });
            let is_acceptor_of_other = node != configuration.leader && !self.core.leads();
            if !is_acceptor_of_other && self.patience.is_over(node, sign, before, now) {
                self.patience.forget(node);
                self.counters.suspicions += 1;
                if node != configuration.leader && !self.shm.peers.is_stopped(node) {
                    self.patience.doubted();
                }
                self.step(inner, Input::Suspect { node, is_dead: false });
            }
        }
    }

    /// While a thread waits for room in the arena: nodes that have not applied the oldest operation there, and show no sign of
    /// life, are to be put out. The leader does not find them by itself where few commands fill the arena.
    fn put_out_holders(&mut self, inner: &Inner<S>, now: u64) {
        let Some(oldest) = self.shm.bulk.oldest_index().filter(|_| self.room.is_wanted) else { return };
        let leader = self.core.configuration().leader;
        let holders = self.shm.peers.iter().map(|peer| &peer.segment);
        let holders =
            holders.filter(|one| one.applied() <= oldest && one.node() != self.shm.me && one.node() != leader);
        let holders: Vec<_> = holders.map(|one| (one.node(), one.beat())).collect();
        // A request may be lost with its leader.
        let asks_again = self.sends_again(now);
        for (node, beat) in holders {
            let is_new = !self.room.overdue.contains(&node);
            if is_new && !self.patience.is_over(node, beat, Duration::ZERO, now) {
                continue;
            }
            if is_new {
                self.room.overdue.push(node);
                self.counters.suspicions += 1;
            }
            if (is_new || asks_again) && self.core.members().contains(node) {
                self.request_for_group(inner, node, leave_of(node));
            }
        }
    }

    /// True if it is time to send requests once more.
    fn sends_again(&self, now: u64) -> bool {
        let since = Clock::get().duration(now.saturating_sub(self.resubmitted));
        since > (self.patience.limit() * 4).min(LOST_AFTER)
    }

    /// Requests that may have been lost, as with a leader that had read them.
    fn resubmit_late(&mut self, inner: &Inner<S>, now: u64) {
        if self.sends_again(now) {
            self.resubmitted = now;
            self.resubmit(inner);
            self.ask_to_join(inner);
            if self.is_leaving {
                self.ask_to_leave(inner, crate::LeaveReason::Asked);
            }
        }
    }
}
