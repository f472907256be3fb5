//! Watching the other nodes, and showing them that this one runs.

use std::time::Duration;

use corecast_base::Clock;
use corecast_base::sync::Ordering;

use super::driver::Driver;
use super::inner::Inner;
use crate::one_paxos::Input;
use crate::runtime::{Member, SHORTEST_HOLD};
use crate::{Epoch, NodeId, StateMachine};

/// The time between two looks at nodes from which nothing is expected.
const IDLE_LOOK: Duration = Duration::from_millis(20);
/// The shortest time after which what has no answer is sent again; and the one of a node that expects nothing.
const SHORTEST_TICK: Duration = Duration::from_millis(1);
const IDLE_TICK: Duration = Duration::from_millis(100);
/// Requests without a result are handed in once more after this many ticks, and after twice as many each time that nothing
/// was applied meanwhile.
pub(super) const LOST_AFTER: u32 = 4;
const LOST_AFTER_MOST: u32 = 64;
/// The shortest time for which a dead node keeps a role before clients are told `NoMajority`, where too few voters live to give
/// the role away: a node that knows only the voters of an earlier configuration hears of newer ones meanwhile. Where enough
/// voters live it is four times as long.
const BLOCKED_AFTER: Duration = Duration::from_millis(500);
/// A tick is put off as often in a row while parts of long messages come or go.
const PUT_OFF: u32 = 16;

/// A role of a dead node, while no newer configuration gives it to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    pub(super) epoch: Epoch,
    /// False while too few voters live.
    pub(super) has_majority: bool,
    /// Since when, in ticks.
    pub(super) since: u64,
}

impl<S: StateMachine> Driver<S> {
    /// Shows that this node runs, sends again what has no answer, and suspects those that do not run.
    pub(super) fn watch(&mut self, inner: &Inner<S>, now: u64) {
        if self.panicked_at.is_some() {
            return self.judge_panic(inner);
        }
        self.table.beat(usize::from(inner.id().slot), inner.applied());
        self.transport.refresh_peers();
        self.patience.message_seen(self.transport.take_longest(), now);
        let (clock, expects) = (Clock::get(), self.expects_something(inner));
        self.tick(inner, now, expects);
        self.pass_over_silent(now);
        if expects || now.saturating_sub(self.looked) > clock.ticks_in(IDLE_LOOK) {
            self.looked = now;
            self.suspect_dead(inner, now);
            self.look_for_block(inner, now);
            self.forget_gone();
            self.joining.given.expire(now);
        }
        self.wait_for_joiners(inner, now);
        self.ask_to_join(inner);
        if expects {
            self.suspect_stuck(inner, now);
            self.resubmit_late(inner, now);
        }
    }

    /// True if this node waits for others.
    pub(super) fn expects_something(&self, inner: &Inner<S>) -> bool {
        !self.submitted.is_empty()
            || self.core.waiting() > 0
            || self.core.has_outstanding()
            || self.core.is_proposing()
            || self.is_leaving
            || !self.is_member()
            || inner.reads.is_waiting()
            || self.transport.has_backlog()
    }

    /// The time after which what has no answer is sent again. It differs among nodes, so that two that want the same role do not
    /// outdo each other for ever.
    fn tick_after(&self) -> Duration {
        let base = (self.patience.least() / 2).max(SHORTEST_TICK);
        base + base * self.core.id().slot.into() / 16
    }

    fn tick(&mut self, inner: &Inner<S>, now: u64, expects: bool) {
        let after = self.tick_after().max(if expects { Duration::ZERO } else { IDLE_TICK });
        if now.saturating_sub(self.ticking.at) <= Clock::get().ticks_in(after) {
            return;
        }
        self.ticking.at = now;
        let progress = self.transport.progress();
        let is_moving = std::mem::replace(&mut self.ticking.progressed, progress) != progress;
        if is_moving && self.ticking.put_off < PUT_OFF {
            self.ticking.put_off += 1;
            return;
        }
        self.ticking.put_off = 0;
        self.ticking.is_repeating = true;
        self.step(inner, Input::Tick);
        self.ticking.is_repeating = false;
    }

