//! One node's driver: takes messages to the protocol, does what the protocol wants, and applies the log.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;

use super::barriers::Barriers;
use super::config::Config;
use super::inner::Inner;
use super::states::Given;
use super::table::NodeTable;
use super::transport::Transport;
use super::watch::{Block, LOST_AFTER};
use super::wire::{Body, StateMessage};
use crate::one_paxos::{Effect, Effects, Input, Message, Node as OneNode};
use crate::runtime::durable::Disk;
use crate::runtime::{self, Admission, Errand, GroupState, Joiners, Mailbox, Patience, Submitted, admission};
use crate::{Command, Index, NodeId, Op, SessionId, StateMachine};

/// The shortest time between two looks at who lives, and at what has no answer.
const HOUSEKEEPING: Duration = Duration::from_micros(500);

/// When requests without a result are handed in again.
pub(super) struct Resubmitting {
    /// After this many ticks of the protocol.
    pub(super) after: u32,
    /// The count of commands that were applied the last time.
    pub(super) applied: Index,
    /// The count of messages that had found no room then.
    pub(super) lost: u64,
}

/// Joining: of others, as this node sees it, and its own.
pub(super) struct Joining {
    /// Nodes that are about to join, as this leader found them.
    pub(super) joiners: Joiners,
    /// The states that it gives to such nodes.
    pub(super) given: Given,
    /// A number that only this node has.
    pub(super) boot: u64,
    /// When it asked to be taken in last, in ticks.
    pub(super) asked: u64,
    /// The slot of the node that it asked last for what it lacks.
    pub(super) turn: usize,
}

impl Joining {
    fn new(boot: u64) -> Self {
        Self { joiners: Joiners::default(), given: Given::default(), boot, asked: 0, turn: 0 }
    }
}

/// When the protocol was told last that time has passed.
pub(super) struct Ticking {
    /// In ticks of the clock.
    pub(super) at: u64,
    /// The parts of long messages that had come or gone then, and how often in a row it was put off for them.
    pub(super) progressed: u64,
    pub(super) put_off: u32,
    /// True while the protocol is told so: it sends again what has no answer.
    pub(super) is_repeating: bool,
    /// When the node did last what is due now and then, in ticks.
    housekept: u64,
}

/// The signs by which this node takes others for dead or stuck.
pub(super) struct Suspicions {
    /// When it suspected each node last, in ticks.
    pub(super) last: HashMap<NodeId, u64>,
    /// A role that nobody has taken over from a dead node so far.
    pub(super) block: Option<Block>,
    /// The sign of life of each node, and since when it has not changed, in ticks.
    pub(super) signs: Vec<(u64, u64)>,
}

/// All that the thread which drives a node has to itself.
pub(super) struct Driver<S: StateMachine> {
    pub(super) core: OneNode<Body>,
    pub(super) system: GroupState,
    pub(super) transport: Transport,
    pub(super) table: Arc<NodeTable>,
    pub(super) config: Config,
    /// The sessions of this node.
    pub(super) mailboxes: HashMap<SessionId, Arc<Mailbox>>,
    /// Requests of this node without a result.
    pub(super) submitted: Submitted<Body>,
    pub(super) barriers: Barriers,
    pub(super) patience: Patience,
    pub(super) joining: Joining,
    /// The files of the replica, if it keeps any.
    pub(super) disk: Option<Disk>,
    /// The command at which the state machine panicked.
    pub(super) panicked_at: Option<Index>,
    /// True while a thread drives that is counted among those that wait.
    pub(super) is_with_caller: bool,
    /// True once the node wants to be let go.
    pub(super) is_leaving: bool,
    /// True once the group has put it out, or goes on without it, until it has come back.
    pub(super) is_out: bool,
    /// True once it takes part no more.
    has_ended: bool,
    /// When it began, and looked at nodes from which it expects nothing, in ticks.
    pub(super) began: u64,
    pub(super) looked: u64,
    pub(super) ticking: Ticking,
    pub(super) resubmitted: u64,
    pub(super) resubmitting: Resubmitting,
    pub(super) suspicions: Suspicions,
    /// Kept for its memory.
    pub(super) bytes: Vec<u8>,
    inputs: Vec<Input<Body>>,
    effects: Effects<Body>,
    errands: Vec<Errand<Body>>,
    machine: PhantomData<fn() -> S>,
}

