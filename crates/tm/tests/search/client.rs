//! A participant of the model: transactions of reads and writes, one access to shared memory in each step.

use corecast_tm::rule::{Reply, Request};
use corecast_tm::status::{ClientId, State};

use crate::protocol::{Mutation, Protocol, World};
use crate::server::{Answered, Message};

/// A step of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Reads the variable.
    Read(u32),
    /// Gives the variable a value that nobody else gives it; the lock is taken at the commit.
    Write(u32),
    /// The same; the lock is taken at once.
    WriteNow(u32),
    /// Takes the write lock, reads, and gives it a value.
    Update(u32),
    /// Gives the read lock of the variable back before the end, and rests on its value no more.
    Release(u32),
}

impl Op {
    fn var(self) -> u32 {
        let (Self::Read(var) | Self::Write(var) | Self::WriteNow(var) | Self::Update(var) | Self::Release(var)) = self;
        var
    }
}

/// The next step of a client: an access to shared memory, or a reply that it waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum At {
    /// Sets its status.
    Begin,
    /// Looks at its status, and sends the request of this step of the transaction.
    Ask(usize),
    /// Waits for the reply; granted, it goes on.
    Answered(usize),
    /// Looks at its status after it has copied the value.
    Copied(usize, u32),
    /// Looks at its status, and asks for the lock of the variable at this place of the write set.
    AskCommit(usize),
    AnsweredCommit(usize),
    /// Waits for the reply to a request for all of its write set.
    AnsweredBatch,
    /// Ends the time in which it can be aborted.
    Seal,
    /// Stores the value at this place of the write set.
    Persist(usize),
    /// Waits for the servers from this one on to store their values.
    AnsweredPut(usize),
    /// Sets its status to committed.
    Finish,
    /// Has run all of its transactions, or has given one up.
    Done,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Client {
    pub(crate) at: At,
    /// The epoch of the attempt, but for a mutation: the least one from 1 on that the world holds nowhere of this client. Epochs
    /// are only compared for equality, so that another unused one changes nothing but the number of states.
    attempt: u64,
    /// The place of its transaction in the program, and how often that was aborted.
    transaction: usize,
    aborts: u8,
    commits: u64,
    /// The values that it has read, by variable.
    pub(crate) reads: [Option<u8>; 2],
    writes: Vec<(u32, u8)>,
    /// Variables that it has locked, to read and to write.
    locked: [bool; 2],
    written: [bool; 2],
    /// Servers that it has sent a request in this attempt.
    pub(crate) contacted: [bool; 2],
    /// The place in the history of values at which this attempt began, 0 between attempts.
    pub(crate) since: usize,
}

impl Client {
    pub(crate) fn new() -> Self {
        Self {
            at: At::Begin,
            attempt: 0,
            transaction: 0,
            aborts: 0,
            commits: 0,
            reads: [None; 2],
            writes: Vec::new(),
            locked: [false; 2],
            written: [false; 2],
            contacted: [false; 2],
            since: 0,
        }
    }

    /// Whether it is within an attempt.
    pub(crate) fn is_active(&self) -> bool {
        !matches!(self.at, At::Begin | At::Done)
    }

    /// Between attempts: nothing of the last one is left, so that two that differed in it are one state.
    fn ends_attempt(&mut self, at: At) {
        let Self { transaction, aborts, commits, .. } = *self;
        *self = Self { at, transaction, aborts, commits, ..Self::new() };
    }
}

/// One step of a client.
pub(crate) struct Step<'a> {
    pub(crate) protocol: &'a Protocol,
    pub(crate) world: &'a mut World,
    pub(crate) me: usize,
}