    /// Nodes that show no sign of life are passed over in the tree: a relay that stands still costs those behind it this time
    /// once.
    fn pass_over_silent(&mut self, now: u64) {
        let limit = Clock::get().ticks_in(self.patience.least() + IDLE_LOOK);
        let Some(routes) = self.transport.routes() else { return };
        for (slot, (sign, since)) in self.suspicions.signs.iter_mut().enumerate() {
            let found = self.table.sign(slot);
            if std::mem::replace(sign, found) != found {
                *since = now;
            }
            let has_come = self.table.claim_of(slot).inc > 0;
            routes.set_silent(slot, now.saturating_sub(*since) > limit && has_come);
        }
    }

    /// Nodes whose process is dead, at once if it is this node's turn.
    fn suspect_dead(&mut self, inner: &Inner<S>, now: u64) {
        let configuration = *self.core.configuration();
        let roles = [configuration.leader, configuration.acceptor];
        let mut gone: Vec<NodeId> =
            self.core.members().iter().chain(roles).filter(|&node| node != inner.id()).collect();
        gone.sort_unstable();
        gone.dedup();
        gone.retain(|&node| self.table.is_gone(node));
        for node in gone {
            let is_leader = node == self.core.configuration().leader;
            let turn = self.core.rank().unwrap_or(0);
            let sign = self.table.sign(usize::from(node.slot));
            let is_turn = !is_leader || turn == 0 || self.patience.is_turn(node, sign, turn, now);
            if is_turn && self.may_suspect(node, now) {
                self.step(inner, Input::Suspect { node, is_dead: true });
            }
        }
    }

    /// True if the node was not suspected just now: another attempt of the same would undo one that is under way.
    fn may_suspect(&mut self, node: NodeId, now: u64) -> bool {
        let clock = Clock::get();
        let again = clock.ticks_in(self.tick_after() * 2);
        let is_due = self.suspicions.last.get(&node).is_none_or(|&last| now.saturating_sub(last) > again);
        if is_due {
            self.suspicions.last.insert(node, now);
        }
        is_due
    }

    /// Nodes that have something to do and show no sign of life. Those that have not come yet have time to.
    fn suspect_stuck(&mut self, inner: &Inner<S>, now: u64) {
        let configuration = *self.core.configuration();
        let turn = self.core.rank().unwrap_or(0);
        let mut watched = vec![configuration.leader, configuration.acceptor];
        if self.core.leads() {
            watched.extend(self.core.slow_members());
        }
        watched.dedup();
        let is_late = Clock::get().duration(now.saturating_sub(self.began)) > self.config.joining;
        for node in watched {
            let slot = usize::from(node.slot);
            if node == inner.id() || !(is_late || self.table.has_come(node)) {
                continue;
            }
            // Two nodes that propose themselves at once send messages in vain: those before this one get time to be heard.
            let turn = if node == configuration.leader { turn as u32 } else { 0 };
            let before = self.patience.limit() / 2 * turn;
            let is_acceptor_of_other = node != configuration.leader && !self.core.leads();
            if !is_acceptor_of_other && self.patience.is_over(node, self.table.sign(slot), before, now) {
                self.transport.counters.suspicions += 1;
                self.doubt(node, now);
                self.step(inner, Input::Suspect { node, is_dead: false });
            }
        }
    }

    /// A node that is held for stuck has less time than it needs, unless its process is stopped. Whether that holds for a leader
    /// is seen later: it may have died just now, and then another has its role before it shows a sign of life.
    fn doubt(&mut self, node: NodeId, now: u64) {
        let is_leader = node == self.core.configuration().leader;
        match self.table.is_stopped(node) {
            true => self.patience.forget(node),
            false if is_leader => self.patience.suspected(node, now),
            false => {
                self.patience.forget(node);
                self.patience.doubted();
            }
        }
    }