impl<S: StateMachine> Driver<S> {
    pub(super) fn new(
        core: OneNode<Body>,
        system: GroupState,
        transport: Transport,
        table: Arc<NodeTable>,
        config: Config,
        boot: u64,
    ) -> Self {
        let now = Clock::get().ticks();
        Self {
            patience: patience_of(&config, system.members().len()),
            joining: Joining::new(boot),
            barriers: Barriers::new(core.id()),
            core,
            system,
            transport,
            table,
            mailboxes: HashMap::new(),
            submitted: Submitted::default(),
            disk: None,
            panicked_at: None,
            is_with_caller: false,
            is_leaving: false,
            is_out: false,
            has_ended: false,
            began: now,
            looked: now,
            ticking: Ticking { at: now, progressed: 0, put_off: 0, is_repeating: false, housekept: 0 },
            resubmitted: now,
            resubmitting: Resubmitting { after: LOST_AFTER, applied: 0, lost: 0 },
            suspicions: Suspicions { last: HashMap::new(), block: None, signs: vec![(0, now); config.slots] },
            bytes: Vec::new(),
            inputs: Vec::new(),
            effects: Effects::default(),
            errands: Vec::new(),
            machine: PhantomData,
            config,
        }
    }

    /// Does what there is to do. True if there was something.
    pub(super) fn turn(&mut self, inner: &Inner<S>) -> bool {
        if inner.ending.get().is_some() {
            self.end(inner);
            return false;
        }
        if self.is_out {
            // The node's own thread takes another state.
            return false;
        }
        let mut was_busy = self.run_errands(inner);
        if self.panicked_at.is_none() {
            was_busy |= self.look(inner);
            self.ask_for_barrier(inner);
        }
        was_busy |= self.flush_files(inner);
        self.housekeep(inner);
        self.transport.flush();
        was_busy
    }

    /// Hands out the results that waited for the write-ahead log.
    fn flush_files(&mut self, inner: &Inner<S>) -> bool {
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

    /// Takes a snapshot if it is time. A state machine that panicked has no state that could be kept.
    pub(super) fn shorten_files(&mut self, inner: &Inner<S>) {
        if self.panicked_at.is_some() || inner.ending.get().is_some() {
            return;
        }
        let shortened = self.disk.as_mut().map_or(Ok(()), |disk| disk.shorten(&inner.state));
        shortened.unwrap_or_else(|error| inner.ending.fail_files(&io::Error::other(error)));
    }

    /// Takes the messages that have come to the protocol.
    fn look(&mut self, inner: &Inner<S>) -> bool {
        let mut inputs = std::mem::take(&mut self.inputs);
        // The log holds this much beyond what a member has applied; twice as much is nonsense, for which no memory is taken.
        let most = self.core.learned_end() + 2 * self.config.window;
        let was_busy = self.transport.gather(most, &mut inputs);
        for input in inputs.drain(..) {
            // A node that asks for a part of the log while messages to it wait for room asks again, if it has to.
            let is_early = matches!(&input, Input::Message { from, message: Message::Missing { .. } }
                if self.transport.has_backlog_for(*from));
            if !is_early {
                self.step(inner, input);
            }
        }
        self.inputs = inputs;
        self.answer_about_states(inner);
        was_busy
    }

    fn answer_about_states(&mut self, inner: &Inner<S>) {
        for (from, message) in self.transport.take_states() {
            match message {
                StateMessage::Take { number, offset } => self.give(inner, from, number, offset),
                StateMessage::Digest { id, index, digest } => {
                    inner.cuts.heard(from, id, index, digest);
                    inner.callers.wake();
                }
                // Its state was taken.
                StateMessage::Part { .. } => {}
            }
        }
    }

    /// Gives the protocol one input, and does all that follows from it.
    pub(super) fn step(&mut self, inner: &Inner<S>, input: Input<Body>) {
        let before = *self.core.configuration();
        self.core.step(input, self.effects.sink());
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
            match *effect {
                // Proposals that wait for room are not lost.
                Effect::Send { to, message: Message::Accept { .. } }
                    if self.ticking.is_repeating && self.transport.has_backlog_for(to) => {}
                Effect::Send { to, ref message } => self.transport.send(to, message),
                Effect::Broadcast(ref message) => self.transport.broadcast(message),
                Effect::Apply(end) => self.apply(inner, end),
                // Nothing is left of what it lacks. The node comes back with another state.
                Effect::Lagging => self.is_out = true,
                // Those of shared memory.
                _ => {}
            }
        }
    }

    /// Lets users and the log wait for nodes that are about to join, and have reached this count.
    pub(super) fn hold_users(&mut self, inner: &Inner<S>, reached: Option<Index>) {
        self.core.hold_users(reached, self.effects.sink());
        self.settle(inner);
    }

    /// Says that the commands below `end` were applied; what the protocol wants then is done by the caller's caller.
    pub(super) fn note_applied(&mut self, end: Index) {
        self.core.applied(end, self.effects.sink());
    }

    #[cold]
    fn has_reconfigured(&mut self, inner: &Inner<S>, former: NodeId) {
        self.transport.counters.role_changes += 1;
        self.patience.reconfigured();
        self.suspicions.last.clear();
        let was_doubted = former != self.core.configuration().leader && !self.table.is_gone(former);
        if was_doubted && !self.table.is_stopped(former) {
            self.patience.doubted();
        }
        self.resubmit(inner);
    }