impl Step<'_> {
    fn client(&mut self) -> &mut Client {
        &mut self.world.clients[self.me]
    }

    /// The server that has the variable.
    fn server_of(&self, var: u32) -> usize {
        self.protocol.server_of(var)
    }

    fn program(&self) -> &'static [Op] {
        self.protocol.programs[self.me][self.world.clients[self.me].transaction]
    }

    fn epoch(&self) -> u64 {
        if self.protocol.mutation == Mutation::NoEpoch { 1 } else { self.world.clients[self.me].attempt }
    }

    fn is_running(&self) -> bool {
        self.world.board.0[self.me] == (self.epoch(), State::Running)
    }

    pub(crate) fn run(&mut self) {
        match self.client().at {
            At::Begin => self.begin(),
            At::Ask(op) => self.ask(op),
            At::Answered(op) => self.answered(op),
            At::Copied(op, var) => {
                if self.is_running() {
                    self.returns(op, var);
                } else {
                    self.abort(None);
                }
            }
            At::AskCommit(place) => self.ask_commit(place),
            At::AnsweredCommit(place) => self.answered_commit(place),
            At::AnsweredBatch => self.answered_batch(),
            At::Seal => self.seal(),
            At::Persist(place) => self.persist(place),
            At::AnsweredPut(server) => {
                self.take_reply();
                self.put(server + 1);
            }
            At::Finish => {
                self.world.board.0[self.me] = (self.epoch(), State::Committed);
                self.committed();
            }
            At::Done => unreachable!("it has no step"),
        }
    }

    fn begin(&mut self) {
        let since = self.world.history.len() - 1;
        let attempt = self.world.unused_epoch(self.me);
        let client = self.client();
        client.attempt = attempt;
        client.since = since;
        self.world.board.0[self.me] = (self.epoch(), State::Running);
        self.goto(0);
    }

    /// Goes to a step of the transaction: buffers writes on the way, up to the next access.
    fn goto(&mut self, mut op: usize) {
        let program = self.program();
        while let Some(Op::Write(var)) = program.get(op) {
            self.write(*var);
            op += 1;
        }
        let is_lazy = |client: &Client| client.writes.iter().any(|(var, _)| !client.written[*var as usize]);
        let client = self.client();
        client.at = match program.get(op) {
            Some(_) => At::Ask(op),
            None if is_lazy(client) => At::AskCommit(0),
            None => At::Seal,
        };
    }

    fn write(&mut self, var: u32) {
        let value = (self.me as u8 + 1) * 16 + self.world.clients[self.me].transaction as u8;
        self.client().writes.push((var, value));
    }

    fn ask(&mut self, op: usize) {
        if !self.is_running() {
            return self.abort(None);
        }
        let (is_read, var) = (matches!(self.program()[op], Op::Read(_)), self.program()[op].var());
        if let Op::Release(_) = self.program()[op] {
            self.release_early(var);
            return self.goto(op + 1);
        }
        self.send(var, is_read);
        self.client().at = At::Answered(op);
    }

    /// Of a variable that it writes nothing happens.
    fn release_early(&mut self, var: u32) {
        let (me, epoch, at) = (ClientId(self.me as u16), self.epoch(), var as usize);
        let rests_on_it = self.protocol.mutation == Mutation::RestsOnReleased;
        let client = self.client();
        let is_written = client.written[at] || client.writes.iter().any(|(other, _)| *other == var);
        if is_written || !std::mem::take(&mut client.locked[at]) {
            return;
        }
        if !rests_on_it {
            client.reads[at] = None;
        }
        let server = self.server_of(var);
        self.world.servers[server].queues[self.me].push_back(Message::Release(me, epoch, var));
    }

    fn send(&mut self, var: u32, is_read: bool) {
        let request = self.request();
        let message = if is_read { Message::Load(request, var) } else { Message::Store(request, var) };
        self.send_to(self.server_of(var), message);
    }

    fn request(&self) -> Request {
        let key = self.world.clients[self.me].commits;
        Request { client: ClientId(self.me as u16), epoch: self.epoch(), key }
    }

    fn send_to(&mut self, server: usize, message: Message) {
        self.client().contacted[server] = true;
        self.world.servers[server].queues[self.me].push_back(message);
    }

    /// The server that it waits for, if it waits.
    pub(crate) fn waits_for(protocol: &Protocol, client: &Client, me: usize) -> Option<usize> {
        match client.at {
            At::Answered(op) => Some(protocol.server_of(protocol.programs[me][client.transaction][op].var())),
            At::AnsweredCommit(place) => Some(protocol.server_of(client.writes[place].0)),
            At::AnsweredBatch => Some(0),
            At::AnsweredPut(server) => Some(server),
            _ => None,
        }
    }

    fn take_reply(&mut self) -> Answered {
        let from = Self::waits_for(self.protocol, &self.world.clients[self.me], self.me).expect("it waits");
        self.world.servers[from].replies[self.me].take().expect("it has come")
    }

    fn answered(&mut self, op: usize) {
        let (program, Answered { reply, value: came }) = (self.program(), self.take_reply());
        let var = program[op].var();
        match reply {
            Reply::Refused(_) => return self.abort(Some(self.server_of(var))),
            Reply::Retry => {
                // The look at the status before it asks again is the step.
                return self.ask(op);
            }
            Reply::Granted => {}
        }
        let me = self.me;
        if let Op::WriteNow(_) | Op::Update(_) = program[op] {
            self.client().written[var as usize] = true;
        }
        if let Op::WriteNow(_) = program[op] {
            self.write(var);
            return self.goto(op + 1);
        }
        let value = if self.protocol.has_values_at_servers { came } else { self.world.values[var as usize] };
        self.world.clients[me].locked[var as usize] = true;
        self.world.clients[me].reads[var as usize] = Some(value);
        if self.protocol.mutation == Mutation::NoCheckAfterCopy {
            return self.returns(op, var);
        }
        self.client().at = At::Copied(op, var);
    }

    /// The closure gets the value.
    fn returns(&mut self, op: usize, var: u32) {
        self.world.must_be_consistent(self.me);
        if let Op::Update(_) = self.program()[op] {
            self.write(var);
        }
        self.goto(op + 1);
    }

    fn ask_commit(&mut self, place: usize) {
        let client = self.client();
        let Some(&(var, _)) = client.writes.get(place) else {
            return self.seal();
        };
        if client.written[var as usize] {
            return self.ask_commit(place + 1);
        }
        if !self.is_running() {
            return self.abort(None);
        }
        if self.protocol.is_batched {
            self.send_to(0, Message::StoreBoth(self.request()));
            self.client().at = At::AnsweredBatch;
            return;
        }
        self.send(var, false);
        self.client().at = At::AnsweredCommit(place);
    }

    fn answered_batch(&mut self) {
        let reply = self.take_reply().reply;
        match reply {
            Reply::Refused(_) => self.abort(Some(0)),
            Reply::Retry => self.ask_commit(0),
            Reply::Granted => self.seal(),
        }
    }

    fn answered_commit(&mut self, place: usize) {
        let var = self.client().writes[place].0;
        let reply = self.take_reply().reply;
        match reply {
            Reply::Refused(_) => self.abort(Some(self.server_of(var))),
            Reply::Retry => self.ask_commit(place),
            Reply::Granted => {
                self.client().written[var as usize] = true;
                self.ask_commit(place + 1);
            }
        }
    }

    fn seal(&mut self) {
        if !self.is_running() {
            return self.abort(None);
        }
        let epoch = self.epoch();
        self.world.must_be_current(self.me);
        let writes = self.world.clients[self.me].writes.clone();
        if writes.is_empty() {
            self.world.board.0[self.me] = (epoch, State::Committed);
            return self.committed();
        }
        self.world.board.0[self.me] = (epoch, State::Persisting);
        let mut after = *self.world.history.last().expect("it begins with one");
        writes.iter().for_each(|(var, value)| after[*var as usize] = *value);
        self.world.history.push(after);
        if self.protocol.has_values_at_servers {
            return self.put(0);
        }
        self.client().at = At::Persist(0);
    }

    /// Sends the values of the servers from this one on to the first of them that has any, and waits for its answer.
    fn put(&mut self, first: usize) {
        let (client, epoch) = (ClientId(self.me as u16), self.epoch());
        for server in first..2 {
            let mut values = [None; 2];
            let writes = self.world.clients[self.me].writes.iter();
            let here = writes.filter(|(var, _)| self.server_of(*var) == server);
            here.for_each(|(var, value)| values[*var as usize] = Some(*value));
            if values == [None; 2] {
                continue;
            }
            let queue = &mut self.world.servers[server].queues[self.me];
            queue.push_back(Message::Put(client, epoch, values));
            if self.protocol.mutation != Mutation::NoWaitForPuts {
                queue.push_back(Message::Empty(client, epoch));
                self.client().at = At::AnsweredPut(server);
                return;
            }
        }
        self.client().at = At::Finish;
    }

    fn persist(&mut self, place: usize) {
        let (var, value) = self.client().writes[place];
        self.world.values[var as usize] = value;
        let is_last = place + 1 == self.client().writes.len();
        self.client().at = if is_last { At::Finish } else { At::Persist(place + 1) };
    }

    fn committed(&mut self) {
        self.release(None);
        let all = self.protocol.programs[self.me].len();
        let client = self.client();
        client.commits += 1;
        client.transaction += 1;
        client.aborts = 0;
        client.ends_attempt(if client.transaction == all { At::Done } else { At::Begin });
    }

    /// The end of its status is the step; then it releases its locks, as the library does.
    fn abort(&mut self, refuser: Option<usize>) {
        self.world.board.0[self.me] = (self.epoch(), State::Committed);
        self.release(refuser);
        let most = self.protocol.aborts;
        let client = self.client();
        client.aborts += 1;
        client.ends_attempt(if client.aborts > most { At::Done } else { At::Begin });
    }

    fn release(&mut self, refuser: Option<usize>) {
        if !self.protocol.releases {
            return;
        }
        let message = Message::ReleaseAll(ClientId(self.me as u16), self.epoch());
        let contacted = self.client().contacted;
        for server in (0..2).filter(|server| contacted[*server] && refuser != Some(*server)) {
            self.world.servers[server].queues[self.me].push_back(message);
        }
    }
}
