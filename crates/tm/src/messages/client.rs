//! An application's end: it asks the server of a variable, and waits for the reply.

use std::sync::Arc;
use std::time::Duration;

use corecast_channel::{RecvError, RecvTimeoutError};

use crate::client_set::ClientSet;
use crate::crash_point;
use crate::error::{OpenError, RunError};
use crate::messages::links::{ClientEnds, Links};
use crate::messages::server::ServerCounts;
use crate::messages::wire::{self, MOST_PUTS, Operation, Words};
use crate::region::Memory;
use crate::rule::{Reply, Request};
use crate::status::ClientId;
use crate::tvar::MAX_BLOCK_WORDS;

/// The locks from which on servers are told that they were given back.
const MANY_LOCKS: usize = 64;
/// The longest wait for a reply without a look at whether the instance lives.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A change of one variable outside transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    /// The value grows by this, modulo 2^64.
    Add(u64),
    /// The value becomes this.
    Swap(u64),
}

/// The values that came with a reply.
pub(crate) type Came = [u64; MAX_BLOCK_WORDS];

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct MessageClient {
    memory: Arc<Memory>,
    servers: Vec<ClientEnds>,
    /// The servers that were asked for a lock in this attempt.
    contacted: ClientSet,
    /// Why it stopped waiting for a reply. That one may still come, and would be taken for the answer to another request: it asks
    /// nothing any more.
    retired: Option<RunError>,
}

impl MessageClient {
    /// The end of the application with this number among the applications.
    pub(crate) fn new(memory: Arc<Memory>, links: &Links, application: usize) -> Result<Self, OpenError> {
        let servers = links.of_client(&memory.config, application)?;
        Ok(Self { memory, servers, contacted: ClientSet::default(), retired: None })
    }

    /// The server that has the lock of a variable.
    #[inline]
    pub(crate) fn server_of(&self, lock: u32) -> usize {
        self.memory.config.server_of(lock, self.servers.len())
    }

    /// Asks for the read lock of a variable, and for `words` values where they are with the servers.
    #[inline]
    pub(crate) fn load(&mut self, by: Request, lock: u32, words: usize, came: &mut Came) -> Result<Reply, RunError> {
        let request = wire::request(by.epoch, Operation::Load, by.key, &[lock], words);
        self.ask_for_locks(&[lock], &request, came, |_| ())
    }

    /// Asks one server for the write locks of variables; for the values of a single one, too.
    #[inline]
    pub(crate) fn store(
        &mut self,
        by: Request,
        locks: &[u32],
        words: usize,
        came: &mut Came,
    ) -> Result<Reply, RunError> {
        let mut request = wire::request(by.epoch, Operation::Store, by.key, locks, locks.len());
        if let [_] = locks {
            // The place of the second variable says how many values are asked for.
            request[2] |= (words as u64) << 32;
        }
        // The lines of values that are about to be written come while the server answers.
        self.ask_for_locks(locks, &request, came, |memory| locks.iter().for_each(|&lock| memory.prepare(lock)))
    }

    #[inline]
    fn ask_for_locks(
        &mut self,
        locks: &[u32],
        request: &Words,
        came: &mut Came,
        meanwhile: impl FnOnce(&Memory),
    ) -> Result<Reply, RunError> {
        let server = self.server_of(locks[0]);
        self.send(server, request)?;
        meanwhile(&self.memory);
        let reply = self.receive(server, came)?;
        // One that refuses has dropped all locks.
        let number = ClientId(server as u16);
        match reply {
            Reply::Refused(_) => self.contacted.remove(number),
            _ => self.contacted.insert(number),
        }
        Ok(reply)
    }

    /// The value of a variable, without a lock.
    pub(crate) fn peek(&mut self, epoch: u64, var: u32) -> Result<u64, RunError> {
        let mut came = Came::default();
        let request = wire::request(epoch, Operation::Peek, 0, &[var], 1);
        self.ask(self.server_of(var), &request, &mut came)?;
        Ok(came[0])
    }

    /// Changes one variable outside transactions: the answer, and the old value if it was granted.
    pub(crate) fn change(&mut self, by: Request, var: u32, change: Change) -> Result<(Reply, u64), RunError> {
        let mut came = Came::default();
        let (operation, operand) = match change {
            Change::Add(operand) => (Operation::Add, operand),
            Change::Swap(operand) => (Operation::Swap, operand),
        };
        let request = wire::change(by.epoch, operation, by.key, var, operand);
        let reply = self.ask(self.server_of(var), &request, &mut came)?;
        Ok((reply, came[0]))
    }

    /// The counts of a server.
    pub(crate) fn stats(&mut self, server: usize) -> Result<ServerCounts, RunError> {
        let mut came = Came::default();
        let request = wire::request(0, Operation::Stats, 0, &[], 0);
        self.ask(server % self.servers.len(), &request, &mut came)?;
        Ok(ServerCounts::from_words(&came).expect("a reply has room for more"))
    }

    /// A round trip to the server of this number that does nothing.
    pub(crate) fn ping(&mut self, server: usize) -> Result<(), RunError> {
        let request = wire::request(0, Operation::Empty, 0, &[], 0);
        self.ask(server % self.servers.len(), &request, &mut Came::default()).map(|_| ())
    }

