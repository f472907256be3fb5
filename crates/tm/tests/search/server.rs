//! A server of the model: queues, the library's lock table and rule, and one access to a status in each step.
//!
//! The rule is plain code that asks for statuses as it goes. So that other participants move between two of these accesses, a
//! step runs the rule from the beginning, with the answers that it got in earlier steps, up to the next access.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use corecast_tm::lock_table::LockTable;
use corecast_tm::rule::{Locks, Reply, Request, Rule, Statuses};
use corecast_tm::status::{ClientId, State, Why};

use crate::protocol::Board;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Message {
    Load(Request, u32),
    Store(Request, u32),
    /// Both variables, which lie at one server.
    StoreBoth(Request),
    ReleaseAll(ClientId, u64),
    /// The end of the read lock of one variable.
    Release(ClientId, u64, u32),
    /// The values of a client that persists, of the variables of this server.
    Put(ClientId, u64, [Option<u8>; 2]),
    /// Nothing: the reply says that all before it was done.
    Empty(ClientId, u64),
}

/// A reply, and the value of the variable where values are with the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Answered {
    pub(crate) reply: Reply,
    pub(crate) value: u8,
}

/// An access to a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Access {
    Get(ClientId),
    Abort(ClientId, u64, Why),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Answer {
    Is(u64, State),
    Aborted(bool),
}

/// A transaction that a server aborted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Aborted(pub(crate) ClientId);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    table: LockTable,
    /// From each client.
    pub(crate) queues: [VecDeque<Message>; 2],
    /// To each client, that waits for it.
    pub(crate) replies: [Option<Answered>; 2],
    /// The request that it serves, and what it has seen of statuses.
    serves: Option<(Message, Vec<Answer>)>,
    /// Holders that a server with the mutation "grant before revoke" aborts late.
    late: VecDeque<Access>,
}

impl Server {
    pub(crate) fn new() -> Self {
        let mut table = LockTable::with_slots(2, 4);
        // A slot stays with its variable: both are there from the begin, so that no state differs by that.
        [0, 1].into_iter().for_each(|var| table.grant_write(var, ClientId(0)));
        table.drop_all(ClientId(0));
        let (queues, replies) = Default::default();
        Self { table, queues, replies, serves: None, late: VecDeque::new() }
    }

    /// Whether it has begun something that it can go on with by itself.
    pub(crate) fn is_busy(&self) -> bool {
        self.serves.is_some() || !self.late.is_empty()
    }

    /// Whether nobody holds a lock here.
    pub(crate) fn is_free(&self) -> bool {
        self.table.locked() == 0
    }

    /// Whether it remembers this epoch of the client, in its table, a message or what it has seen of statuses.
    pub(crate) fn remembers(&self, client: usize, epoch: u64) -> bool {
        let is_it = |message: &Message| match *message {
            Message::Load(by, _) | Message::Store(by, _) | Message::StoreBoth(by) => by.epoch == epoch,
            Message::ReleaseAll(_, of)
            | Message::Release(_, of, _)
            | Message::Put(_, of, _)
            | Message::Empty(_, of) => of == epoch,
        };
        let seen = self.serves.iter().flat_map(|(_, answers)| answers);
        self.table.claim(ClientId(client as u16)).epoch == epoch
            || self.queues[client].iter().any(is_it)
            || self.serves.iter().any(|(message, _)| is_it(message))
            || seen.into_iter().any(|answer| matches!(answer, Answer::Is(of, _) if *of == epoch))
            || self.late.iter().any(|access| matches!(access, Access::Abort(_, of, _) if *of == epoch))
    }

