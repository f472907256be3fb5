//! The protocol as a model: what may happen next in a small group, with bounds on what the world does to it.

use corecast_replica::one_paxos::{Input, Message, Node, Rules, Settings, Transport};
use corecast_replica::system::System;
use corecast_replica::{Command, LeaveReason, NodeId, Op, SessionId};
use stateright::{Model, Property};

use crate::going_on::goes_on;
use crate::world::{Body, World, request};

/// The bounds.
#[derive(Debug, Clone)]
pub(crate) struct Protocol {
    pub(crate) transport: Transport,
    pub(crate) nodes: u16,
    pub(crate) requests: u8,
    /// Times that a request is handed in once more, to whichever node leads, whether or not it was done. If there are any, the
    /// first request opens the session.
    pub(crate) retries: u8,
    pub(crate) epochs: u32,
    /// Times that a node suspects another, rightly or not.
    pub(crate) suspicions: u8,
    /// The nodes that suspect others.
    pub(crate) suspecting: &'static [usize],
    pub(crate) crashes: u8,
    /// Crashed nodes that start again, without their memory.
    pub(crate) restarts: u8,
    /// Members that are put out, though they are alive.
    pub(crate) expulsions: u8,
    /// Messages: times that a leader finds that other nodes should vote.
    pub(crate) renewals: u8,
    /// Times that a node which begins with the state of before all commands is asked to be taken in.
    pub(crate) joins: u8,
    /// Orders of events that are not looked at, so that a search for one that goes wrong is short.
    pub(crate) is_left_out: fn(&World, &Action) -> bool,
    /// Leaders hear of what others have applied, and trim.
    pub(crate) trims: bool,
    /// Messages overtake each other.
    pub(crate) reorders: bool,
    /// Looks whether the group goes on from wherever it is, and not whether it is right on the way.
    pub(crate) has_to_go_on: bool,
    pub(crate) rules: Rules,
}

