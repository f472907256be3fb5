//! The leader: gives commands their indexes, as far as the log has room.
//!
//! The log holds `window` commands from the first that not all members have applied. Users' commands leave the last part to
//! those of the group: a full log with a dead member in it can still order its `Leave`. A member that falls behind by three
//! quarters of the window is put out; while a running member is half as far behind, users wait.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};
use std::hash::{Hash, Hasher};

use super::effects::want;
use super::io::{Effect, Transport};
use super::log::Log;
use super::message::Message;
use super::node::{Node, Progress, Role};
use crate::key_hasher::Keys;
use crate::{Command, Epoch, Index, LeaveReason, NodeId, Op, SessionId};

/// The places at the end of the log for commands of the group, beside one for each member; at most a quarter of the log.
const RESERVED: u64 = 64;
/// One part in this many of the window stays in the log although all members have applied it: a node that joins from a
/// snapshot finds there what was ordered since. Without it, in an idle group each snapshot was too old by the node's own `Join`.
pub(super) const KEPT_FOR_JOINERS: u64 = 16;

/// The state of a node as the leader.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Orders<B> {
    /// Commands with an index, from `stable` on.
    pub(super) proposals: Log<Command<B>>,
    /// The index of the next command.
    pub(super) next: Index,
    /// All members have applied what is below.
    pub(super) stable: Index,
    /// Requests with and without an index that were not applied.
    in_flight: InFlight,
    /// Requests of users without an index.
    users: VecDeque<Command<B>>,
    /// Commands of the group without an index.
    group: VecDeque<Command<B>>,
    /// Members whose `Leave` is ordered or waits.
    pub(super) leaving: BTreeSet<NodeId>,
    /// Nodes whose `Join` has an index and was not applied, and the counts that they have applied.
    pub(super) joining: BTreeMap<NodeId, Index>,
}

impl<B> Orders<B> {
    pub(super) fn new(stable: Index) -> Self {
        Self {
            proposals: Log::new(stable),
            next: stable,
            stable,
            in_flight: InFlight::default(),
            users: VecDeque::new(),
            group: VecDeque::new(),
            leaving: BTreeSet::new(),
            joining: BTreeMap::new(),
        }
    }

    pub(super) fn waiting(&self) -> usize {
        self.users.len() + self.group.len()
    }

    /// Notes the proposals that it took over as in flight, from an index on.
    pub(super) fn note_proposals_from(&mut self, first: Index) {
        for (_, command) in self.proposals.iter().filter(|&(index, _)| index >= first) {
            match command.op {
                Op::Leave { node, .. } => _ = self.leaving.insert(node),
                Op::Join { node, applied, .. } => _ = self.joining.insert(node, applied),
                _ => {}
            }
            self.in_flight.insert(command);
        }
    }

    #[inline]
    pub(super) fn has_applied(&mut self, command: &Command<B>) {
        self.in_flight.remove(command);
        match &command.op {
            Op::Leave { node, .. } => _ = self.leaving.remove(node),
            Op::Join { node, .. } => _ = self.joining.remove(node),
            _ => {}
        }
    }

    /// Takes out all that has no index.
    pub(super) fn take_waiting(&mut self) -> Vec<Command<B>> {
        let mut waiting = Vec::from_iter(self.group.drain(..));
        waiting.extend(self.users.drain(..));
        waiting
    }

    /// Puts a request in line unless it is in flight.
    fn enqueue(&mut self, command: Command<B>) {
        match command.op {
            Op::Leave { node, .. } if !self.leaving.insert(node) => {}
            _ if !self.in_flight.insert(&command) => {}
            Op::Join { .. } | Op::Leave { .. } | Op::Barrier(_) => self.group.push_back(command),
            _ => self.users.push_back(command),
        }
    }
}

fn is_of_group<B>(op: &Op<B>) -> bool {
    matches!(op, Op::Join { .. } | Op::Leave { .. } | Op::Barrier(_))
}

/// Up to which index a leader may order just now.
struct Room {
    users: Index,
    group: Index,
    leaves: Index,
}

impl<B: Clone + PartialEq> Node<B> {
    pub(super) fn requested(&mut self, commands: Vec<Command<B>>, effects: &mut Vec<Effect<B>>) {
        if !self.leads() {
            return self.forward(commands, effects);
        }
        if self.can_order_at_once(&commands) {
            return self.propose_next(commands, effects);
        }
        self.put_in_line(commands);
        self.order_waiting(effects);
    }

    /// Leader: takes these requests, but for those that it has already, and the `Leave`s of nodes that are out.
    pub(super) fn put_in_line(&mut self, commands: Vec<Command<B>>) {
        for command in commands {
            let is_void = matches!(command.op, Op::Leave { node, .. } if !self.members.contains(node));
            if !is_void {
                self.orders.enqueue(command);
            }
        }
    }