    /// Whether nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_busy() && self.queues.iter().all(VecDeque::is_empty)
    }

    /// Takes the next request of the client.
    pub(crate) fn take(&mut self, client: usize, serving: &mut Serving<'_>) -> Option<Aborted> {
        let message = self.queues[client].pop_front().expect("there is one");
        match message {
            Message::ReleaseAll(client, epoch) => self.table.release_all(client, epoch),
            Message::Release(client, epoch, var) => self.table.release(client, epoch, var),
            Message::Put(client, epoch, values) => serving.put(client, epoch, values),
            Message::Empty(..) => self.replies[client] = Some(Answered { reply: Reply::Granted, value: 0 }),
            Message::Load(..) | Message::Store(..) | Message::StoreBoth(..) => {
                self.serves = Some((message, Vec::new()));
                return self.go_on(serving);
            }
        }
        None
    }

    /// Makes one access to a status. Says whom it has aborted.
    pub(crate) fn go_on(&mut self, serving: &mut Serving<'_>) -> Option<Aborted> {
        if let Some(access) = self.late.pop_front() {
            return aborted(access, perform(access, serving.board));
        }
        let access = self.run(serving)?;
        let answer = perform(access, serving.board);
        self.serves.as_mut().expect("it has asked").1.push(answer);
        // Nobody sees what it does until its next access, nor when the reply goes out; that may be now.
        self.run(serving);
        aborted(access, answer)
    }

    /// Runs the rule up to its next access, which is returned, or to its end.
    fn run(&mut self, serving: &Serving<'_>) -> Option<Access> {
        let (message, answers) = self.serves.as_ref()?;
        let Serving { rule, grants_first, .. } = *serving;
        let replay = Replay { answers, grants_first, ..Replay::default() };
        let mut table = self.table.clone();
        let (client, reply, var) = match *message {
            Message::Load(by, var) => (by.client, rule.load(&mut table, &replay, by, var), Some(var)),
            Message::Store(by, var) => (by.client, rule.store(&mut table, &replay, by, var), Some(var)),
            Message::StoreBoth(by) => (by.client, rule.store_all(&mut table, &replay, by, &[0, 1]), None),
            _ => unreachable!("it was served when it came"),
        };
        let Replay { asks, late, .. } = replay;
        if let Some(access) = asks.get() {
            return Some(access);
        }
        self.late = late.into_inner();
        self.table = table;
        self.serves = None;
        let comes = var.filter(|_| reply == Reply::Granted && serving.has_values);
        let value = comes.map_or(0, |var| serving.values[var as usize]);
        self.replies[usize::from(client.0)] = Some(Answered { reply, value });
        None
    }
}

/// The memory and the rule that a server works with.
pub(crate) struct Serving<'a> {
    pub(crate) rule: Rule,
    /// A mutation.
    pub(crate) grants_first: bool,
    pub(crate) board: &'a mut Board,
    /// Whether the values are with the servers.
    pub(crate) has_values: bool,
    pub(crate) values: &'a mut [u8; 2],
}

impl Serving<'_> {
    /// Stores the values of a client that persists. Only servers read values that are with the servers, so that nobody comes
    /// between the look at the status and the stores.
    fn put(&mut self, client: ClientId, epoch: u64, values: [Option<u8>; 2]) {
        if self.board.0[usize::from(client.0)] == (epoch, State::Persisting) {
            let stored = self.values.iter_mut().zip(values);
            stored.for_each(|(to, value)| *to = value.unwrap_or(*to));
        }
    }
}

fn perform(access: Access, board: &mut Board) -> Answer {
    match access {
        Access::Get(client) => {
            let (epoch, state) = board.0[usize::from(client.0)];
            Answer::Is(epoch, state)
        }
        Access::Abort(client, epoch, _) => {
            let status = &mut board.0[usize::from(client.0)];
            let is_running = *status == (epoch, State::Running);
            if is_running {
                // Nobody acts by the reason.
                *status = (epoch, State::Aborted(Why::Raw));
            }
            Answer::Aborted(is_running)
        }
    }
}

fn aborted(access: Access, answer: Answer) -> Option<Aborted> {
    match (access, answer) {
        (Access::Abort(client, ..), Answer::Aborted(true)) => Some(Aborted(client)),
        _ => None,
    }
}

/// Statuses as the answers that were got before. The first access beyond them is noted, and all from there on get an answer that
/// leads to no further one for long; the outcome of such a run is thrown away.
#[derive(Default)]
struct Replay<'a> {
    answers: &'a [Answer],
    used: Cell<usize>,
    asks: Cell<Option<Access>>,
    grants_first: bool,
    late: RefCell<VecDeque<Access>>,
}

impl Replay<'_> {
    fn next(&self, access: Access) -> Option<Answer> {
        let answer = self.answers.get(self.used.get()).copied();
        self.used.set(self.used.get() + 1);
        if answer.is_none() && self.asks.get().is_none() {
            self.asks.set(Some(access));
        }
        answer
    }
}

impl Statuses for Replay<'_> {
    fn get(&self, client: ClientId) -> (u64, State) {
        match self.next(Access::Get(client)) {
            Some(Answer::Is(epoch, state)) => (epoch, state),
            _ => (u64::MAX, State::Committed),
        }
    }

    fn try_abort(&self, client: ClientId, epoch: u64, why: Why) -> bool {
        let access = Access::Abort(client, epoch, why);
        if self.grants_first {
            self.late.borrow_mut().push_back(access);
            return true;
        }
        self.next(access) == Some(Answer::Aborted(true))
    }
}
