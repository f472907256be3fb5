//! A group of nodes without a runtime: their memory, their links, and the effects that each has yet to execute. The model
//! and the simulator decide what happens next; here it happens.

mod copy_on_write;
mod links;
mod memory;
mod monitor;

use std::collections::VecDeque;

use corecast_replica::one_paxos::{Effect, Input, Message, Node, Rules, Settings, Transport};
use corecast_replica::system::{Members, Outcome, System};
use corecast_replica::{Command, Configuration, Epoch, Index, NodeId, Op, RoleChange, SessionId};

use copy_on_write::CopyOnWrite;
pub(crate) use links::Links;
pub(crate) use memory::Memory;
pub(crate) use monitor::Monitor;

/// The body of a user's operation: its number.
pub(crate) type Body = u16;

/// A process of the group, dead or alive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pub(crate) node: Node<Body>,
    /// Effects that it has yet to execute.
    pub(crate) pending: VecDeque<Effect<Body>>,
    /// The visible count as it was loaded by a node that raises it by a plain store.
    loaded: Option<Index>,
    pub(crate) is_alive: bool,
    /// Sessions and members, where a run looks at them: a reply is the index at which the request was run.
    pub(crate) system: Option<System<Index>>,
    /// Requests that a node without the lead passes on: the leader, the requests.
    pub(crate) forwarded: Vec<(NodeId, Vec<Command<Body>>)>,
}

/// The configuration that a group of these founders begins with.
pub(crate) fn first_configuration(founders: &[NodeId], is_fused: bool) -> Configuration {
    Configuration {
        epoch: 0,
        change: RoleChange::Acceptor,
        leader: founders[0],
        acceptor: founders[usize::from(!is_fused)],
        inst: 0,
        stable: 0,
        source: founders[0],
        hi: 0,
    }
}

/// The group.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    pub(crate) settings: CopyOnWrite<Settings>,
    pub(crate) processes: Vec<CopyOnWrite<Process>>,
    pub(crate) memory: CopyOnWrite<Memory>,
    pub(crate) links: CopyOnWrite<Links>,
    pub(crate) monitor: CopyOnWrite<Monitor>,
}

impl World {
    /// `count` nodes of which the first leads; the acceptor is the second, or the first where roles are fused.
    pub(crate) fn new(count: u16, transport: Transport, window: u64, rules: Rules) -> Self {
        let founders = Vec::from_iter((0..count).map(|slot| NodeId::new(slot, 1)));
        let is_fused = transport == (Transport::Shared { is_fused: true }) || count == 1;
        let configuration = first_configuration(&founders, is_fused);
        let members = Members::founding(founders.iter().map(|&node| (node, 1)));
        let settings = Settings { me: founders[0], transport, window, founders: founders.clone(), rules };
        let process = |&me: &NodeId| {
            Process::new(Node::new(Settings { me, ..settings.clone() }, members.clone(), configuration)).into()
        };
        let processes = Vec::from_iter(founders.iter().map(process));
        let memory = Memory::new(configuration, founders, window).into();
        let (links, monitor) = (Links::default().into(), Monitor::new(members).into());
        Self { settings: settings.into(), processes, memory, links, monitor }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.settings.transport != Transport::Messages
    }

    /// The process of a node.
    pub(crate) fn at(&self, node: NodeId) -> usize {
        self.memory.at(node)
    }

    pub(crate) fn id(&self, at: usize) -> NodeId {
        self.processes[at].node.id()
    }

    /// The newest configuration that any node knows, or has known.
    pub(crate) fn newest(&self) -> Configuration {
        let known = self.processes.iter().map(|process| *process.node.configuration());
        known.max_by_key(|configuration| configuration.epoch).expect("a process at least")
    }