    /// Notes the requests as in flight if they can be ordered as they come: users' only, none twice, nobody before them.
    #[inline]
    fn can_order_at_once(&mut self, commands: &[Command<B>]) -> bool {
        let is_free = self.role == Role::Leading && self.orders.waiting() == 0;
        let end = self.orders.next + commands.len() as u64;
        if !is_free || commands.iter().any(|command| is_of_group(&command.op)) || end > self.room().users {
            return false;
        }
        for (at, command) in commands.iter().enumerate() {
            if !self.orders.in_flight.insert(command) {
                commands[..at].iter().for_each(|noted| self.orders.in_flight.remove(noted));
                return false;
            }
        }
        true
    }

    pub(super) fn forward(&self, commands: Vec<Command<B>>, effects: &mut Vec<Effect<B>>) {
        let to = self.configuration.leader;
        if commands.is_empty() || to == self.settings.me {
            return;
        }
        match self.settings.transport {
            Transport::Messages => effects.push(Effect::Send { to, message: Message::Request(commands) }),
            Transport::Shared { .. } => want(effects, || Effect::Forward { leader: to, commands }),
        }
    }

    /// The indexes that only commands of the group get.
    fn reserved(&self) -> u64 {
        (RESERVED + self.progress.len() as u64 + 1).min(self.settings.window / 4)
    }

    fn room(&self) -> Room {
        let window = self.settings.window;
        let end = self.orders.stable + window;
        let reserved = self.reserved();
        let is_running = |node: &NodeId| !self.dead.contains(node) && !self.slow.contains(node);
        let running = self.progress.iter().filter(|member| is_running(&member.node)).map(|member| member.applied);
        let slowest = running.chain(self.held).fold(self.applied, Index::min);
        let users = (end - reserved).min(slowest + window * 3 / 8);
        Room { users, group: end - reserved / 2, leaves: end }
    }

    /// Leader: nodes that are about to join have applied what is below `reached`, or take the state of a member that has. Users
    /// wait for them as for members, and the log is not trimmed beyond. `None` lets go.
    pub fn hold_users(&mut self, reached: Option<Index>, effects: &mut Vec<Effect<B>>) {
        self.held = reached;
        if self.leads() {
            self.order_waiting(effects);
        }
    }

