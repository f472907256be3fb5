//! One node's driver: takes what others have done to the protocol, does what the protocol wants, and applies the log.

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;

use super::closing::Dropped;
use super::config::Config;
use super::direct::Direct;
use super::giving::Given;
use super::inner::Inner;
use super::role_moves::RoleWish;
use super::status::Counters;
use crate::key_hasher::Keys;
use crate::one_paxos::{Effect, Effects, Input, Node as OneNode};
use crate::runtime::durable::Disk;
use crate::runtime::{self, Admission, End, Errand, GroupState, Joiners, Mailbox, Patience, Submitted, admission};
use crate::segment::{Body, BulkError, NodeState};
use crate::shm::{Shm, View};
use crate::{Command, Configuration, Index, LeaveReason, NodeId, Op, SessionId, StateMachine};

/// The shortest time between two looks at who lives, and at requests without an answer.
const HOUSEKEEPING: Duration = Duration::from_micros(500);
/// All that the thread which drives a node has to itself.
pub(super) struct Driver<S: StateMachine> {
    pub(super) core: OneNode<Body>,
    pub(super) system: GroupState,
    pub(super) shm: Shm,
    pub(super) config: Config,
    /// A number that only this node has, in all its incarnations.
    pub(super) boot: u64,
    /// The number of times this node has asked for a state.
    pub(super) asked: u32,
    /// The sessions of this node.
    pub(super) mailboxes: HashMap<SessionId, Arc<Mailbox>, Keys>,
    /// Requests of this node without a result.
    pub(super) submitted: Submitted<Body>,
    pub(super) patience: Patience,
    pub(super) counters: Counters,
    pub(super) given: Given,
    pub(super) disk: Option<Disk>,
    /// The command at which the state machine panicked.
    pub(super) panicked_at: Option<Index>,
    /// The last command whose operation could not be read.
    pub(super) damaged_at: Option<Index>,
    pub(super) room: Room,
    /// True once the node wants to be let go.
    pub(super) is_leaving: bool,
    /// Nodes that are about to join, as this leader found them.
    pub(super) joiners: Joiners,
    /// The members for which it has chosen how to learn.
    pub(super) planned_for: Vec<NodeId>,
    /// The roles that the plan for these members wants.
    pub(super) wish: Option<RoleWish>,
    /// When it last looked at nodes from which it expects nothing, and sent its requests once more, in ticks.
    pub(super) looked: u64,
    pub(super) resubmitted: u64,
    /// True while a thread drives that is counted among those that wait.
    pub(super) is_with_caller: bool,
    pub(super) direct: Direct,
    /// Kept for its memory.
    pub(super) bytes: Vec<u8>,
    inputs: Vec<Input<Body>>,
    effects: Effects<Body>,
    errands: Vec<Errand<Body>>,
    housekept: u64,
    machine: PhantomData<fn() -> S>,
}

/// The room for long operations.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// True while a thread waits for it.
    pub(super) is_wanted: bool,
    /// Nodes without a sign of life while it waits for them to give room.
    pub(super) overdue: Vec<NodeId>,
    /// Operations without a result whose sessions were dropped.
    pub(super) dropped: Dropped,
}

impl<S: StateMachine> Driver<S> {
    pub(super) fn new(
        core: OneNode<Body>,
        system: GroupState,
        shm: Shm,
        config: Config,
        boot: u64,
        asked: u32,
    ) -> Self {
        Self {
            patience: patience_of(&config, system.members().len()),
            core,
            system,
            shm,
            config,
            boot,
            asked,
            mailboxes: HashMap::default(),
            submitted: Submitted::default(),
            counters: Counters::default(),
            given: Given::default(),
            disk: None,
            panicked_at: None,
            damaged_at: None,
            room: Room::default(),
            is_leaving: false,
            joiners: Joiners::default(),
            planned_for: Vec::new(),
            wish: None,
            looked: 0,
            resubmitted: 0,
            is_with_caller: false,
            direct: Direct::default(),
            bytes: Vec::new(),
            inputs: Vec::new(),
            effects: Effects::default(),
            errands: Vec::new(),
            housekept: 0,
            machine: PhantomData,
        }
    }

    /// Does what there is to do. True if there was something.
    pub(super) fn turn(&mut self, inner: &Inner<S>) -> bool {
        if inner.ending.get().is_some() {
            return false;
        }
        let mut was_busy = self.run_errands(inner);
        if self.panicked_at.is_none() {
            was_busy |= self.look(inner);
        }
        was_busy |= self.flush(inner);
        self.counters.turns += u64::from(was_busy);
        self.housekeep(inner);
        was_busy
    }

    /// Hands out the results that waited for the write-ahead log.
    fn flush(&mut self, inner: &Inner<S>) -> bool {
        let Some(disk) = &mut self.disk else { return false };
        let has_results = disk.flush().unwrap_or_else(|error| {
            inner.ending.fail_files(&error);
            false
        });
        if has_results {
            // Those that were woken as their commands were applied have found nothing.
            inner.callers.wake_others(self.is_with_caller);
        }
        has_results
    }

