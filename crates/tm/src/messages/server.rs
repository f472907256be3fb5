//! A server's end: it takes requests from whichever application has one, and decides by its own locks.

use std::sync::Arc;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::wait::Waiter;
use corecast_channel::RecvError;
use corecast_channel::select::{Select, SelectError, Subset, Token};
use corecast_channel::ump::bytes::{Receiver, Sender};

use crate::config::Values;
use crate::crash_point;
use crate::error::{OpenError, RunError};
use crate::lock_table::LockTable;
use crate::messages::links::Links;
use crate::messages::wire::{self, MOST_PUTS, MOST_VARS, OPERAND, Operation, Words};
use crate::region::Memory;
use crate::rule::{Locks, Reply, Request, Rule};
use crate::status::{ClientId, State};
use crate::tvar::MAX_BLOCK_WORDS;

/// The longest sleep without a look at whether the instance lives.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Requests between two looks at whether a server that is never without any is to end.
const LOOK_AFTER: u64 = 64;

/// The work of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerCounts {
    /// Requests, those without a reply among them.
    pub requests: u64,
    /// Locks that were granted; a batch is one.
    pub granted: u64,
    /// Requests that were refused.
    pub refused: u64,
    /// Requests that were told to ask again.
    pub retries: u64,
}

impl ServerCounts {
    fn to_words(self) -> [u64; 4] {
        [self.requests, self.granted, self.refused, self.retries]
    }

    /// The counts that came with a reply.
    pub(super) fn from_words(words: &[u64]) -> Option<Self> {
        let &[requests, granted, refused, retries, ..] = words else { return None };
        Some(Self { requests, granted, refused, retries })
    }
}

/// A server: it has the locks of its share of the variables.
#[derive(Debug)]
pub struct Server {
    memory: Arc<Memory>,
    id: ClientId,
    requests: Select<Receiver>,
    replies: Vec<Sender>,
    /// The participants, by the number of their channel.
    clients: Vec<ClientId>,
    /// Their channels of requests, in the same order.
    tokens: Vec<Token>,
    table: LockTable,
    rule: Rule,
    counts: ServerCounts,
}

impl Server {
    pub(crate) fn new(memory: Arc<Memory>, links: &Links, number: usize) -> Result<Self, OpenError> {
        let config = memory.config;
        let ends = links.of_server(&config, number)?;
        let sharing = memory.region.cpu_sharing(config.participants);
        let mut requests = Select::with_waiter(Waiter::new(config.wait, sharing, None));
        let (mut replies, mut tokens) = (Vec::new(), Vec::new());
        for end in ends {
            tokens.push(requests.add(end.requests));
            replies.push(end.replies);
        }
        let clients = config.applications().map(|id| ClientId(id as u16)).collect();
        let (table, rule) = (LockTable::new(config.participants), Rule::new(config.manager));
        let (id, counts) = (ClientId((number * config.every) as u16), ServerCounts::default());
        Ok(Self { memory, id, requests, replies, clients, tokens, table, rule, counts })
    }

    /// The number of this participant.
    #[must_use]
    pub fn id(&self) -> ClientId {
        self.id
    }

    /// Answers requests until all applications have left, or the instance is stopped. It sleeps while there are none.
    ///
    /// # Errors
    /// [`RunError::Forked`] in a forked child.
    pub fn serve(mut self) -> Result<ServerCounts, RunError> {
        self.memory.region.check_fork()?;
        let everybody = Subset::everything();
        loop {
            let received = self.requests.recv_timeout(everybody, LOOK_EVERY);
            match received.map(|(token, message)| (token.index(), message.read::<Words>())) {
                Ok((at, Some(words))) => {
                    self.answer(at, &words);
                    if self.counts.requests % LOOK_AFTER == 0 && self.memory.is_stopped() {
                        return Ok(self.counts);
                    }
                }
                // A stranger wrote it.
                Ok((_, None)) => {}
                Err(SelectError::Channel { token, error }) => self.left(token.index(), error),
                Err(SelectError::Timeout) if !self.memory.is_stopped() => self.idle(),
                Err(_) => return Ok(self.counts),
            }
        }
    }

    /// Looks for dead participants while there are no requests. The channel does not report an application that was killed before
    /// it had opened its end, so the server drops it here.
    #[cold]
    fn idle(&mut self) {
        self.table.tidy_when_idle();
        self.memory.settle_dead();
        for (client, token) in self.clients.iter().zip(&self.tokens) {
            if self.memory.has_no_successor(*client) && self.requests.remove(*token).is_some() {
                self.table.drop_all(*client);
            }
        }
    }

    /// An application is gone.
    #[cold]
    fn left(&mut self, at: usize, error: RecvError) {
        if error == RecvError::Died {
            self.memory.settle_dead();
        }
        // Locks of a client that another one settles at this moment become stale by themselves.
        let client = self.clients[at];
        let (_, state) = self.memory.status(client).read();
        if !matches!(state, State::Running | State::Persisting) {
            self.table.drop_all(client);
        }
    }