    /// Gives one read lock back.
    pub(crate) fn release(&mut self, epoch: u64, lock: u32) -> Result<(), RunError> {
        let request = wire::request(epoch, Operation::Release, 0, &[lock], 1);
        self.tell(self.server_of(lock), &request)
    }

    /// Ends an attempt that asked for `locks` locks, and whose status says so. That alone makes them stale: a server drops them
    /// with the client's next request, or with the first one that meets them. Only of many locks it is told, so that nobody waits
    /// while it drops them. (TM2C tells it always: one more message for each server and transaction.)
    #[inline]
    pub(crate) fn end(&mut self, epoch: u64, locks: usize) {
        if locks < MANY_LOCKS {
            self.contacted = ClientSet::default();
        } else {
            self.release_all(epoch);
        }
    }

    #[cold]
    fn release_all(&mut self, epoch: u64) {
        let request = wire::request(epoch, Operation::ReleaseAll, 0, &[], 0);
        let contacted = std::mem::take(&mut self.contacted);
        for server in contacted.iter() {
            // A server that is gone has taken its locks along; the next request notices.
            let _gone = self.tell(server.index(), &request);
        }
    }

    /// Sends the values of a persisting attempt to their servers, and waits until all are stored. The locks stay: if this process
    /// is killed in between, another one stores all values once more. On an error some are stored, and some may not be.
    pub(crate) fn put_all(&mut self, epoch: u64, writes: &mut [(u32, u64, u32)]) -> Result<(), RunError> {
        writes.sort_unstable_by_key(|&(_, _, lock)| self.memory.config.server_of(lock, self.servers.len()));
        let mut rest = &*writes;
        while let Some(&(_, _, lock)) = rest.first() {
            let server = self.server_of(lock);
            let mine = rest.iter().take_while(|&&(_, _, lock)| self.server_of(lock) == server).count();
            let (now, later) = rest.split_at(mine);
            for chunk in now.chunks(MOST_PUTS) {
                let mut values = [(0, 0); MOST_PUTS];
                values.iter_mut().zip(chunk).for_each(|(to, &(var, value, _))| *to = (var, value));
                self.tell(server, &wire::put(epoch, &values[..chunk.len()]))?;
                crash_point::here("put");
            }
            self.ping(server)?;
            crash_point::here("put-answered");
            rest = later;
        }
        Ok(())
    }

    #[inline]
    fn tell(&mut self, server: usize, request: &Words) -> Result<(), RunError> {
        match self.servers[server].requests.reserve(size_of::<Words>()) {
            Ok(mut room) => {
                room.write(request);
                room.commit();
                Ok(())
            }
            Err(error) => {
                Err(self.lost(server, error.to_string(), matches!(error, corecast_channel::SendError::Died(()))))
            }
        }
    }

    #[inline]
    fn ask(&mut self, server: usize, request: &Words, came: &mut Came) -> Result<Reply, RunError> {
        self.send(server, request)?;
        self.receive(server, came)
    }

    /// Sends a request that has a reply.
    #[inline]
    fn send(&mut self, server: usize, request: &Words) -> Result<(), RunError> {
        match &self.retired {
            Some(error) => Err(error.clone()),
            None => self.tell(server, request),
        }
    }

    /// Waits for the reply.
    #[inline]
    fn receive(&mut self, server: usize, came: &mut Came) -> Result<Reply, RunError> {
        loop {
            let error = match self.servers[server].replies.recv_timeout(LOOK_EVERY) {
                Ok(reply) => {
                    let words = reply.len() / 8;
                    let mut first = [0];
                    reply.read_values_at(0, &mut first[..words.min(1)]);
                    if words > 1 {
                        reply.read_values_at(8, &mut came[..(words - 1).min(MAX_BLOCK_WORDS)]);
                    }
                    return wire::read_answer(first[0]);
                }
                Err(error) => error,
            };
            self.look_around(server, error).inspect_err(|error| self.retired = Some(error.clone()))?;
        }
    }

    #[cold]
    fn look_around(&mut self, server: usize, error: RecvTimeoutError) -> Result<(), RunError> {
        match error {
            RecvTimeoutError::Timeout if self.memory.is_stopped() => Err(RunError::Stopped),
            RecvTimeoutError::Timeout => {
                // The channel does not report a process that was killed before it had opened its end.
                self.memory.settle_dead();
                self.memory.check_usable()
            }
            RecvTimeoutError::Failed(error) => {
                Err(self.lost(server, error.to_string(), matches!(error, RecvError::Died)))
            }
            other => Err(RunError::Channel(other.to_string())),
        }
    }

    /// Why a server answers no more.
    #[cold]
    fn lost(&self, server: usize, error: String, has_died: bool) -> RunError {
        let by = ClientId((server * self.memory.config.every) as u16);
        if has_died && !self.memory.is_stopped() {
            self.memory.poison(by);
        }
        match self.memory.check_usable() {
            Err(error) => error,
            Ok(()) if error.contains("nonsense") => RunError::Channel(error),
            Ok(()) => RunError::Stopped,
        }
    }
}
