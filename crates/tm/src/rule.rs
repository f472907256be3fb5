//! The rule by which a server grants and refuses locks on variables: plain code without threads, clocks or messages.
//!
//! The server of the message form, the requesters of the shared form and the explicit search of the protocol all run this code;
//! they differ in [`Locks`], where the locks lie, and in [`Statuses`], how the status of a transaction is read.
//!
//! - A read lock goes with read locks, a write lock with no lock of another client. The lock covers one variable.
//! - A request that conflicts attacks the holders. Those that have ended, or run another transaction by now, lose their locks
//!   here. If one of the others stores its values at the moment, the answer is [`Reply::Retry`]: it ends by itself. If the
//!   manager lets the requester beat all of them, they are aborted by their statuses and lose their locks here; else the
//!   requester is refused and loses its own here.
//! - A holder is aborted *before* its lock goes to another client. So a value that was written under the lock is seen only by
//!   transactions that find themselves aborted if they look at their status afterwards.
//!
//! Departures from TM2C (Gramoli, Guerraoui, Trigonakis, EuroSys 2012): its server spins while a victim persists, which stalls
//! its other clients; its statuses have no epoch, so that a late abort may hit the victim's next transaction; and it aborts
//! victims one after the other, where this one first looks whether the requester beats them all.

use crate::client_set::ClientSet;
use crate::manager::Manager;
use crate::status::{ClientId, State, Why};

/// The statuses of all transactions.
pub trait Statuses {
    /// The epoch and the state of the client's transaction. Whatever the client did before it entered that state has happened
    /// before the call returns: an implementation over atomics loads with Acquire.
    fn get(&self, client: ClientId) -> (u64, State);

    /// Aborts the client's transaction if it is still `epoch`, and running. Tells whether it did.
    fn try_abort(&self, client: ClientId, epoch: u64, why: Why) -> bool;
}

/// The locks that one server keeps, or those that lie in one place of the shared form.
pub trait Locks {
    /// A request arrives. Locks that its client holds here under another epoch are dropped: that transaction has ended. Returns
    /// the request with the key that counts: the first one of this transaction here.
    fn admit(&mut self, request: Request) -> Request;

    /// The epoch under which the client holds locks here, and the key of that transaction.
    fn claim(&self, client: ClientId) -> Claim;

    /// The client that holds the write lock of the variable.
    fn writer(&self, var: u32) -> Option<ClientId>;

    /// Adds to `readers` the clients that hold the read lock of the variable.
    fn add_readers(&self, var: u32, readers: &mut ClientSet);

    /// The client holds the read lock of the variable from now on.
    fn grant_read(&mut self, var: u32, client: ClientId);

    /// The client holds the write lock of the variable from now on. Nobody else does.
    fn grant_write(&mut self, var: u32, client: ClientId);

    /// The client holds no lock here from now on.
    fn drop_all(&mut self, client: ClientId);
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request {
    /// The client.
    pub client: ClientId,
    /// Its transaction.
    pub epoch: u64,
    /// The key of that transaction, after [`Manager::server_key`].
    pub key: u64,
}

/// The transaction under which a client holds locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Claim {
    /// Its epoch.
    pub epoch: u64,
    /// Its key.
    pub key: u64,
}

/// The answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reply {
    /// The requester holds the lock, or all of them.
    Granted,
    /// Nothing has changed for the requester. A holder is about to end: ask again after a while.
    Retry,
    /// The requester holds no lock here any more, and its transaction must abort.
    Refused(Why),
}

/// The rule with one contention manager.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Rule {
    manager: Manager,
}

/// The clients that stand in the way of a request: writers first, so that they name the reason.
struct Holders {
    writers: ClientSet,
    why_writers: Why,
    /// None of them is among the writers.
    readers: ClientSet,
}

impl Rule {
    /// The rule with this manager.
    #[must_use]
    pub const fn new(manager: Manager) -> Self {
        Self { manager }
    }