    /// Messages: the nodes that have led in the newest instance.
    pub(crate) fn owners(&self) -> impl Iterator<Item = NodeId> + '_ {
        let Configuration { inst, epoch, .. } = self.newest();
        self.monitor.configurations().range(inst..=epoch).map(|(_, configuration)| configuration.leader)
    }

    /// Hands an input to a node.
    pub(crate) fn step(&mut self, at: usize, input: Input<Body>) {
        let mut effects = Vec::new();
        self.processes[at].node.step(input, &mut effects);
        self.processes[at].pending.extend(effects);
        self.check_lagging(at);
        if !self.is_shared() {
            self.check_configuration(at);
        }
    }

    /// I2.
    fn check_configuration(&mut self, at: usize) {
        let node = &self.processes[at].node;
        if !self.monitor.knows_configuration(node) {
            self.monitor.check_configuration(node);
        }
    }

    /// I8, for all members: one that was taken in may not have heard of it yet.
    fn check_stable(&mut self, stable: Index) {
        let behind = self.processes.iter().filter(|process| process.node.applied_count() < stable);
        if let Some(process) = behind.into_iter().find(|process| self.monitor.is_member(&process.node)) {
            let text = format!("I8: stable is {stable}, and {} is behind", process.node.id());
            self.monitor.violate(text);
        }
    }

    /// I8, as a member sees it: the log has all that it needs, also if all others are dead.
    fn check_lagging(&mut self, at: usize) {
        let node = &self.processes[at].node;
        if node.is_lagging() && self.monitor.is_member(node) {
            let text = format!("I8: the log lacks what {} needs, and it is a member", node.id());
            self.monitor.violate(text);
        }
    }

    /// A runtime's plan wants these roles.
    pub(crate) fn prefer(&mut self, at: usize, roles: (NodeId, NodeId)) {
        let mut effects = Vec::new();
        self.processes[at].node.prefer(Some(roles), &mut effects);
        self.processes[at].pending.extend(effects);
    }

    /// Executes the next effect of a node, and answers it.
    pub(crate) fn execute(&mut self, at: usize) {
        let Some(effect) = self.processes[at].pending.pop_front() else { return };
        match effect {
            Effect::Send { to, message } => {
                let me = self.id(at);
                self.links.send(me, to, message);
            }
            Effect::Broadcast(message) => self.broadcast(at, &message),
            Effect::Apply(end) => self.apply(at, end),
            Effect::RaiseVisible(count) => self.raise_visible(at, count),
            Effect::Forward { leader, commands } => self.processes[at].forwarded.push((leader, commands)),
            Effect::Lagging => {}
            effect => {
                if let Some(stable) = published_stable(&effect, self.memory.configuration.epoch) {
                    self.check_stable(stable);
                }
                if let Some(answer) = self.memory.execute(at, effect) {
                    self.step(at, answer);
                }
            }
        }
    }

    fn broadcast(&mut self, at: usize, message: &Message<Body>) {
        let me = self.id(at);
        let members = Vec::from_iter(self.processes[at].node.members().iter());
        let voters = Vec::from_iter(self.processes[at].node.voters().iter().copied());
        let others = voters.iter().filter(|voter| !members.contains(voter));
        for &to in members.iter().chain(others).filter(|&&to| to != me) {
            self.links.send(me, to, message.clone());
        }
    }

    fn raise_visible(&mut self, at: usize, count: Index) {
        if self.settings.rules.raise_by_maximum {
            if self.memory.visible < count {
                self.memory.visible = count;
            }
            return;
        }
        // Without the rule: a load, and a store later.
        match self.processes[at].loaded.take() {
            None => {
                self.processes[at].loaded = Some(self.memory.visible);
                self.processes[at].pending.push_front(Effect::RaiseVisible(count));
            }
            Some(loaded) if loaded < count => self.memory.visible = count,
            Some(_) => {}
        }
    }

    fn apply(&mut self, at: usize, to: Index) {
        let Process { node, system, .. } = &mut *self.processes[at];
        let mut end = node.applied_count();
        while let Some(command) = node.decided(end).filter(|_| end < to) {
            self.monitor.applies(at, end, command);
            if let Some(system) = system {
                run(system, end, command, &mut self.monitor);
            }
            end += 1;
        }
        let mut effects = Vec::new();
        self.processes[at].node.applied(end, &mut effects);
        self.processes[at].pending.extend(effects);
        self.memory.segments[at].applied = end;
        for alive in Vec::from_iter((0..self.processes.len()).filter(|&at| self.processes[at].is_alive)) {
            self.check_lagging(alive);
        }
    }

    /// Delivers a message that is under way.
    pub(crate) fn deliver(&mut self, from: NodeId, to: NodeId, place: usize) {
        if let Some(message) = self.links.take(from, to, place) {
            let at = self.at(to);
            if self.processes[at].is_alive {
                self.step(at, Input::Message { from, message });
            }
        }
    }

    /// Adds a process.
    pub(crate) fn add(&mut self, node: Node<Body>) -> usize {
        self.memory.add(node.id(), node.applied_count());
        self.processes.push(Process::new(node).into());
        self.processes.len() - 1
    }

    /// Kills a process. Its memory stays where it is shared, its messages are still under way.
    pub(crate) fn kill(&mut self, at: usize) {
        self.processes[at].is_alive = false;
        self.processes[at].pending.clear();
    }

    /// True as long as what clients see is right.
    pub(crate) fn is_right(&self) -> bool {
        !self.monitor.is_violated() && (!self.is_shared() || self.memory.visible >= self.monitor.shown())
    }
}

impl Process {
    pub(crate) fn new(node: Node<Body>) -> Self {
        Self { node, pending: VecDeque::new(), loaded: None, is_alive: true, system: None, forwarded: Vec::new() }
    }
}

/// Applies a command to sessions and members.
fn run(system: &mut System<Index>, index: Index, command: &Command<Body>, monitor: &mut Monitor) {
    if let Outcome::Run(_) = system.begin(index, command) {
        monitor.runs(index, command);
        system.finish(command.session, command.rid, index);
    }
    monitor.check_prefix(system.applied(), system.prefix());
}

/// The user's request with this number.
pub(crate) fn request(session: SessionId, rid: u32, body: Body) -> Command<Body> {
    Command { session, rid, op: Op::User(body) }
}

/// The trimmed count that a node publishes in the newest epoch, or one to come. Nobody minds that of one that was deposed.
fn published_stable(effect: &Effect<Body>, newest: Epoch) -> Option<Index> {
    match effect {
        Effect::Propose { epoch, stable, .. }
        | Effect::Write { epoch, stable, .. }
        | Effect::Commit { epoch, stable, .. } => Some(*stable).filter(|_| *epoch >= newest),
        _ => None,
    }
}
