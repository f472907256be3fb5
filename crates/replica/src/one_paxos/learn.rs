//! The learner: applies decided commands in the order of their indexes, and drops those that all members have applied.

use super::effects::want;
use super::io::Effect;
use super::node::{Node, Role};
use super::order::KEPT_FOR_JOINERS;
use crate::{Command, Index, NodeId, Op};

impl<B: Clone + PartialEq> Node<B> {
    /// N3: the first that tells about an index decides it.
    pub(super) fn learn(
        &mut self,
        stable: Index,
        first: Index,
        commands: Vec<Command<B>>,
        effects: &mut Vec<Effect<B>>,
    ) {
        for (index, command) in (first..).zip(commands) {
            // A slot below what all members have applied may hold anything; nobody counted needs it.
            if index >= stable || !self.rules().respect_stable {
                self.decide(index, command);
            }
        }
        if !self.leads() {
            self.learned.trim(stable.min(self.applied));
        }
        self.advance(effects);
        if self.learned_end < stable {
            self.lag(effects);
        }
    }

    #[inline]
    pub(super) fn decide(&mut self, index: Index, command: Command<B>) {
        match self.learned.get(index) {
            Some(known) => self.check(*known == command, "I1: one command at one index"),
            None if index >= self.learned_end => self.learned.set(index, command),
            None => {}
        }
    }

    /// Lets what follows without a hole be applied.
    #[inline]
    pub(super) fn advance(&mut self, effects: &mut Vec<Effect<B>>) {
        let before = self.learned_end;
        while self.learned.get(self.learned_end).is_some() {
            self.learned_end += 1;
        }
        if self.learned_end == before {
            return;
        }
        if !self.is_by_messages() && (self.rules().all_raise_visible || self.leads()) {
            want(effects, || Effect::RaiseVisible(self.learned_end));
        }
        want(effects, || Effect::Apply(self.learned_end));
    }

    /// The runtime cannot read what this node has to apply: it needs a snapshot.
    pub fn fall_behind(&mut self, effects: &mut Vec<Effect<B>>) {
        self.lag(effects);
    }

    pub(super) fn lag(&mut self, effects: &mut Vec<Effect<B>>) {
        self.is_lagging = true;
        self.resign();
        self.proposal = None;
        effects.push(Effect::Lagging);
    }

    /// The next command to apply, and its index.
    #[inline]
    #[must_use]
    pub fn next_to_apply(&self) -> Option<(Index, &Command<B>)> {
        if self.applied == self.learned_end {
            return None;
        }
        self.learned.get(self.applied).map(|command| (self.applied, command))
    }

    /// The decided command at an index at or after [`applied_count`](Self::applied_count), for a runtime that applies a run
    /// before it says so; `None` from [`learned_end`](Self::learned_end) on.
    #[inline]
    #[must_use]
    pub fn decided(&self, index: Index) -> Option<&Command<B>> {
        if index < self.learned_end { self.learned.get(index) } else { None }
    }

    /// The commands below `end` have been applied.
    ///
    /// # Panics
    /// If `end` is beyond what may be applied.
    #[track_caller]
    pub fn applied(&mut self, end: Index, effects: &mut Vec<Effect<B>>) {
        assert!(end <= self.learned_end, "only decided commands are applied");
        let (mut has_members_changed, mut joined) = (false, Vec::new());
        for index in self.applied..end {
            let Some(command) = self.learned.get(index) else { continue };
            match &command.op {
                Op::Join { node, boot, applied } if self.members.join(*node, *boot).is_ok() => {
                    has_members_changed = true;
                    joined.push((*node, self.orders.joining.get(node).map_or(*applied, |&heard| heard.max(*applied))));
                }
                Op::Leave { node, .. } => has_members_changed |= self.members.leave(*node),
                _ => {}
            }
            self.orders.has_applied(command);
        }
        let before = self.applied;
        self.applied = before.max(end);
        if !self.rules().joiners_bound_stable {
            joined.iter_mut().for_each(|(_, applied)| *applied = before);
        }
        if has_members_changed {
            self.members_changed(&joined, effects);
        }
        self.has_moved(effects);
    }

    /// A member has applied what is below `applied`.
    pub(super) fn progressed(&mut self, node: NodeId, applied: Index, effects: &mut Vec<Effect<B>>) {
        if let Some(count) = self.orders.joining.get_mut(&node) {
            *count = applied.max(*count);
        }
        let Some(entry) = self.progress.iter_mut().find(|entry| entry.node == node) else { return };
        let (has_moved, is_first) = (applied > entry.applied, !entry.is_heard);
        entry.applied = applied.max(entry.applied);
        entry.is_heard = true;
        // Over messages its word is a sign of life, and one that has applied all there is cannot move.
        let has_nothing_to_do = self.is_by_messages() && self.leads() && applied >= self.orders.next;
        if has_moved || has_nothing_to_do {
            self.slow.remove(&node);
        }
        if has_moved || is_first {
            self.has_moved(effects);
        }
    }

    /// Some count of applied commands has grown.
    #[inline]
    fn has_moved(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.leads() {
            self.raise_stable();
            self.order_waiting(effects);
        } else if self.is_by_messages() {
            self.report_progress(effects);
        }
    }

    #[cold]
    fn members_changed(&mut self, joined: &[(NodeId, Index)], effects: &mut Vec<Effect<B>>) {
        self.list_progress(joined);
        let members = &self.members;
        self.dead.retain(|&node| members.contains(node));
        self.gone_on.retain(|&node| members.contains(node));
        self.slow.retain(|&node| members.contains(node));
        self.orders.leaving.retain(|&node| members.contains(node));
        let is_member = members.contains(self.settings.me);
        let has_leader = members.contains(self.configuration.leader);
        if !is_member && !self.is_alone && self.leads() {
            self.resign();
            // One that is chosen all the same is another's to take over: this node must not lead by it.
            self.proposal = None;
        }
        // One that has to begin anew is another incarnation.
        self.is_alone &= !is_member;
        if !has_leader && self.rank() == Some(0) {
            self.propose_itself(effects);
        }
        // The first that joins a leader which accepts itself takes that over.
        self.settle_acceptor(effects);
        if self.is_by_messages() {
            self.renew_voters(effects);
        }
    }

    /// The leader trims what all members have applied, and all that are about to be: one that joins begins with an older state,
    /// and may be left alone as soon as its `Join` is decided. The leader's own count always bounds.
    pub(super) fn raise_stable(&mut self) {
        if self.role == Role::Adopting {
            return;
        }
        // A leader that was deposed without knowing may have applied what others ordered.
        let own = self.applied.min(self.orders.next);
        let joining = self.orders.joining.values().copied().filter(|_| self.rules().joiners_bound_stable);
        let counts = self.progress.iter().map(|member| member.applied).chain(joining).chain(self.held);
        let least = counts.fold(own, Index::min);
        let least = least.saturating_sub(self.settings.window / KEPT_FOR_JOINERS);
        if least > self.orders.stable {
            self.orders.stable = least;
            self.orders.proposals.trim(least);
            self.learned.trim(least);
        }
    }
}