    /// Takes what others have done to the protocol.
    pub(super) fn look(&mut self, inner: &Inner<S>) -> bool {
        let view = View {
            configuration: *self.core.configuration(),
            is_leading: self.core.leads(),
            pulls_from: self.core.pulls_from().map(|(_, _, index)| index),
            learned: self.core.learned_end(),
        };
        let mut inputs = std::mem::take(&mut self.inputs);
        self.shm.gather(&view, &mut inputs);
        let was_busy = !inputs.is_empty();
        for input in inputs.drain(..) {
            self.step(inner, input);
        }
        self.inputs = inputs;
        was_busy
    }

    /// Gives the protocol one input, and does all that follows from it.
    pub(super) fn step(&mut self, inner: &Inner<S>, input: Input<Body>) {
        self.act(inner, |core, effects| core.step(input, effects));
    }

    /// Has the protocol do something, and does all that follows from it.
    #[inline(always)]
    pub(super) fn act(&mut self, inner: &Inner<S>, act: impl FnOnce(&mut OneNode<Body>, &mut Vec<Effect<Body>>)) {
        let before = *self.core.configuration();
        act(&mut self.core, self.effects.sink());
        self.settle(inner);
        if self.core.configuration().epoch != before.epoch {
            self.has_reconfigured(inner, before.leader);
        }
        if !self.submitted.early.is_empty() {
            self.hand_in_early_ones(inner);
        }
    }

    /// Does what the protocol wants until it wants nothing more.
    fn settle(&mut self, inner: &Inner<S>) {
        while let Some(effect) = self.effects.take() {
            self.counters.count(effect);
            match *effect {
                Effect::Apply(end) => self.apply(inner, end),
                Effect::CheckEpoch { epoch, end } => {
                    let is_newest = self.shm.is_newest(epoch);
                    self.core.step(Input::EpochChecked { epoch, end, is_newest }, self.effects.sink());
                }
                Effect::ReadLog { configuration, from } => self.read_log(inner, &configuration, from),
                // Found by the thread of the node, which then takes a new state.
                Effect::Lagging => {}
                _ => {
                    let answer = self.shm.carry_out(effect);
                    if let Effect::Write { commands, .. } = effect {
                        self.direct.keep_memory_of(commands);
                    }
                    if let Some(answer) = answer {
                        self.core.step(answer, self.effects.sink());
                    }
                }
            }
        }
    }

    /// Takes over the log as the new leader. It knows how far the members are before it orders, lest it puts them out for being
    /// far behind.
    #[cold]
    fn read_log(&mut self, inner: &Inner<S>, configuration: &Configuration, from: Index) {
        self.shm.hear_anew();
        let mut heard = Vec::new();
        self.shm.hear_progress(&mut heard);
        heard.into_iter().for_each(|input| self.core.step(input, self.effects.sink()));
        if let Some(adopted) = self.shm.read_log(configuration, from) {
            self.core.step(Input::Adopted(adopted), self.effects.sink());
        }
        if let Some(slot) = self.shm.damaged {
            inner.ending.set(End::Corrupt(slot));
        }
    }

    /// Says that the commands below `end` were applied; what the protocol wants then is done by the caller's caller.
    pub(super) fn note_applied(&mut self, end: Index) {
        self.core.applied(end, self.effects.sink());
    }

    /// Has this node take the state of a member; the effects are carried out by the caller's caller.
    pub(super) fn fall_behind(&mut self) {
        self.core.fall_behind(self.effects.sink());
    }

    /// Puts the bytes of an operation where all nodes can read them.
    pub(super) fn write_body(&mut self, bytes: &[u8]) -> Result<Body, BulkError> {
        let mut written = self.shm.write_body(bytes);
        if written == Err(BulkError::Full) {
            self.free_bulk();
            written = self.shm.write_body(bytes);
        }
        self.room.is_wanted = written == Err(BulkError::Full);
        if !self.room.is_wanted {
            self.room.overdue.clear();
        }
        self.counters.bulk_written += written.as_ref().map_or(0, Counters::bulk_bytes);
        written
    }

    /// Frees the bytes of operations that all members have applied, as they say themselves. The leader's count of that comes only
    /// with further commands, for which there may be no room.
    fn free_bulk(&mut self) {
        let least = self.shm.least_applied(self.core.members(), &self.room.overdue);
        self.shm.bulk.free_below(least.min(self.core.applied_count()));
    }

    /// Lets users and the log wait for nodes that are about to join, and have reached this count.
    pub(super) fn hold_users(&mut self, inner: &Inner<S>, reached: Option<Index>) {
        self.core.hold_users(reached, self.effects.sink());
        self.settle(inner);
    }

    /// The segments of members and of nodes with a role are kept, however often their slots are taken anew.
    pub(super) fn pin_peers(&mut self) {
        let roles = *self.core.configuration();
        let members = self.system.members().iter();
        self.shm.pinned = members.chain([roles.leader, roles.acceptor, roles.source]).collect();
        self.shm.relay.rewire(self.shm.me, self.system.members(), roles.acceptor);
    }