    /// LOAD: the read lock of a variable.
    #[inline]
    pub fn load(&self, locks: &mut impl Locks, statuses: &impl Statuses, request: Request, var: u32) -> Reply {
        let request = locks.admit(request);
        let client = request.client;
        if let Some(writer) = locks.writer(var).filter(|writer| *writer != client) {
            let mut holders = Holders::new(Why::Raw);
            holders.writers.insert(writer);
            if let Err(reply) = self.attack(locks, statuses, request, holders) {
                return reply;
            }
        }
        locks.grant_read(var, client);
        Reply::Granted
    }

    /// STORE: the write lock of a variable.
    #[inline]
    pub fn store(&self, locks: &mut impl Locks, statuses: &impl Statuses, request: Request, var: u32) -> Reply {
        self.store_all(locks, statuses, request, &[var])
    }

    /// STORE of several variables: all of their write locks, or none.
    pub fn store_all(&self, locks: &mut impl Locks, statuses: &impl Statuses, request: Request, vars: &[u32]) -> Reply {
        let request = locks.admit(request);
        let client = request.client;
        let mut holders = Holders::new(Why::Waw);
        for &var in vars {
            holders.writers.insert(locks.writer(var).unwrap_or(client));
            locks.add_readers(var, &mut holders.readers);
        }
        holders.writers.remove(client);
        holders.readers.remove(client);
        if !(holders.writers.is_empty() && holders.readers.is_empty()) {
            if let Err(reply) = self.attack(locks, statuses, request, holders) {
                return reply;
            }
        }
        vars.iter().for_each(|var| locks.grant_write(*var, client));
        Reply::Granted
    }

    /// Takes the locks of all holders away, or says why not.
    #[cold]
    fn attack<L: Locks, S: Statuses>(
        &self,
        locks: &mut L,
        statuses: &S,
        request: Request,
        mut holders: Holders,
    ) -> Result<(), Reply> {
        holders.keep_live(locks, statuses).map_err(|Persisting| Reply::Retry)?;
        for (holder, why) in holders.iter() {
            let other = locks.claim(holder);
            if !self.manager.beats(request.key, request.client, other.key, holder) {
                locks.drop_all(request.client);
                return Err(Reply::Refused(why));
            }
        }
        for (holder, why) in holders.iter() {
            if !statuses.try_abort(holder, locks.claim(holder).epoch, why) {
                // It persists, or has ended, since it was looked at.
                return Err(Reply::Retry);
            }
            locks.drop_all(holder);
        }
        Ok(())
    }
}

/// One of the holders stores its values.
struct Persisting;

impl Holders {
    fn new(why_writers: Why) -> Self {
        Self { writers: ClientSet::default(), why_writers, readers: ClientSet::default() }
    }

    /// Each holder once, with the reason that it gives for a conflict.
    fn iter(&self) -> impl Iterator<Item = (ClientId, Why)> + use<> {
        let (writers, why_writers) = (self.writers, self.why_writers);
        let readers = self.readers.iter().filter(move |reader| !writers.contains(*reader));
        writers.iter().map(move |writer| (writer, why_writers)).chain(readers.map(|reader| (reader, Why::War)))
    }

    /// Drops the locks of those whose transaction is not the one that runs, and leaves the others.
    fn keep_live<L: Locks, S: Statuses>(&mut self, locks: &mut L, statuses: &S) -> Result<(), Persisting> {
        let mut any_persists = false;
        for (holder, _) in self.iter() {
            let (epoch, state) = statuses.get(holder);
            let is_same = epoch == locks.claim(holder).epoch;
            match state {
                State::Persisting if is_same => any_persists = true,
                State::Running if is_same => {}
                _ => {
                    locks.drop_all(holder);
                    self.writers.remove(holder);
                    self.readers.remove(holder);
                }
            }
        }
        if any_persists { Err(Persisting) } else { Ok(()) }
    }
}
