//! One node's driver: takes what others have done to the protocol, does what the protocol wants, and applies the log.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;

use super::inner::{Errand, Inner};
use super::mailbox::Mailbox;
use super::patience::Patience;
use super::submitted::Submitted;
use crate::one_paxos::{Effect, Input, Node as OneNode};
use crate::segment::{Body, NodeState};
use crate::shm::{Shm, View};
use crate::system::{RequestStatus, System};
use crate::{Command, Configuration, SessionId, StateMachine};

/// The shortest time between two looks at who lives, and at requests without an answer.
const HOUSEKEEPING: Duration = Duration::from_micros(500);

/// All that the thread which drives a node has to itself.
pub(super) struct Driver<S: StateMachine> {
    pub(super) core: OneNode<Body>,
    pub(super) system: System<Arc<[u8]>>,
    pub(super) shm: Shm,
    pub(super) boot: u64,
    /// The sessions of this node.
    pub(super) mailboxes: HashMap<SessionId, Arc<Mailbox>>,
    /// Requests of this node without a result.
    pub(super) submitted: Submitted,
    pub(super) patience: Patience,
    pub(super) counters: super::status::Counters,
    inputs: Vec<Input<Body>>,
    effects: Vec<Effect<Body>>,
    pending: VecDeque<Effect<Body>>,
    errands: Vec<Errand>,
    /// Kept for its memory.
    pub(super) bytes: Vec<u8>,
    housekept: u64,
    machine: std::marker::PhantomData<fn() -> S>,
}

impl<S: StateMachine> Driver<S> {
    pub(super) fn new(
        core: OneNode<Body>,
        system: System<Arc<[u8]>>,
        shm: Shm,
        boot: u64,
        patience: Patience,
    ) -> Self {
        Self {
            core,
            system,
            shm,
            boot,
            mailboxes: HashMap::new(),
            submitted: Submitted::default(),
            patience,
            counters: super::status::Counters::default(),
            inputs: Vec::new(),
            effects: Vec::new(),
            pending: VecDeque::new(),
            errands: Vec::new(),
            bytes: Vec::new(),
            housekept: 0,
            machine: std::marker::PhantomData,
        }
    }

    /// Does what there is to do. True if there was something.
    pub(super) fn turn(&mut self, inner: &Inner<S>) -> bool {
        if inner.ending.get().is_some() {
            return false;
        }
        let mut was_busy = self.run_errands(inner);
        let view = self.view();
        let mut inputs = std::mem::take(&mut self.inputs);
        self.shm.gather(&view, &mut inputs);
        was_busy |= !inputs.is_empty();
        for input in inputs.drain(..) {
            self.step(inner, input);
        }
        self.inputs = inputs;
        if was_busy {
            self.shm.writer.beat();
            self.counters.turns += 1;
        }
        self.housekeep(inner);
        was_busy
    }

    fn view(&self) -> View {
        View {
            configuration: *self.core.configuration(),
            is_leading: self.core.leads(),
            pulls_from: self.core.pulls_from().map(|(_, _, index)| index),
            learned: self.core.learned_end(),
        }
    }

    /// Gives the protocol one input, and does all that follows from it.
    pub(super) fn step(&mut self, inner: &Inner<S>, input: Input<Body>) {
        let before = self.core.configuration().epoch;
        self.core.step(input, &mut self.effects);
        self.settle(inner);
        let configuration = *self.core.configuration();
        if configuration.epoch != before {
            self.has_reconfigured(inner, &configuration);
        }
    }

    /// Does what the protocol wants until it wants nothing more.
    fn settle(&mut self, inner: &Inner<S>) {
        loop {
            self.pending.extend(self.effects.drain(..));
            let Some(effect) = self.pending.pop_front() else { return };
            match effect {
                Effect::Apply => self.apply(inner),
                Effect::Lagging => self.patience.lag(),
                effect => {
                    self.counters.count(&effect);
                    if let Some(answer) = self.shm.carry_out(effect) {
                        self.core.step(answer, &mut self.effects);
                    }
                }
            }
        }
    }

    /// Says that commands were applied, and does what the protocol wants then.
    pub(super) fn note_applied(&mut self, inner: &Inner<S>, end: crate::Index) {
        self.core.applied(end, &mut self.effects);
        let _ = inner;
    }

    fn has_reconfigured(&mut self, inner: &Inner<S>, configuration: &Configuration) {
        self.counters.role_changes += 1;
        self.patience.reconfigured();
        if configuration.leader == self.shm.me {
            self.shm.hear_anew();
        }
        self.resubmit(inner);
    }

    fn run_errands(&mut self, inner: &Inner<S>) -> bool {
        let mut errands = std::mem::take(&mut self.errands);
        inner.take_errands(&mut errands);
        let was_busy = !errands.is_empty();
        let mut requests = Vec::new();
        for errand in errands.drain(..) {
            match errand {
                Errand::Submit(command) => {
                    if self.is_to_be_ordered(&command) {
                        self.submitted.add(command);
                        requests.push(command);
                    }
                }
                Errand::Open(session, mailbox) => {
                    self.mailboxes.insert(session, mailbox);
                }
                Errand::Close(session) => self.close(session),
            }
        }
        self.errands = errands;
        if !requests.is_empty() {
            self.step(inner, Input::Requests(requests));
        }
        was_busy
    }

    /// False if the request has its result already, which is put into the mailbox.
    fn is_to_be_ordered(&mut self, command: &Command<Body>) -> bool {
        let (session, rid) = (command.session, command.rid);
        match self.system.status(session, rid) {
            RequestStatus::Open => true,
            RequestStatus::UnknownSession => {
                let opens = matches!(command.op, crate::Op::OpenSession);
                if !opens {
                    self.expire(session, rid);
                }
                opens
            }
            RequestStatus::Done(reply) => {
                let reply = Arc::clone(reply);
                self.deliver(session, rid, &reply);
                false
            }
            RequestStatus::Forgotten => {
                self.expire(session, rid);
                false
            }
        }
    }

    fn close(&mut self, session: SessionId) {
        self.mailboxes.remove(&session);
        for command in self.submitted.drop_session(session) {
            self.shm.answered(command.session, command.rid);
        }
    }

    /// Hands all requests without a result in once more: to the new leader, or as the new leader.
    pub(super) fn resubmit(&mut self, inner: &Inner<S>) {
        let requests: Vec<_> = self.submitted.iter().copied().collect();
        if !requests.is_empty() {
            self.step(inner, Input::Requests(requests));
        }
    }

    /// Does what is due now and then: signs of life, suspicion, requests that went lost.
    fn housekeep(&mut self, inner: &Inner<S>) {
        let clock = Clock::get();
        let now = clock.ticks();
        if now.saturating_sub(self.housekept) < clock.ticks_in(HOUSEKEEPING) {
            return;
        }
        self.housekept = now;
        self.watch(inner, now);
    }

    /// Says to the others whether this node is a member.
    pub(super) fn show_state(&mut self, state: NodeState) {
        self.shm.writer.set_state(state);
    }
}

impl<S: StateMachine> fmt::Debug for Driver<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver({}, epoch {})", self.shm.me, self.core.configuration().epoch)
    }
}
