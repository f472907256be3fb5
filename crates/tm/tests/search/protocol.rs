//! The protocol as a model: two participants, two servers, two variables, and every order of their steps.

use corecast_tm::Manager;
use corecast_tm::rule::{Reply, Rule};
use corecast_tm::status::State;
use stateright::{Model, Property};

use crate::client::{At, Client, Op, Step};
use crate::server::{Aborted, Server, Serving};

/// Violations that a search may find.
pub(crate) const TORN: &str = "a closure sees a torn state";
pub(crate) const STALE: &str = "a transaction commits that read what is not there any more";
pub(crate) const STRAY_ABORT: &str = "a server aborts a transaction that it has never heard of";

/// The bounds, and a mutation.
#[derive(Debug, Clone)]
pub(crate) struct Protocol {
    /// The transactions of each participant.
    pub(crate) programs: [Vec<&'static [Op]>; 2],
    pub(crate) manager: Manager,
    /// Aborts of a transaction after which its participant gives up.
    pub(crate) aborts: u8,
    /// Both variables lie at one server, and a commit asks for both at once: its write set is both.
    pub(crate) is_batched: bool,
    /// A transaction that ends tells its servers. Without that its locks stay until they are in another one's way, or the
    /// client comes with its next transaction.
    pub(crate) releases: bool,
    /// Values come with the replies of servers, and are sent to them by a commit.
    pub(crate) has_values_at_servers: bool,
    pub(crate) mutation: Mutation,
}

impl Protocol {
    /// The server that has the variable.
    pub(crate) fn server_of(&self, var: u32) -> usize {
        if self.is_batched { 0 } else { var as usize }
    }
}

/// A part of the protocol that is left out, to see that the search notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutation {
    None,
    /// A participant does not look at its status after it has copied a value.
    NoCheckAfterCopy,
    /// A server grants a lock, and aborts its holders later.
    GrantBeforeRevoke,
    /// All transactions of a participant have the same status words.
    NoEpoch,
    /// A participant rests on a value whose lock it has given back.
    RestsOnReleased,
    /// A participant commits before its servers have answered that they have stored its values.
    NoWaitForPuts,
}

/// The statuses: the epoch and the state of each participant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Board(pub(crate) [(u64, State); 2]);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct World {
    /// The variables.
    pub(crate) values: [u8; 2],
    /// The values after each transaction that wrote, in the order in which they became certain to commit, from the begin of the
    /// oldest attempt on.
    pub(crate) history: Vec<[u8; 2]>,
    pub(crate) board: Board,
    pub(crate) clients: [Client; 2],
    pub(crate) servers: [Server; 2],
    pub(crate) violation: Option<&'static str>,
}

impl World {
    /// The least epoch from 1 on that is of no earlier attempt of the client which anybody could still compare.
    pub(crate) fn unused_epoch(&self, client: usize) -> u64 {
        let is_used = |epoch| {
            self.board.0[client].0 == epoch || self.servers.iter().any(|server| server.remembers(client, epoch))
        };
        (1..).find(|epoch| !is_used(*epoch)).expect("a world holds few epochs")
    }

    /// Forgets values from before the oldest attempt that is under way: nobody looks at them any more.
    fn forget_old_values(&mut self) {
        let active = self.clients.iter().filter(|client| client.is_active());
        let oldest = active.map(|client| client.since).min().unwrap_or(self.history.len() - 1);
        self.history.drain(..oldest);
        self.clients.iter_mut().filter(|client| client.is_active()).for_each(|client| client.since -= oldest);
    }

    fn has_reply(&self, is_it: impl Fn(Reply) -> bool) -> bool {
        self.servers.iter().flat_map(|server| server.replies).flatten().any(|answered| is_it(answered.reply))
    }

    fn has_aborted(&self) -> bool {
        self.board.0.iter().any(|(_, state)| matches!(state, State::Aborted(_)))
    }

    /// The values that a participant has read must be those of one moment since its attempt began.
    pub(crate) fn must_be_consistent(&mut self, client: usize) {
        let client = &self.clients[client];
        if !self.history[client.since..].iter().any(|values| is_as_read(client, values)) {
            self.violation = Some(TORN);
        }
    }

    /// A transaction that commits has read what is there now.
    pub(crate) fn must_be_current(&mut self, client: usize) {
        let now = self.history.last().expect("it begins with one");
        if !is_as_read(&self.clients[client], now) {
            self.violation = Some(STALE);
        }
    }

    /// A server may only abort a transaction that has a lock there, or asks for one.
    fn must_be_involved(&mut self, aborted: Option<Aborted>, server: usize) {
        let Some(Aborted(client)) = aborted else { return };
        if !self.clients[usize::from(client.0)].contacted[server] {
            self.violation = Some(STRAY_ABORT);
        }
    }
}

fn is_as_read(client: &Client, values: &[u8; 2]) -> bool {
    client.reads.iter().zip(values).all(|(read, value)| read.is_none_or(|read| read == *value))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Action {
    /// A participant makes its next access to shared memory.
    Client(usize),
    /// A server takes the next message of a participant.
    Serve(usize, usize),
    /// A server makes its next access to a status.
    GoOn(usize),
}

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            values: [0; 2],
            history: vec![[0; 2]],
            board: Board([(0, State::Committed); 2]),
            clients: [Client::new(), Client::new()],
            servers: [Server::new(), Server::new()],
            violation: None,
        }]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        for (me, client) in world.clients.iter().enumerate() {
            let waits_for = Step::waits_for(self, client, me);
            let waits = waits_for.is_some_and(|server| world.servers[server].replies[me].is_none());
            if client.at != At::Done && !waits {
                actions.push(Action::Client(me));
            }
        }
        for (at, server) in world.servers.iter().enumerate() {
            if server.is_busy() {
                actions.push(Action::GoOn(at));
                continue;
            }
            let waiting = (0..2).filter(|client| !server.queues[*client].is_empty());
            actions.extend(waiting.map(|client| Action::Serve(at, client)));
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        let World { servers, board, values, .. } = &mut world;
        let (rule, grants_first) = (Rule::new(self.manager), self.mutation == Mutation::GrantBeforeRevoke);
        let mut serving = Serving { rule, grants_first, board, has_values: self.has_values_at_servers, values };
        match action {
            Action::Client(me) => Step { protocol: self, world: &mut world, me }.run(),
            Action::Serve(at, client) => {
                let aborted = servers[at].take(client, &mut serving);
                world.must_be_involved(aborted, at);
            }
            Action::GoOn(at) => {
                let aborted = servers[at].go_on(&mut serving);
                world.must_be_involved(aborted, at);
            }
        }
        world.forget_old_values();
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("right", |_, world: &World| world.violation.is_none()),
            Property::sometimes("retry", |_, world: &World| world.has_reply(|reply| reply == Reply::Retry)),
            Property::sometimes("refused", |_, world: &World| {
                world.has_reply(|reply| matches!(reply, Reply::Refused(_)))
            }),
            Property::sometimes("revoked", |_, world: &World| world.has_aborted()),
            Property::always("never stuck", |model: &Self, world: &World| {
                let mut actions = Vec::new();
                model.actions(world, &mut actions);
                !actions.is_empty() || world.has_ended(model.releases)
            }),
        ]
    }
}

impl World {
    /// All have run their programs, all locks are free if they are released, and the variables have the last values.
    fn has_ended(&self, releases: bool) -> bool {
        self.clients.iter().all(|client| client.at == At::Done)
            && self.servers.iter().all(|server| server.is_idle() && (server.is_free() || !releases))
            && self.history.last() == Some(&self.values)
    }
}