    pub(super) fn run_errands(&mut self, inner: &Inner<S>) -> bool {
        let mut errands = std::mem::take(&mut self.errands);
        inner.errands.take(&mut errands);
        let was_busy = !errands.is_empty();
        let mut requests = Vec::new();
        for errand in errands.drain(..) {
            match errand {
                Errand::Submit(command) => requests.extend(self.admit(command)),
                Errand::Repeat(session, rid) => requests.extend(self.submitted.get(session, rid)),
                Errand::Open(session, mailbox) => {
                    self.mailboxes.insert(session, mailbox);
                }
                Errand::Close(session, rid) => {
                    self.mailboxes.remove(&session);
                    self.submitted.drop_session(session);
                    // It may go lost like any other request, and is handed in until it is applied.
                    requests.push(self.submitted.add(Command { session, rid, op: Op::CloseSession }));
                }
                Errand::Leave => {
                    self.is_leaving = true;
                    self.ask_to_leave(inner);
                }
            }
        }
        if !requests.is_empty() {
            self.step(inner, Input::Requests(requests));
        }
        self.errands = errands;
        was_busy
    }

    /// Has a request ordered, unless it has its result already.
    pub(super) fn submit(&mut self, inner: &Inner<S>, command: Command<Body>) {
        if let Some(command) = self.admit(command) {
            self.step(inner, Input::Requests(vec![command]));
            self.transport.flush();
        }
    }

    /// Takes note of a request that is to be ordered; one that has its result already gets it.
    fn admit(&mut self, command: Command<Body>) -> Option<Command<Body>> {
        let (session, rid) = (command.session, command.rid);
        match admission(&self.system, &command) {
            Admission::Order => return Some(self.submitted.add(command)),
            Admission::Done(reply) => self.deliver(session, rid, reply),
            Admission::Expired => self.expire(session, rid),
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
        let mut requests = self.submitted.in_order();
        requests.extend(self.barriers.under_way().map(barrier));
        if !requests.is_empty() {
            self.step(inner, Input::Requests(requests));
        }
    }

    /// Asks for the barrier that reads wait for.
    fn ask_for_barrier(&mut self, inner: &Inner<S>) {
        if let Some(id) = self.barriers.next(&inner.reads) {
            self.step(inner, Input::Requests(vec![barrier(id)]));
        }
    }

    /// Does what is due now and then: signs of life, suspicion, what has no answer.
    fn housekeep(&mut self, inner: &Inner<S>) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now.saturating_sub(self.ticking.housekept) >= clock.ticks_in(HOUSEKEEPING) {
            self.ticking.housekept = now;
            self.watch(inner, now);
        }
    }

    /// This node does no more: nobody waits for it, or for the ring to have room.
    #[cold]
    pub(super) fn end(&mut self, inner: &Inner<S>) {
        if std::mem::replace(&mut self.has_ended, true) {
            return;
        }
        self.table.leave(inner.id());
        self.transport.close();
        self.transport.flush();
        inner.callers.wake();
    }
}

/// How long a node of this many waits for others at first.
fn patience_of(config: &Config, nodes: usize) -> Patience {
    Patience::new(config.patience, nodes, runtime::cpus())
}

/// The request for a barrier.
fn barrier(id: u64) -> Command<Body> {
    Command { session: SessionId::SYSTEM, rid: 0, op: Op::Barrier(id) }
}

impl<S: StateMachine> fmt::Debug for Driver<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({}, epoch {})", self.core.id(), self.core.configuration().epoch)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::kv::Compact;
    use crate::net::{Group, Node};

    #[test]
    fn the_end_of_a_session_is_asked_for_again() {
        let group = Group::create(&Config::new(3).patience(Duration::from_millis(100))).expect("there is memory");
        let join = |slot| group.join(slot, Compact::with_capacity(10).expect("small")).expect("it is free");
        let nodes: Vec<Node<Compact>> = (0..3).map(join).collect();
        let session = nodes[2].session().expect("a member");
        let sessions = || nodes[0].inner().driver.lock().system.sessions().count();
        nodes[0].catch_up(crate::Level::AtLeast(0), Duration::from_secs(10)).expect("the opening is the first command");
        assert_eq!(sessions(), 1);
        {
            let mut leader = nodes[0].inner().driver.lock();
            drop(session);
            let mut other = nodes[2].inner().driver.lock();
            other.run_errands(nodes[2].inner());
            other.transport.flush();
            // All that has come to the leader is lost.
            leader.transport.gather(Index::MAX, &mut Vec::new());
        }
        let until = Instant::now() + Duration::from_secs(10);
        while sessions() > 0 {
            assert!(Instant::now() < until, "{:?}", nodes[0].status());
            std::thread::yield_now();
        }
    }
}
