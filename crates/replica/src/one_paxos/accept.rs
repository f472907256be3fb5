//! The acceptor: commits what the leader of the newest epoch proposes.

use super::effects::want;
use super::io::Effect;
use super::log::Log;
use super::node::Node;
use super::rules::Rules;
use crate::{Command, Configuration, Epoch, Index};

/// The state of a node as an acceptor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Acceptor<B> {
    /// The newest epoch that it obeys.
    pub(super) hpn: Epoch,
    /// Shared: the instance that it was chosen for last.
    inst: Option<Epoch>,
    /// Messages: all that it has accepted. Shared: what it has written and not committed.
    pub(super) log: Log<(Epoch, Command<B>)>,
    pub(super) commit: Index,
    pub(super) stable: Index,
    /// Shared: the index after the last command accepted in this epoch.
    pub(super) cursor: Index,
}

impl<B> Acceptor<B> {
    pub(super) fn new(hpn: Epoch) -> Self {
        Self { hpn, inst: None, log: Log::new(0), commit: 0, stable: 0, cursor: 0 }
    }

    /// Shared: begins a new epoch, and forgets what it had written for another instance.
    pub(super) fn take_role(&mut self, configuration: &Configuration, rules: &Rules) {
        if self.inst != Some(configuration.inst) {
            self.inst = Some(configuration.inst);
            // Its own count may be greater, from a time when it was deposed and did not know: a node that has joined since
            // need not have applied as much.
            self.stable = configuration.stable;
            self.commit = self.commit.max(self.stable);
        }
        self.hpn = self.hpn.max(configuration.epoch);
        self.cursor = if rules.respect_stable { self.stable } else { 0 };
        self.log.clear(self.cursor);
    }

    pub(super) fn raise_stable(&mut self, stable: Index) {
        self.stable = self.stable.max(stable);
        self.commit = self.commit.max(self.stable);
        self.cursor = self.cursor.max(self.stable);
    }
}

impl<B: Clone + PartialEq> Node<B> {
    /// Shared: N2 for a run of the leader's proposals.
    pub(super) fn accept(
        &mut self,
        epoch: Epoch,
        stable: Index,
        first: Index,
        commands: Vec<Command<B>>,
        effects: &mut Vec<Effect<B>>,
    ) {
        let is_mine = self.configuration.acceptor == self.settings.me;
        if !is_mine || epoch != self.configuration.epoch || epoch < self.acceptor.hpn {
            return;
        }
        self.acceptor.hpn = epoch;
        let before = self.acceptor.cursor;
        self.acceptor.raise_stable(stable);
        if !self.rules().respect_stable {
            self.acceptor.cursor = before;
        }
        if self.rules().respect_stable && !self.is_by_messages() && self.learned_end < self.acceptor.stable {
            // It was taken in with a state that is older than what all others have applied.
            return self.lag(effects);
        }
        let cursor = self.acceptor.cursor;
        // A run with a gap before it: the transport asks where to pull from, and comes again.
        if first > cursor {
            return;
        }
        let known = (cursor - first) as usize;
        if known < commands.len() {
            self.write(cursor, if known == 0 { commands } else { commands[known..].to_vec() }, effects);
        }
    }

    /// Shared: writes accepted commands, to be committed once the epoch was looked at again.
    #[inline]
    pub(super) fn write(&mut self, first: Index, commands: Vec<Command<B>>, effects: &mut Vec<Effect<B>>) {
        let (epoch, stable) = (self.acceptor.hpn, self.acceptor.stable);
        let end = first + commands.len() as u64;
        if self.acceptor.log.end() < first || self.acceptor.log.base() > first {
            self.acceptor.log.clear(first);
        }
        (first..).zip(&commands).for_each(|(index, command)| self.acceptor.log.set(index, (epoch, command.clone())));
        self.acceptor.cursor = end;
        want(effects, || Effect::Write { epoch, stable, first, commands });
        if self.rules().recheck_epoch {
            want(effects, || Effect::CheckEpoch { epoch, end });
        } else {
            self.commit_to(end, effects);
        }
    }

    /// Shared: commits what was written if the epoch is still the newest, else takes it back.
    pub(super) fn epoch_checked(&mut self, epoch: Epoch, end: Index, is_newest: bool, effects: &mut Vec<Effect<B>>) {
        if is_newest && epoch == self.acceptor.hpn {
            return self.commit_to(end, effects);
        }
        let first = self.acceptor.commit;
        if first < end {
            effects.push(Effect::Erase { first, end });
        }
    }

    #[inline]
    fn commit_to(&mut self, end: Index, effects: &mut Vec<Effect<B>>) {
        self.acceptor.commit = self.acceptor.commit.max(end);
        let Acceptor { hpn: epoch, commit, stable, .. } = self.acceptor;
        want(effects, || Effect::Commit { epoch, end: commit, stable });
        while self.acceptor.log.base() < end {
            let index = self.acceptor.log.base();
            match self.acceptor.log.pop() {
                Some((_, command)) => self.decide(index, command),
                None => self.acceptor.log.trim(end),
            }
        }
        if !self.leads() {
            self.learned.trim(stable.min(self.applied));
        }
        self.advance(effects);
    }
}