    /// Other members that users wait for, or will before long: they are a quarter of the window behind or more.
    pub fn slow_members(&self) -> impl Iterator<Item = NodeId> + '_ {
        let bound = if self.leads() { self.orders.next.saturating_sub(self.settings.window / 4) } else { 0 };
        self.progress.iter().filter(move |member| member.applied < bound).map(|member| member.node)
    }

    /// Orders what waits, as far as there is room.
    #[inline]
    pub(super) fn order_waiting(&mut self, effects: &mut Vec<Effect<B>>) {
        if self.role != Role::Leading {
            return;
        }
        self.expel(effects);
        if self.orders.waiting() == 0 || self.role != Role::Leading {
            return;
        }
        let room = self.room();
        let mut run = Vec::new();
        while let Some(command) = self.next_waiting(&room, self.orders.next + run.len() as u64) {
            run.push(command);
        }
        if !run.is_empty() {
            self.propose_next(run, effects);
        }
        self.relieve_leaving_acceptor(effects);
    }

    /// The next command in line that may get this index: the group's first. `Leave`s may pass others that find no room.
    fn next_waiting(&mut self, room: &Room, index: Index) -> Option<Command<B>> {
        let acceptor = self.configuration.acceptor;
        let is_ready = |command: &Command<B>| match command.op {
            Op::Leave { node, .. } => node != acceptor && index < room.leaves,
            _ => index < room.group,
        };
        while let Some(at) = self.orders.group.iter().position(is_ready) {
            let command = self.orders.group.remove(at)?;
            if self.accepts(&command, index) {
                return Some(command);
            }
            self.orders.has_applied(&command);
        }
        if index < room.users { self.orders.users.pop_front() } else { None }
    }

    /// False if a node is to be taken in that is a member, or that the log does not reach back to, or that would have to be
    /// put out before long. It asks again when it has applied more, or has a newer state.
    fn accepts(&mut self, command: &Command<B>, index: Index) -> bool {
        let Op::Join { node, applied, .. } = command.op else { return true };
        let is_far_behind = index.saturating_sub(applied) > self.settings.window / 2;
        let is_bound = self.rules().joiners_bound_stable;
        if self.members.contains(node) || (is_bound && (applied < self.orders.stable || is_far_behind)) {
            return false;
        }
        self.orders.joining.insert(node, applied);
        true
    }

    /// Before the acceptor leaves, another takes its role.
    fn relieve_leaving_acceptor(&mut self, effects: &mut Vec<Effect<B>>) {
        let acceptor = self.configuration.acceptor;
        let is_leave = |command: &Command<B>| matches!(command.op, Op::Leave { node, .. } if node == acceptor);
        if self.role == Role::Leading && acceptor != self.settings.me && self.orders.group.iter().any(is_leave) {
            self.change_acceptor(effects);
        }
    }

    /// Puts in line the `Leave` of dead members, and of those that fell too far behind.
    fn expel(&mut self, effects: &mut Vec<Effect<B>>) {
        // In the smallest logs the room of users ends earlier.
        let window = self.settings.window;
        let room = window - self.reserved() - window / KEPT_FOR_JOINERS;
        let (next, most) = (self.orders.next, room.min(window * 3 / 4));
        // A member that has not said a word to this leader may be further than is known; if it stays mute, it is suspected.
        let is_known = |member: &Progress| member.is_heard || self.slow.contains(&member.node);
        let is_far_behind = |member: &Progress| next.saturating_sub(member.applied) >= most && is_known(member);
        let is_calm = self.dead.is_empty() && !self.progress.iter().any(is_far_behind);
        // The last member never leaves.
        if is_calm || self.members.len() <= 1 {
            return;
        }
        let reason = |member: &Progress| match () {
            // Its clients are alive, and go on at the next incarnation.
            () if self.gone_on.contains(&member.node) => Some(LeaveReason::Lagging),
            () if self.dead.contains(&member.node) => Some(LeaveReason::Dead),
            () if is_far_behind(member) => Some(LeaveReason::Lagging),
            () => None,
        };
        let leaves = self.progress.iter().filter_map(|member| Some((member.node, reason(member)?)));
        for (node, reason) in Vec::from_iter(leaves) {
            self.orders.enqueue(Command { session: SessionId::SYSTEM, rid: 0, op: Op::Leave { node, reason } });
        }
        self.relieve_leaving_acceptor(effects);
    }

    /// N1: gives the commands the next indexes.
    #[inline]
    fn propose_next(&mut self, commands: Vec<Command<B>>, effects: &mut Vec<Effect<B>>) {
        let first = self.orders.next;
        self.check(self.role == Role::Leading, "I6: nothing is proposed to a sealed acceptor");
        self.check(first >= self.orders.stable, "I12: next >= stable");
        for (index, command) in (first..).zip(&commands) {
            self.orders.proposals.set(index, command.clone());
        }
        self.orders.next += commands.len() as u64;
        self.send_proposals(first, commands, effects);
    }

    /// Gets proposals to the acceptor.
    #[inline]
    pub(super) fn send_proposals(&mut self, first: Index, commands: Vec<Command<B>>, effects: &mut Vec<Effect<B>>) {
        let Orders { stable, .. } = self.orders;
        let epoch: Epoch = self.configuration.epoch;
        if self.is_by_messages() {
            let message = Message::Accept { epoch, stable, first, commands };
            self.send(self.configuration.acceptor, message, effects);
        } else if self.configuration.acceptor == self.settings.me {
            self.acceptor.raise_stable(stable);
            self.write(first, commands, effects);
        } else {
            want(effects, || Effect::Propose { epoch, stable, first, commands });
        }
    }

    /// Sends all that has an index again, in the terms of this epoch: one run for each stretch without holes.
    pub(super) fn send_all_proposals(&mut self, effects: &mut Vec<Effect<B>>) {
        let proposals = self.orders.proposals.iter().map(|(index, command)| (index, command.clone()));
        for (first, run) in runs(proposals) {
            self.send_proposals(first, run, effects);
        }
    }
}

/// Stretches without holes.
pub(super) fn runs<T>(values: impl IntoIterator<Item = (Index, T)>) -> Vec<(Index, Vec<T>)> {
    let mut runs: Vec<(Index, Vec<T>)> = Vec::new();
    for (index, value) in values {
        match runs.last_mut() {
            Some((first, run)) if *first + run.len() as u64 == index => run.push(value),
            _ => runs.push((index, vec![value])),
        }
    }
    runs
}

/// The requests and joins that a leader has taken and not applied.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct InFlight(HashSet<(SessionId, u32), Keys>);

impl InFlight {
    /// True if it was not in flight.
    #[inline]
    fn insert<B>(&mut self, command: &Command<B>) -> bool {
        Self::key(command).is_none_or(|key| self.0.insert(key))
    }

    #[inline]
    fn remove<B>(&mut self, command: &Command<B>) {
        if let Some(key) = Self::key(command).filter(|_| !self.0.is_empty()) {
            self.0.remove(&key);
        }
    }

    /// Of a command that is not to be ordered twice; `Leave` is looked after by `leaving`.
    #[inline]
    fn key<B>(command: &Command<B>) -> Option<(SessionId, u32)> {
        match command.op {
            Op::Join { node, .. } => Some((SessionId::SYSTEM, node.to_bits())),
            _ => (command.session != SessionId::SYSTEM).then_some((command.session, command.rid)),
        }
    }
}

/// Follows from the proposals, the line and the count applied, but for what no run of the protocol depends on.
impl Hash for InFlight {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.0.len());
    }
}
