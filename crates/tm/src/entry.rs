//! The locks of one variable, as a value: for the shared form, where a requester copies them out of shared memory, applies the
//! rule, and writes them back, all under the lock of their bucket.

use crate::client_set::ClientSet;
use crate::rule::{Claim, Locks, Reply, Request, Rule, Statuses};
use crate::status::ClientId;

/// The locks of one variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Entry {
    /// The client that holds the write lock.
    pub writer: Option<ClientId>,
    /// The clients that hold the read lock.
    pub readers: ClientSet,
}

/// Where the transactions of holders are told.
pub trait Holders {
    /// The transaction under which the client holds its locks. It holds one now, and ends its transaction only after it has
    /// given back all of them.
    fn holder(&self, client: ClientId) -> Claim;
}

impl Entry {
    /// LOAD of this variable. A holder that is aborted or has ended loses this lock only: it gives back the others itself, and so
    /// does a requester that is refused.
    #[inline]
    pub fn load(&mut self, rule: Rule, holders: &impl Holders, statuses: &impl Statuses, request: Request) -> Reply {
        rule.load(&mut One { entry: self, holders }, statuses, request, 0)
    }

    /// STORE of this variable; else as [`load`](Self::load).
    #[inline]
    pub fn store(&mut self, rule: Rule, holders: &impl Holders, statuses: &impl Statuses, request: Request) -> Reply {
        rule.store(&mut One { entry: self, holders }, statuses, request, 0)
    }

    /// The client holds no lock of this variable from now on.
    #[inline]
    pub fn drop_locks(&mut self, client: ClientId) {
        self.readers.remove(client);
        self.writer = self.writer.filter(|writer| *writer != client);
    }

    /// Whether nobody holds a lock of this variable.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.writer.is_none() && self.readers.is_empty()
    }
}

/// The entry as a place with one variable.
struct One<'a, H> {
    entry: &'a mut Entry,
    holders: &'a H,
}

impl<H: Holders> Locks for One<'_, H> {
    #[inline]
    fn admit(&mut self, request: Request) -> Request {
        request
    }

    #[inline]
    fn claim(&self, client: ClientId) -> Claim {
        self.holders.holder(client)
    }

    #[inline]
    fn writer(&self, _var: u32) -> Option<ClientId> {
        self.entry.writer
    }

    #[inline]
    fn add_readers(&self, _var: u32, readers: &mut ClientSet) {
        readers.insert_words(self.entry.readers.words());
    }

    #[inline]
    fn grant_read(&mut self, _var: u32, client: ClientId) {
        self.entry.readers.insert(client);
    }

    #[inline]
    fn grant_write(&mut self, _var: u32, client: ClientId) {
        self.entry.writer = Some(client);
    }

    #[inline]
    fn drop_all(&mut self, client: ClientId) {
        self.entry.drop_locks(client);
    }
}