    /// The leader lets nodes that are about to join keep up, for as long as a stuck member would be waited for four times.
    fn wait_for_joiners(&mut self, inner: &Inner<S>, now: u64) {
        let mut found = Vec::new();
        if self.core.leads() {
            let others = (0..self.table.len()).filter_map(|slot| self.transport.peer(slot));
            let joiners = others.filter(|&node| !self.core.members().contains(node) && !self.has_been(node));
            let joiners = joiners.filter(|&node| self.table.has_come(node) && !self.table.is_gone(node));
            found.extend(joiners.map(|node| (node, self.table.applied(usize::from(node.slot)))));
        }
        let limit = SHORTEST_HOLD.max(self.patience.limit() * 4);
        if let Some(least) = self.joining.joiners.hold(&found, self.core.applied_count(), limit, now) {
            self.hold_users(inner, least);
        }
    }

    /// True if the group has put this node out, or one that came later in its slot.
    fn has_been(&self, node: NodeId) -> bool {
        self.core.members().next_incarnation(node.slot).is_none_or(|next| next.inc > node.inc)
    }

    /// Gives up messages for nodes that are gone, once the group has let them go.
    fn forget_gone(&mut self) {
        for slot in 0..self.table.len() {
            let Some(node) = self.transport.peer(slot) else { continue };
            if !self.core.members().contains(node) && self.table.is_gone(node) {
                self.transport.forget(node);
            }
        }
    }

    /// A node with a role is dead, and nobody will go on in its place: too many of those who vote on that are dead, too, and none
    /// of them returns as a voter, or the new leader waits for the dead acceptor's answer. Where others know of newer voters,
    /// this node has asked all of them before it says so.
    fn look_for_block(&mut self, inner: &Inner<S>, now: u64) {
        let configuration = self.core.configuration();
        let is_dead = |node: NodeId| node != inner.id() && self.table.is_dead(node);
        let is_needed = is_dead(configuration.leader) || is_dead(configuration.acceptor);
        let voters = self.core.voters();
        let has_majority = voters.iter().filter(|&&voter| !is_dead(voter)).count() * 2 > voters.len();
        let block = Block { epoch: configuration.epoch, has_majority, since: now };
        let is_same = |known: &Block| known.epoch == block.epoch && known.has_majority == has_majority;
        let known = self.suspicions.block.filter(is_same).unwrap_or(block);
        self.suspicions.block = Some(known).filter(|_| is_needed && self.is_member());
        let limit = self.block_after(has_majority);
        let is_blocked =
            self.suspicions.block.is_some() && Clock::get().duration(now.saturating_sub(known.since)) > limit;
        // ORDERING: Relaxed, the word says everything
        inner.is_blocked.store(is_blocked, Ordering::Relaxed);
        if is_blocked {
            inner.callers.wake();
        }
    }

    /// The time for which a role stays with a dead node before that counts as the end of the group. A majority gives it to
    /// another one sooner, when each node has had its turn.
    fn block_after(&self, has_majority: bool) -> Duration {
        let asked = BLOCKED_AFTER.max(self.tick_after() * 2 * self.table.len() as u32);
        let turns = self.core.members().len() as u32 + 2;
        if has_majority { (asked * 4).max(self.patience.limit() * turns) } else { asked }
    }

    /// Requests that may have been lost on the way, or with a leader.
    fn resubmit_late(&mut self, inner: &Inner<S>, now: u64) {
        let applied = self.core.applied_count();
        if std::mem::replace(&mut self.resubmitting.applied, applied) != applied {
            self.resubmitting.after = LOST_AFTER;
        }
        // Requests that wait for room are not lost, unless there was none even for waiting.
        let lost = self.transport.counters.lost;
        if self.transport.has_backlog_for(self.core.configuration().leader) && lost == self.resubmitting.lost {
            return;
        }
        if now.saturating_sub(self.resubmitted) > Clock::get().ticks_in(self.tick_after() * self.resubmitting.after) {
            self.resubmitted = now;
            self.resubmitting.after = (self.resubmitting.after * 2).clamp(LOST_AFTER, LOST_AFTER_MOST);
            self.resubmitting.lost = lost;
            self.resubmit(inner);
            if self.is_leaving {
                self.ask_to_leave(inner);
            }
        }
    }
}
