//! The locks that one server keeps: which client holds which variable.
//!
//! Open addressing in one array of words. A slot is the variable with its writer, and one bit for each client that reads it: 16
//! bytes where there are at most 64 clients, four slots to a line. For each client the table knows its transaction and the slots
//! of what it holds, so that an end or an abort costs no search.
//!
//! A slot whose last lock goes stays with its variable, as the same clients often come back to it. When three quarters of the
//! slots are taken, the table is built anew without those, twice as large if half of it is locked; and, by
//! [`tidy_when_idle`](LockTable::tidy_when_idle), before that where the server has nothing else to do.
//!
//! TM2C has 64 chained buckets of a line with three entries each.

use crate::client_set::ClientSet;
use crate::rule::{Claim, Locks, Request};
use crate::status::ClientId;

/// The first size of the table, in slots.
const FIRST_SLOTS: usize = 256;
/// In the first word of a slot: it is taken.
const TAKEN: u64 = 1 << 16;
/// In the first word of a slot: the writer plus one, 0 if there is none. The variable stands above 32 bits.
const WRITER: u64 = 0xffff;

/// The locks of one server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct LockTable {
    /// Slots of `stride` words each; their number is a power of two.
    words: Vec<u64>,
    /// The first word of a slot, and those of its readers.
    stride: usize,
    /// The number of slots, less one.
    mask: usize,
    /// The slots that are taken, locked or not.
    taken: usize,
    clients: Vec<Client>,
}

/// A client, as the server knows it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Client {
    /// The transaction of its last request.
    epoch: u64,
    /// The key of the first request of that transaction.
    key: u64,
    /// The first words of the slots in which it holds a lock, each once.
    held: Vec<u32>,
}

impl LockTable {
    /// A table for clients with numbers below `clients`.
    #[must_use]
    pub fn new(clients: usize) -> Self {
        Self::with_slots(clients, FIRST_SLOTS)
    }

    /// A table of at least `slots` slots to begin with, of which three quarters are used before it is built anew.
    #[must_use]
    pub fn with_slots(clients: usize, slots: usize) -> Self {
        let (stride, slots) = (1 + clients.div_ceil(64).max(1), slots.max(4).next_power_of_two());
        Self {
            words: vec![0; slots * stride],
            stride,
            mask: slots - 1,
            taken: 0,
            clients: vec![Client::default(); clients],
        }
    }

    /// LOAD_RELEASE: the client's read lock of the variable ends before its transaction does.
    pub fn release(&mut self, client: ClientId, epoch: u64, var: u32) {
        let Ok(at) = self.find(var) else { return };
        if self.clients[client.index()].epoch != epoch || !holds(self.slot(at), client) {
            return;
        }
        self.slot_mut(at)[word_of(client)] &= !bit_of(client);
        if holds(self.slot(at), client) {
            return;
        }
        let held = &mut self.clients[client.index()].held;
        // Transactions that release early hold few variables.
        if let Some(place) = held.iter().rposition(|other| *other as usize == at) {
            held.swap_remove(place);
        }
    }

    /// RELEASE_ALL: the transaction has ended.
    #[inline]
    pub fn release_all(&mut self, client: ClientId, epoch: u64) {
        if self.clients[client.index()].epoch == epoch {
            self.drop_all(client);
        }
    }

    /// Whether the rule grants this client the read lock of the variable without a look at others.
    #[inline]
    #[must_use]
    pub fn can_read(&self, client: ClientId, var: u32) -> bool {
        self.find(var).map_or(true, |at| is_readable(self.slot(at), client))
    }

    /// Whether the rule grants this client the write lock of the variable without a look at others.
    #[inline]
    #[must_use]
    pub fn can_write(&self, client: ClientId, var: u32) -> bool {
        self.find(var).map_or(true, |at| is_writable(self.slot(at), client))
    }

    /// The number of variables that are locked; it looks at all slots.
    #[must_use]
    pub fn locked(&self) -> usize {
        self.words.chunks_exact(self.stride).filter(|slot| is_locked(slot)).count()
    }

    /// Makes room for more locks if more than half of the slots are taken. For a server without requests.
    pub fn tidy_when_idle(&mut self) {
        if self.taken * 2 > self.mask + 1 {
            self.rebuild();
        }
    }

    #[inline]
    fn slot(&self, at: usize) -> &[u64] {
        &self.words[at..][..self.stride]
    }