impl Protocol {
    pub(crate) fn new(transport: Transport, rules: Rules) -> Self {
        Self {
            transport,
            nodes: 3,
            requests: 2,
            retries: 0,
            epochs: 3,
            suspicions: 3,
            suspecting: &[0, 1, 2],
            crashes: 0,
            restarts: 0,
            expulsions: 0,
            renewals: 0,
            joins: 0,
            is_left_out: |_, _| false,
            trims: false,
            reorders: false,
            has_to_go_on: false,
            rules,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    pub(crate) world: World,
    requests: u8,
    retries: u8,
    suspicions: u8,
    crashes: u8,
    restarts: u8,
    expulsions: u8,
    renewals: u8,
    joins: u8,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    Execute(usize),
    See(usize),
    Pull(usize),
    Learn(usize),
    Hear(usize),
    Request(usize),
    /// A node that leads gets an earlier request once more.
    Retry(usize, u8),
    Suspect(usize, NodeId),
    Expel(usize, NodeId),
    Renew(usize),
    /// A leader gets the request of the joiner.
    Join(usize),
    Crash(usize),
    Restart(usize),
    Deliver(NodeId, NodeId, usize),
}

impl Model for Protocol {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let mut world = World::new(self.nodes, self.transport, 8, self.rules);
        if self.joins > 0 {
            let (settings, first) =
                (Settings { me: self.joiner(), ..Settings::clone(&world.settings) }, &world.processes[0].node);
            world.add(Node::restored(settings, first.members().clone(), *first.configuration(), 0));
        }
        if self.retries > 0 {
            let members = world.processes[0].node.members().clone();
            world.processes.iter_mut().for_each(|process| process.system = Some(System::new(members.clone())));
        }
        let (requests, retries, suspicions, crashes, restarts, expulsions, renewals, joins) = (0, 0, 0, 0, 0, 0, 0, 0);
        vec![State { world, requests, retries, suspicions, crashes, restarts, expulsions, renewals, joins }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for at in 0..state.world.processes.len() {
            if !state.world.processes[at].is_alive {
                if state.restarts < self.restarts {
                    actions.push(Action::Restart(at));
                }
                continue;
            }
            if state.crashes < self.crashes {
                actions.push(Action::Crash(at));
            }
            if !state.world.processes[at].pending.is_empty() {
                actions.push(Action::Execute(at));
                continue;
            }
            self.actions_of(state, at, actions);
        }
        self.deliveries(state, actions);
        actions.retain(|action| !(self.is_left_out)(&state.world, action));
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        let State { world, requests, retries, suspicions, crashes, restarts, expulsions, renewals, joins } = &mut state;
        match action {
            Action::Execute(at) => world.execute(at),
            Action::See(at) => step(world, at, world.memory.newer_configuration(&world.processes[at].node)),
            Action::Pull(at) => step(world, at, world.memory.pull(&world.processes[at].node)),
            Action::Learn(at) => step(world, at, world.memory.learn(&world.processes[at].node)),
            Action::Hear(at) => hear(world, at),
            Action::Request(at) => {
                *requests += 1;
                world.step(at, Input::Requests(vec![self.request(*requests)]));
            }
            Action::Retry(at, number) => {
                *retries += 1;
                world.step(at, Input::Requests(vec![self.request(number)]));
            }
            Action::Suspect(at, node) => {
                *suspicions += 1;
                world.step(at, Input::Suspect { node, is_dead: false });
            }
            Action::Expel(at, node) => {
                *expulsions += 1;
                let op = Op::Leave { node, reason: LeaveReason::Lagging };
                world.step(at, Input::Requests(vec![Command { session: SessionId::SYSTEM, rid: 0, op }]));
            }
            Action::Renew(at) => {
                *renewals += 1;
                world.step(at, Input::Tick);
            }
            Action::Join(at) => {
                *joins += 1;
                let node = self.joiner();
                let applied = world.processes[world.at(node)].node.applied_count();
                let op = Op::Join { node, boot: 2, applied };
                world.step(at, Input::Requests(vec![Command { session: SessionId::SYSTEM, rid: 0, op }]));
            }
            Action::Crash(at) => {
                *crashes += 1;
                world.kill(at);
            }
            Action::Restart(at) => {
                *restarts += 1;
                restart(world, at);
            }
            Action::Deliver(from, to, place) => world.deliver(from, to, place),
        }
        self.settle(world);
        (state != *last).then_some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        if self.has_to_go_on {
            return vec![Property::always("goes on", |_, state: &State| goes_on(&state.world))];
        }
        vec![
            Property::always("right", |_, state: &State| state.world.is_right()),
            // A search for what goes wrong ends with it, and so does one without a joiner.
            Property::sometimes("alone", |model: &Self, state: &State| {
                model.joins == 0 || model.rules != Rules::ALL || model.joiner_is_alone(state)
            }),
            Property::sometimes("twice", |model: &Self, state: &State| model.retries == 0 || is_run_once_of_two(state)),
        ]
    }
}

impl Protocol {
    /// The request with this number, from 1 on.
    fn request(&self, number: u8) -> Command<Body> {
        let session = SessionId(1);
        let rid = number - u8::from(self.retries > 0);
        if rid == 0 {
            return Command { session, rid: 0, op: Op::OpenSession };
        }
        request(session, rid.into(), Body::from(number))
    }

    fn joiner(&self) -> NodeId {
        NodeId::new(self.nodes, 1)
    }

    /// The joiner leads, all others are dead, and all requests were decided.
    fn joiner_is_alone(&self, state: &State) -> bool {
        let (last, others) = state.world.processes.split_last().expect("it is the last one");
        let is_user = |command: &Command<Body>| matches!(command.op, Op::User(_));
        let decided = state.world.monitor.decided().values().filter(|&command| is_user(command)).count();
        last.node.orders() && others.iter().all(|other| !other.is_alive) && decided == usize::from(self.requests)
    }

    fn actions_of(&self, state: &State, at: usize, actions: &mut Vec<Action>) {
        let world = &state.world;
        let node = &world.processes[at].node;
        if world.is_shared() {
            if world.memory.newer_configuration(node).is_some() {
                actions.push(Action::See(at));
            }
            if world.memory.pull(node).is_some() {
                actions.push(Action::Pull(at));
            }
            if world.memory.learn(node).is_some() {
                actions.push(Action::Learn(at));
            }
            if self.trims && node.orders() {
                actions.push(Action::Hear(at));
            }
        }
        if state.requests < self.requests && node.orders() {
            actions.push(Action::Request(at));
        }
        if state.retries < self.retries && node.orders() {
            actions.extend((1..=state.requests).map(|number| Action::Retry(at, number)));
        }
        let may_suspect = state.suspicions < self.suspicions && self.suspecting.contains(&at);
        if node.configuration().epoch < self.epochs && may_suspect {
            self.suspicions(node, at, actions);
        }
        if state.joins < self.joins && node.orders() && !node.members().contains(self.joiner()) {
            actions.push(Action::Join(at));
        }
        if state.renewals < self.renewals && node.orders() && node.wants_other_voters() {
            actions.push(Action::Renew(at));
        }
        if state.expulsions < self.expulsions && node.orders() {
            actions.push(Action::Expel(at, NodeId::new(self.nodes - 1, 1)));
        }
    }

    /// The leader suspects the acceptor, and all others the leader: rightly or not.
    fn suspicions(&self, node: &Node<Body>, at: usize, actions: &mut Vec<Action>) {
        let configuration = node.configuration();
        if configuration.leader != node.id() {
            actions.push(Action::Suspect(at, configuration.leader));
        } else if configuration.acceptor != node.id() {
            actions.push(Action::Suspect(at, configuration.acceptor));
        }
    }

    fn deliveries(&self, state: &State, actions: &mut Vec<Action>) {
        for (from, to, line) in state.world.links.iter() {
            if !state.world.processes[state.world.at(to)].is_alive {
                continue;
            }
            let places = if self.reorders { line.len() } else { 1 };
            actions.extend((0..places).map(|place| Action::Deliver(from, to, place)));
        }
    }
}

/// A user's request was decided twice, and applied somewhere as far as the second time. The monitor sees that it is run once.
fn is_run_once_of_two(state: &State) -> bool {
    let is_user = |command: &Command<Body>| matches!(command.op, Op::User(_));
    let decided = || state.world.monitor.decided().iter().filter(|&(_, command)| is_user(command));
    let again = decided().find(|&(index, command)| decided().any(|(first, other)| first < index && other == command));
    again.is_some_and(|(&index, _)| state.world.processes.iter().any(|one| one.node.applied_count() > index))
}

fn step(world: &mut World, at: usize, input: Option<Input<Body>>) {
    if let Some(input) = input {
        world.step(at, input);
    }
}

fn hear(world: &mut World, at: usize) {
    for (node, applied) in Vec::from_iter(world.memory.progress()) {
        world.step(at, Input::Progress { node, applied });
    }
}

/// A process without the memory of the one before it. With the rule it is another node, a learner until it has joined; without
/// it, it goes on in its name.
fn restart(world: &mut World, at: usize) {
    let old = &world.processes[at].node;
    let me = old.id();
    let settings = Settings { me, ..Settings::clone(&world.settings) };
    if !world.settings.rules.restart_is_new_incarnation {
        let node = Node::restored(settings, old.members().clone(), *old.configuration(), 0);
        world.processes[at] = crate::world::Process::new(node).into();
    }
}

impl Protocol {
    /// Does at once what no other node can tell apart: effects whose order to the steps of others does not matter, and, with
    /// messages, the agreement on a configuration, which has a model of its own.
    fn settle(&self, world: &mut World) {
        loop {
            let quick = (0..world.processes.len()).find(|&at| world.is_quick(at));
            if let Some(at) = quick {
                world.execute(at);
                continue;
            }
            let is_quick = |message: &Message<Body>| is_of_configuration_log(message);
            let vote = world
                .links
                .iter()
                .find_map(|(from, to, line)| line.iter().position(is_quick).map(|place| (from, to, place)));
            let Some((from, to, place)) = vote else { break };
            world.deliver(from, to, place);
        }
        // Messages of a dead node that have not come are lost: those that came had come before it died.
        let is_dead = |node| !world.processes[world.memory.at(node)].is_alive;
        let trims = self.trims;
        let may_come = |from, to, message: &Message<Body>| {
            !is_dead(from) && !is_dead(to) && (trims || !matches!(message, Message::Progress { .. }))
        };
        // Links that lose nothing stay those of the world before.
        if world.links.iter().any(|(from, to, line)| !line.iter().all(|message| may_come(from, to, message))) {
            world.links.retain(may_come);
        }
    }
}

fn is_of_configuration_log(message: &Message<Body>) -> bool {
    use Message::{Ask, Promise, Refused, Vote, Voted};
    matches!(message, Ask { .. } | Promise { .. } | Vote { .. } | Voted { .. } | Refused { .. })
}

trait Quick {
    fn is_quick(&self, at: usize) -> bool;
}

impl Quick for World {
    fn is_quick(&self, at: usize) -> bool {
        use corecast_replica::one_paxos::Effect;
        let is_whole = self.settings.rules.raise_by_maximum;
        match self.processes[at].pending.front() {
            None | Some(Effect::Write { .. } | Effect::CheckEpoch { .. } | Effect::ProposeConfiguration(_)) => false,
            Some(Effect::ReadLog { .. } | Effect::Commit { .. }) => false,
            Some(Effect::RaiseVisible(_) | Effect::Apply(_)) => is_whole,
            Some(_) => true,
        }
    }
}