    #[inline]
    fn answer(&mut self, at: usize, words: &Words) {
        let Some((epoch, operation, count)) = wire::read_head(words[0]) else { return };
        let client = self.clients[at];
        self.counts.requests += 1;
        match operation {
            Operation::Load => self.load(at, self.request(client, epoch, words[1]), wire::var(words, 0), count),
            Operation::Store => self.store(at, self.request(client, epoch, words[1]), words, count),
            Operation::ReleaseAll => self.table.release_all(client, epoch),
            Operation::Release => self.table.release(client, epoch, wire::var(words, 0)),
            Operation::Put => self.put(client, epoch, words, count),
            Operation::Peek => {
                let value = self.values(wire::var(words, 0), 1);
                self.reply(at, Reply::Granted, &value[..1]);
            }
            Operation::Add => {
                let by = self.request(client, epoch, words[1]);
                self.change(at, by, wire::var(words, 0), |value| value.wrapping_add(words[OPERAND]));
            }
            Operation::Swap => {
                let by = self.request(client, epoch, words[1]);
                self.change(at, by, wire::var(words, 0), |_| words[OPERAND]);
            }
            Operation::Stats => self.reply(at, Reply::Granted, &self.counts.to_words()),
            Operation::Empty => self.reply(at, Reply::Granted, &[]),
        }
    }

    #[inline]
    fn request(&self, client: ClientId, epoch: u64, key: u64) -> Request {
        let manager = self.memory.config.manager;
        let now = if manager.needs_clock_at_server() { Clock::get().ticks() } else { 0 };
        Request { client, epoch, key: manager.server_key(key, now) }
    }

    /// The client waits: where nobody is in the way it has its reply before the lock is written down.
    #[inline]
    fn load(&mut self, at: usize, by: Request, var: u32, words: usize) {
        let is_free = self.table.can_read(by.client, var);
        if is_free {
            self.decided(at, Reply::Granted, var, words);
        }
        let reply = self.rule.load(&mut self.table, &*self.memory, by, var);
        if !is_free {
            self.decided(at, reply, var, words);
        }
    }

    #[inline]
    fn store(&mut self, at: usize, by: Request, words: &Words, count: usize) {
        let mut vars = [0; MOST_VARS];
        let count = count.min(MOST_VARS);
        (0..count).for_each(|at| vars[at] = wire::var(words, at));
        let vars = &vars[..count];
        let Some(&first) = vars.first() else { return };
        // Of a single variable the values come along: see the client.
        let wanted = if count == 1 { (words[2] >> 32) as usize } else { 0 };
        let is_free = vars.iter().all(|&var| self.table.can_write(by.client, var));
        if is_free {
            self.decided(at, Reply::Granted, first, wanted);
        }
        let reply = self.rule.store_all(&mut self.table, &*self.memory, by, vars);
        if !is_free {
            self.decided(at, reply, first, wanted);
        }
    }

    /// Changes one variable for a client that runs no transaction. Nobody else sees the lock, as no request comes in between; its
    /// value is seen by those only that find themselves aborted, or ask later.
    fn change(&mut self, at: usize, by: Request, var: u32, new: impl FnOnce(u64) -> u64) {
        // An index beyond the variables is a stranger's.
        let reply = if var < self.memory.config.variables {
            self.rule.store(&mut self.table, &*self.memory, by, var)
        } else {
            Reply::Retry
        };
        let old = self.values(var, 1);
        if reply == Reply::Granted {
            crash_point::here("changing");
            self.memory.store(var, new(old[0]));
            crash_point::here("changed");
            self.table.drop_all(by.client);
        }
        self.count(reply);
        self.reply(at, reply, &old[..1]);
    }

    #[inline]
    fn decided(&mut self, at: usize, reply: Reply, var: u32, words: usize) {
        self.count(reply);
        if reply == Reply::Granted && self.memory.config.values == Values::AtServers {
            let (values, words) = (self.values(var, words), words.min(MAX_BLOCK_WORDS));
            return self.reply(at, reply, &values[..words]);
        }
        self.reply(at, reply, &[]);
    }

    #[inline]
    fn count(&mut self, reply: Reply) {
        match reply {
            Reply::Granted => self.counts.granted += 1,
            Reply::Retry => self.counts.retries += 1,
            Reply::Refused(_) => self.counts.refused += 1,
        }
    }

    /// Values from a variable on, as far as there are any.
    fn values(&self, var: u32, words: usize) -> [u64; MAX_BLOCK_WORDS] {
        let mut values = [0; MAX_BLOCK_WORDS];
        let indices = var..self.memory.config.variables;
        values.iter_mut().zip(indices).take(words).for_each(|(value, index)| *value = self.memory.load(index));
        values
    }

    /// Stores the values of a client that persists, unless it was killed and another one has done so.
    fn put(&mut self, client: ClientId, epoch: u64, words: &Words, count: usize) {
        if self.memory.status(client).read() != (epoch, State::Persisting) {
            return;
        }
        for (var, value) in (0..count.min(MOST_PUTS)).map(|at| wire::put_at(words, at)) {
            if var < self.memory.config.variables {
                self.memory.store(var, value);
                crash_point::here("put-stored");
            }
        }
    }

    #[inline]
    fn reply(&mut self, at: usize, reply: Reply, values: &[u64]) {
        // One that has gone without waiting for it needs it no more.
        let Ok(mut room) = self.replies[at].reserve(8 + 8 * values.len()) else { return };
        let mut bytes = room.bytes();
        bytes.write_values_at(0, &[wire::answer(reply)]);
        if !values.is_empty() {
            bytes.write_values_at(8, values);
        }
        room.commit();
    }
}

impl Drop for Server {
    /// It ends, and is not dead: a process that leaves without this, as it was killed, poisons the instance. Its locks are gone,
    /// so that nobody can take its place.
    fn drop(&mut self) {
        // In a forked child it is the parent's.
        if self.memory.region.check_fork().is_ok() {
            self.memory.retire(self.id.index());
        }
    }
}