    #[inline]
    fn slot_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.words[at..][..self.stride]
    }

    /// The first word of the variable's slot, or of the free one where it would be.
    #[inline]
    fn find(&self, var: u32) -> Result<usize, usize> {
        // Fibonacci hashing; servers share the variables out by another function.
        let hash = (u64::from(var).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize;
        let mut number = hash & self.mask;
        loop {
            let at = number * self.stride;
            let first = self.words[at];
            if first == 0 {
                return Err(at);
            }
            if (first >> 32) as u32 == var {
                return Ok(at);
            }
            number = (number + 1) & self.mask;
        }
    }

    /// The slot of the variable, taken if it was not.
    #[inline]
    fn find_or_take(&mut self, var: u32) -> usize {
        match self.find(var) {
            Ok(at) => at,
            Err(free) => self.take(var, free),
        }
    }

    #[cold]
    fn take(&mut self, var: u32, mut free: usize) -> usize {
        if (self.taken + 1) * 4 > (self.mask + 1) * 3 {
            self.rebuild();
            free = self.find(var).expect_err("it was not there, and there is room now");
        }
        self.words[free] = u64::from(var) << 32 | TAKEN;
        self.taken += 1;
        free
    }

    /// Builds the table anew, without the slots that nobody has locked.
    #[cold]
    fn rebuild(&mut self) {
        let locked = self.locked();
        let slots = if locked * 2 > self.mask { (self.mask + 1) * 2 } else { self.mask + 1 };
        let old = std::mem::replace(&mut self.words, vec![0; slots * self.stride]);
        (self.mask, self.taken) = (slots - 1, locked);
        self.clients.iter_mut().for_each(|client| client.held.clear());
        for slot in old.chunks_exact(self.stride).filter(|slot| is_locked(slot)) {
            let at = self.find((slot[0] >> 32) as u32).expect_err("the new table does not have it yet");
            self.slot_mut(at).copy_from_slice(slot);
            let mut holders = ClientSet::from_words(&slot[1..]);
            writer_of(slot[0]).into_iter().for_each(|writer| holders.insert(writer));
            holders.iter().for_each(|holder| self.clients[holder.index()].held.push(at as u32));
        }
    }

    /// Grants what `change` sets in the variable's slot, if that is free for the client.
    #[inline]
    fn grant_if(
        &mut self,
        var: u32,
        client: ClientId,
        is_free: impl FnOnce(&[u64], ClientId) -> bool,
        change: impl FnOnce(&mut [u64]),
    ) -> bool {
        let at = self.find_or_take(var);
        let slot = &mut self.words[at..][..self.stride];
        if !is_free(slot, client) {
            return false;
        }
        if !holds(slot, client) {
            self.clients[client.index()].held.push(at as u32);
        }
        change(slot);
        true
    }
}

impl Locks for LockTable {
    #[inline]
    fn admit(&mut self, request: Request) -> Request {
        let known = &mut self.clients[request.client.index()];
        if known.epoch == request.epoch {
            return Request { key: known.key, ..request };
        }
        (known.epoch, known.key) = (request.epoch, request.key);
        self.drop_all(request.client);
        request
    }

    #[inline]
    fn claim(&self, client: ClientId) -> Claim {
        let Client { epoch, key, .. } = self.clients[client.index()];
        Claim { epoch, key }
    }

    #[inline]
    fn writer(&self, var: u32) -> Option<ClientId> {
        self.find(var).ok().and_then(|at| writer_of(self.words[at]))
    }

    #[inline]
    fn add_readers(&self, var: u32, readers: &mut ClientSet) {
        if let Ok(at) = self.find(var) {
            readers.insert_words(&self.slot(at)[1..]);
        }
    }

    #[inline]
    fn grant_read(&mut self, var: u32, client: ClientId) {
        self.grant_if(var, client, |_, _| true, |slot| slot[word_of(client)] |= bit_of(client));
    }

    #[inline]
    fn grant_write(&mut self, var: u32, client: ClientId) {
        self.grant_if(var, client, |_, _| true, |slot| set_writer(slot, client));
    }

    #[inline]
    fn drop_all(&mut self, client: ClientId) {
        let (stride, words) = (self.stride, &mut self.words);
        for at in self.clients[client.index()].held.drain(..) {
            let slot = &mut words[at as usize..][..stride];
            slot[word_of(client)] &= !bit_of(client);
            clear_writer(slot, client);
        }
    }

    #[inline]
    fn try_read(&mut self, var: u32, client: ClientId) -> bool {
        self.grant_if(var, client, is_readable, |slot| slot[word_of(client)] |= bit_of(client))
    }

    #[inline]
    fn try_write(&mut self, var: u32, client: ClientId) -> bool {
        self.grant_if(var, client, is_writable, |slot| set_writer(slot, client))
    }
}

/// Whether no other client writes the variable.
#[inline]
fn is_readable(slot: &[u64], client: ClientId) -> bool {
    slot[0] & WRITER == 0 || writer_of(slot[0]) == Some(client)
}

/// Whether no other client reads or writes the variable.
#[inline]
fn is_writable(slot: &[u64], client: ClientId) -> bool {
    is_readable(slot, client) && others_of(slot, client) == 0
}

/// The readers of a slot but the client, all words as one: 0 if there is none.
#[inline]
fn others_of(slot: &[u64], client: ClientId) -> u64 {
    let mine = |at: usize| if at == word_of(client) { bit_of(client) } else { 0 };
    slot.iter().enumerate().skip(1).fold(0, |any, (at, word)| any | word & !mine(at))
}

/// The word of a slot with the client's bit.
#[inline]
fn word_of(client: ClientId) -> usize {
    1 + client.index() / 64
}

#[inline]
fn bit_of(client: ClientId) -> u64 {
    1 << (client.0 % 64)
}

#[inline]
fn writer_of(first: u64) -> Option<ClientId> {
    ((first & WRITER) as u16).checked_sub(1).map(ClientId)
}

#[inline]
fn set_writer(slot: &mut [u64], client: ClientId) {
    slot[0] = slot[0] & !WRITER | u64::from(client.0 + 1);
}

#[inline]
fn clear_writer(slot: &mut [u64], client: ClientId) {
    if writer_of(slot[0]) == Some(client) {
        slot[0] &= !WRITER;
    }
}

#[inline]
fn holds(slot: &[u64], client: ClientId) -> bool {
    slot[word_of(client)] & bit_of(client) != 0 || writer_of(slot[0]) == Some(client)
}

fn is_locked(slot: &[u64]) -> bool {
    slot[0] & WRITER != 0 || slot[1..].iter().any(|readers| *readers != 0)
}