    fn has_reconfigured(&mut self, inner: &Inner<S>, former: NodeId) {
        self.pin_peers();
        self.counters.role_changes += 1;
        self.patience.reconfigured();
        let was_doubted = former != self.core.configuration().leader && !self.shm.is_gone(former);
        if was_doubted && !self.shm.peers.is_stopped(former) {
            self.patience.doubted();
        }
        self.resubmit(inner);
        if former != self.core.configuration().leader {
            self.pass_stopped_acceptor(inner);
        }
    }

    /// A new leader does not wait for an acceptor that is stopped as it takes over: where both are stopped, one patience is
    /// enough.
    fn pass_stopped_acceptor(&mut self, inner: &Inner<S>) {
        let acceptor = self.core.configuration().acceptor;
        if self.core.leads() && acceptor != self.shm.me && self.shm.peers.is_stopped(acceptor) {
            self.counters.suspicions += 1;
            self.step(inner, Input::Suspect { node: acceptor, is_dead: false });
        }
    }

    pub(super) fn run_errands(&mut self, inner: &Inner<S>) -> bool {
        let mut errands = std::mem::take(&mut self.errands);
        inner.errands.take(&mut errands);
        let was_busy = !errands.is_empty();
        let mut requests = Vec::new();
        for errand in errands.drain(..) {
            if let Errand::Submit(command) = errand {
                requests.extend(self.admit(command));
                continue;
            }
            self.order(inner, &mut requests);
            match errand {
                Errand::Submit(_) => unreachable!("it was taken above"),
                Errand::Repeat(session, rid) => requests.extend(self.submitted.get(session, rid)),
                Errand::Open(session, mailbox) => {
                    self.mailboxes.insert(session, mailbox);
                }
                Errand::Close(session, rid) => self.close(inner, session, rid),
                Errand::Leave => {
                    self.is_leaving = true;
                    self.ask_to_leave(inner, LeaveReason::Asked);
                }
            }
        }
        self.order(inner, &mut requests);
        self.errands = errands;
        was_busy
    }

    /// Has these requests ordered in one run.
    fn order(&mut self, inner: &Inner<S>, requests: &mut Vec<Command<Body>>) {
        if !requests.is_empty() {
            self.step(inner, Input::Requests(std::mem::take(requests)));
        }
    }

    /// Has a request ordered, unless it has its result already.
    pub(super) fn submit(&mut self, inner: &Inner<S>, command: Command<Body>) {
        if let Some(command) = self.admit(command) {
            self.step(inner, Input::Requests(vec![command]));
        }
    }

    /// Takes note of a request that is to be ordered; one that has its result already gets it.
    fn admit(&mut self, command: Command<Body>) -> Option<Command<Body>> {
        let (session, rid) = (command.session, command.rid);
        match admission(&self.system, &command) {
            Admission::Order => return Some(self.submitted.add(command)),
            Admission::Done(reply) => self.deliver(session, rid, reply),
            Admission::Expired => {
                // The bytes of its operation need no room any more.
                self.submitted.add(command);
                self.expire(session, rid);
            }
        }
        None
    }

    /// Hands the requests in once more that were ordered before earlier ones of their sessions.
    #[cold]
    fn hand_in_early_ones(&mut self, inner: &Inner<S>) {
        let requests = self.submitted.take_early(|session| self.system.next_request(session));
        if !requests.is_empty() {
            self.step(inner, Input::Requests(requests));
        }
    }

    /// Hands all requests without a result in once more: to the new leader, or as the new leader.
    pub(super) fn resubmit(&mut self, inner: &Inner<S>) {
        self.shm.give_up_requests();
        let requests = self.submitted.in_order();
        if !requests.is_empty() {
            self.step(inner, Input::Requests(requests));
        }
    }

    /// Has a command of the group about this node ordered.
    pub(super) fn request_for_group(&mut self, inner: &Inner<S>, node: NodeId, op: Op<Body>) {
        self.step(inner, Input::Requests(vec![Command { session: SessionId::SYSTEM, rid: node.to_bits(), op }]));
    }

    /// Does what is due now and then: signs of life, suspicion, requests that went lost.
    fn housekeep(&mut self, inner: &Inner<S>) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now.saturating_sub(self.housekept) >= clock.ticks_in(HOUSEKEEPING) {
            self.housekept = now;
            self.watch(inner, now);
        }
    }

    /// Says to the others whether this node is a member.
    pub(super) fn show_state(&mut self, state: NodeState) {
        self.shm.writer.set_state(state);
    }
}

/// How long a node of this many waits for others at first.
fn patience_of(config: &Config, nodes: usize) -> Patience {
    Patience::new(config.patience, nodes, runtime::cpus())
}

impl<S: StateMachine> fmt::Debug for Driver<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({}, epoch {})", self.shm.me, self.core.configuration().epoch)
    }
}
