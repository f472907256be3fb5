//! The group with its clients: what each process does besides the protocol.

use corecast_replica::one_paxos::{Input, Message, Node, Rules, Settings, Transport};
use corecast_replica::system::{Members, RequestStatus, System};
use corecast_replica::{Command, Index, LeaveReason, NodeId, Op, SessionId};
use fastrand::Rng;

use crate::world::{Body, World, first_configuration, request};

/// The client beside a node in its process.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) session: SessionId,
    /// The number of the newest request; 0 is the opening of the session.
    pub(crate) rid: u32,
    pub(crate) is_stopped: bool,
    /// The clock of its process was put back: no time passes for as many of its turns.
    pub(crate) clock_behind: u32,
    /// The number of the process.
    pub(crate) boot: u64,
    /// Sessions that its process has opened at earlier incarnations, and has not closed.
    pub(crate) earlier: Vec<SessionId>,
}

#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) world: World,
    pub(crate) clients: Vec<Client>,
    pub(crate) rng: Rng,
    boots: u64,
}

impl Group {
    pub(crate) fn new(transport: Transport, seed: u64, rules: Rules) -> Self {
        let mut rng = Rng::with_seed(seed);
        let count = *rng.choice(&[1, 2, 3, 3, 3, 4, 5]).expect("not empty");
        let window = *rng.choice(&[32, 32, 64]).expect("not empty");
        let mut world = World::new(count, transport, window, rules);
        let members = Members::founding(world.settings.founders.iter().map(|&node| (node, 1)));
        for process in &mut world.processes {
            process.system = Some(System::new(members.clone()));
        }
        let clients = world.settings.founders.iter().map(|&node| Client::new(node, 1)).collect();
        Self { world, clients, rng, boots: 1 }
    }

    #[track_caller]
    pub(crate) fn check(&self) {
        assert!(self.world.is_right(), "{:?}", self.world.monitor.violation());
    }

    /// Hands an input to a node that has executed all effects before.
    pub(crate) fn step(&mut self, at: usize, input: Input<Body>) {
        self.execute_all(at);
        self.world.step(at, input);
        self.check();
    }

    pub(crate) fn execute_all(&mut self, at: usize) {
        while !self.world.processes[at].pending.is_empty() {
            self.world.execute(at);
            self.check();
        }
    }

    pub(crate) fn alive(&self) -> Vec<usize> {
        (0..self.clients.len()).filter(|&at| self.world.processes[at].is_alive).collect()
    }

    pub(crate) fn running(&self) -> Vec<usize> {
        self.alive().into_iter().filter(|&at| !self.clients[at].is_stopped).collect()
    }

    pub(crate) fn node(&self, at: usize) -> &Node<Body> {
        &self.world.processes[at].node
    }

    pub(crate) fn system(&self, at: usize) -> &System<Index> {
        self.world.processes[at].system.as_ref().expect("each process has one")
    }

    pub(crate) fn is_member(&self, at: usize) -> bool {
        self.node(at).members().contains(self.node(at).id())
    }

    pub(crate) fn newest(&self) -> corecast_replica::Configuration {
        self.world.newest()
    }

    pub(crate) fn is_alive(&self, node: NodeId) -> bool {
        self.world.processes[self.world.at(node)].is_alive
    }

    /// Starts one more request, if the session has room.
    pub(crate) fn begin_request(&mut self, at: usize) {
        let &Client { session, rid, .. } = &self.clients[at];
        let oldest = rid.saturating_sub(Command::<Body>::OUTSTANDING - 1).max(1);
        let has_room = rid == 0 || (oldest..=rid).all(|rid| self.is_done(at, rid) || rid + 15 > self.clients[at].rid);
        if self.is_member(at) && self.is_open(at) && has_room && self.outstanding(at).len() < 15 {
            self.clients[at].rid += 1;
            let request = request(session, rid + 1, rid as Body);
            self.hand_in(at, vec![request]);
        } else {
            self.retry(at);
        }
    }

    fn is_open(&self, at: usize) -> bool {
        self.system(at).sessions().any(|session| session == self.clients[at].session)
    }

    fn is_done(&self, at: usize, rid: u32) -> bool {
        let status = self.system(at).status(self.clients[at].session, rid);
        matches!(status, RequestStatus::Done(_) | RequestStatus::Forgotten)
    }

    /// Requests without an answer.
    pub(crate) fn outstanding(&self, at: usize) -> Vec<Command<Body>> {
        let &Client { session, rid, .. } = &self.clients[at];
        if !self.is_open(at) {
            return vec![Command { session, rid: 0, op: Op::OpenSession }];
        }
        let first = rid.saturating_sub(Command::<Body>::OUTSTANDING).max(1);
        let open = (first..=rid).filter(|&rid| !self.is_done(at, rid));
        open.map(|rid| request(session, rid, (rid - 1) as Body)).collect()
    }

    /// Hands in again what has no answer: a join first.
    pub(crate) fn retry(&mut self, at: usize) {
        let node = self.node(at).id();
        if self.node(at).is_lagging() {
            let op = Op::Leave { node, reason: LeaveReason::Lagging };
            self.hand_in(at, vec![Command { session: SessionId::SYSTEM, rid: 0, op }]);
        } else if self.is_member(at) {
            let commands = self.outstanding(at);
            self.hand_in(at, commands);
        } else if !self.has_left(at) {
            let (boot, applied) = (self.clients[at].boot, self.node(at).applied_count());
            let op = Op::Join { node, boot, applied };
            self.ask_for_newest(at);
            self.hand_in(at, vec![Command { session: SessionId::SYSTEM, rid: 0, op }]);
        }
    }

    /// Messages: a runtime that is about to join asks any node for what it lacks.
    fn ask_for_newest(&mut self, at: usize) {
        let others = self.alive().into_iter().filter(|&other| other != at && !self.world.is_shared());
        let Some(other) = self.rng.choice(Vec::from_iter(others)) else { return };
        let (node, to) = (self.node(at), self.node(other).id());
        let message = Message::Missing { epoch: node.configuration().epoch, first: node.learned_end() };
        let me = node.id();
        self.world.links.send(me, to, message);
    }

    /// True if the group has put this incarnation out.
    pub(crate) fn has_left(&self, at: usize) -> bool {
        let node = self.node(at).id();
        self.node(at).is_lagging()
            || (self.node(at).members().next_incarnation(node.slot).is_none_or(|next| next.inc > node.inc)
                && !self.is_member(at))
    }

    /// Hands requests in as a leader's runtime does: those that are done are left out.
    pub(crate) fn hand_in(&mut self, at: usize, mut commands: Vec<Command<Body>>) {
        commands.retain(|command| {
            !matches!(command.op, Op::User(_))
                || !matches!(
                    self.system(at).status(command.session, command.rid),
                    RequestStatus::Done(_) | RequestStatus::Forgotten
                )
        });
        if !commands.is_empty() {
            self.step(at, Input::Requests(commands));
        }
    }

    /// Passes on requests that wait in a process for a leader elsewhere.
    pub(crate) fn pass_on(&mut self, at: usize) {
        for (leader, commands) in std::mem::take(&mut self.world.processes[at].forwarded) {
            let to = self.world.at(leader);
            if self.world.processes[to].is_alive {
                self.hand_in(to, commands);
            }
        }
    }

    /// Messages: true if majorities of the voters on all configurations to come are alive, without this process. One that only a
    /// dead node knew has to be found by those who voted on it.
    pub(crate) fn has_majority_without(&self, at: Option<usize>) -> bool {
        let me = at.map(|at| self.node(at).id());
        let votes = |&&voter: &&NodeId| self.is_alive(voter) && me != Some(voter);
        let alive = self.alive().into_iter().filter(|&other| at != Some(other));
        let known = alive.map(|at| self.node(at).configuration().epoch).max().unwrap_or(0);
        let newest = self.world.processes.iter().filter(|process| process.node.configuration().epoch >= known);
        let mut voters = newest.map(|process| process.node.voters());
        voters.all(|voters| voters.iter().filter(votes).count() * 2 > voters.len())
    }

    /// True if a process is left that is up to date and that the group has not put out.
    pub(crate) fn has_survivor(&self) -> bool {
        self.alive().into_iter().any(|at| self.may_go_on(at))
    }

    /// True if a process can go on alone: the group has taken it in, and not put it out. Where memory is shared, it need not
    /// have heard of it: all that it has to know outlives the others.
    pub(crate) fn may_go_on(&self, at: usize) -> bool {
        let node = self.node(at);
        let knows_it = self.is_member(at) || self.world.is_shared();
        self.world.monitor.is_member(node) && knows_it && !node.is_lagging()
    }

    /// The process that joins and goes on in the place of the members, if none of them lives.
    pub(crate) fn first_joiner(&self) -> Option<usize> {
        let joins = |&at: &usize| self.world.is_shared() && !self.is_member(at) && !self.has_left(at);
        self.alive().into_iter().filter(joins).min_by_key(|&at| self.node(at).id().slot)
    }

    /// Starts a process in the slot of one that is dead or was put out, from the snapshot of a member.
    pub(crate) fn restart(&mut self, old: usize, is_same_process: bool) {
        let slot = self.node(old).id().slot;
        let is_founder_alive = self.world.processes[old].is_alive && !self.has_majority_without(Some(old));
        if !self.world.is_shared() && is_founder_alive {
            return;
        }
        let donors =
            self.alive().into_iter().filter(|&at| at != old && self.is_member(at) && !self.node(at).is_lagging());
        let Some(donor) = self.rng.choice(Vec::from_iter(donors)) else { return };
        let members = self.system(donor).members().clone();
        // Each process has an incarnation that none had before, whether or not that one joined.
        let others = self.world.processes.iter().map(|other| other.node.id());
        let last = others.filter(|other| other.slot == slot).map(|other| other.inc).max();
        let is_taken = self.running_in(slot).is_some_and(|at| at != old);
        let Some(me) = last.map(|inc| NodeId::new(slot, inc + 1)).filter(|_| !is_taken) else { return };
        self.boots += u64::from(!is_same_process);
        let boot = if is_same_process { self.clients[old].boot } else { self.boots };
        let settings = Settings { me, ..Settings::clone(&self.world.settings) };
        let system = self.system(donor).clone();
        // With messages a later node begins with the first configuration, which has no U, and is told the newest with its own.
        let first = || first_configuration(&settings.founders, settings.founders.len() == 1);
        let known = if self.world.is_shared() { *self.node(donor).configuration() } else { first() };
        let node = Node::restored(settings, members, known, system.applied());
        self.world.kill(old);
        let at = self.world.add(node);
        let mut client = Client::new(me, boot);
        if is_same_process {
            let Client { session, earlier, .. } = &self.clients[old];
            let opened = Some(*session).filter(|_| self.is_open(old));
            client.earlier = earlier.iter().copied().chain(opened).collect();
        }
        self.world.processes[at].system = Some(system);
        self.clients.push(client);
    }

    /// True if time passes for a process in this turn: its clock was not put back, or shows what it did by now.
    pub(crate) fn has_time(&mut self, at: usize) -> bool {
        let behind = &mut self.clients[at].clock_behind;
        let has_time = *behind == 0;
        *behind = behind.saturating_sub(1);
        has_time
    }

    /// True if the process of a node lives on as a later incarnation.
    pub(crate) fn has_gone_on(&self, node: NodeId) -> bool {
        let at = self.world.at(node);
        let is_later =
            |later: usize| self.node(later).id().slot == node.slot && self.clients[later].boot == self.clients[at].boot;
        (at + 1..self.clients.len()).any(is_later)
    }

    /// The word of a runtime about another node.
    pub(crate) fn suspicion(&self, node: NodeId, is_dead: bool) -> Input<Body> {
        if is_dead && self.has_gone_on(node) { Input::GoneOn(node) } else { Input::Suspect { node, is_dead } }
    }

    /// A session of a living process that has ended, though no client has closed it.
    pub(crate) fn lost_session(&self) -> Option<SessionId> {
        let is_lost = |at: usize, session: &SessionId| !self.system(at).sessions().any(|open| open == *session);
        let lost = |at: usize| self.clients[at].earlier.iter().find(|session| is_lost(at, session)).copied();
        self.alive().into_iter().filter(|&at| self.is_member(at)).find_map(lost)
    }

    fn running_in(&self, slot: u16) -> Option<usize> {
        self.alive().into_iter().find(|&at| self.node(at).id().slot == slot)
    }

    /// True if the message, whose sender may be dead, is still to come.
    pub(crate) fn deliver_one(&mut self, reorders: bool) -> bool {
        let lines = Vec::from_iter(self.world.links.iter().map(|(from, to, line)| (from, to, line.len())));
        let is_stopped = |&(_, to, _): &(NodeId, NodeId, usize)| !self.clients[self.world.at(to)].is_stopped;
        let lines = Vec::from_iter(lines.into_iter().filter(is_stopped));
        let Some((from, to, len)) = self.rng.choice(lines) else { return false };
        let place = if reorders { self.rng.usize(..len) } else { 0 };
        let at = self.world.at(to);
        match self.world.links.take(from, to, place) {
            _ if !self.world.processes[at].is_alive => {}
            Some(Message::Request(commands)) => self.hand_in(at, commands),
            Some(message) => self.step(at, Input::Message { from, message }),
            None => {}
        }
        true
    }

    /// Polls as a process does where memory is shared.
    pub(crate) fn poll(&mut self, at: usize, what: u8) {
        let (memory, node) = (&self.world.memory, self.node(at));
        let input = match what {
            0 => memory.newer_configuration(node),
            1 => memory.pull(node),
            2 => memory.learn(node),
            _ if node.leads() => return self.hear(at),
            _ => None,
        };
        if let Some(input) = input {
            self.step(at, input);
        }
    }

    fn hear(&mut self, at: usize) {
        for (node, applied) in Vec::from_iter(self.world.memory.progress()) {
            self.step(at, Input::Progress { node, applied });
        }
    }
}

impl Client {
    fn new(node: NodeId, boot: u64) -> Self {
        Self { session: SessionId::new(node, 1), rid: 0, is_stopped: false, clock_behind: 0, boot, earlier: Vec::new() }
    }
}
