//! The locks that one server keeps: which client holds which variable.
//!
//! Open addressing in one array of words. A slot is the variable with its writer, and one bit for each client that reads it: 16
//! bytes where there are at most 64 clients, four slots to a line. A slot whose last lock goes is given up, so that the table is
//! as large as the locks that are held at one time; it grows when three quarters are taken, and, by
//! [`grow_when_idle`](LockTable::grow_when_idle), before that where the server has nothing else to do. For each client the table
//! knows its transaction and what it holds, so that an end or an abort costs no search.
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
    /// The slots that are taken.
    taken: usize,
    /// The most slots that were ever taken.
    most_taken: usize,
    clients: Vec<Client>,
}

/// What the server knows about a client.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Client {
    /// The transaction of its last request.
    epoch: u64,
    /// The key of the first request of that transaction.
    key: u64,
    /// The variables of which it holds a lock, each once.
    held: Vec<u32>,
}

impl LockTable {
    /// A table for clients with numbers below `clients`.
    #[must_use]
    pub fn new(clients: usize) -> Self {
        Self::with_slots(clients, FIRST_SLOTS)
    }

    /// A table of at least `slots` slots to begin with, of which three quarters are used before it grows.
    #[must_use]
    pub fn with_slots(clients: usize, slots: usize) -> Self {
        let stride = 1 + clients.div_ceil(64).max(1);
        let words = vec![0; slots.max(2).next_power_of_two() * stride];
        Self { words, stride, taken: 0, most_taken: 0, clients: vec![Client::default(); clients] }
    }

    /// LOAD_RELEASE: the client's read lock of the variable ends before its transaction does.
    pub fn release(&mut self, client: ClientId, epoch: u64, var: u32) {
        self.give_back(client, epoch, var, |slot, client| slot[1 + word_of(client)] &= !bit_of(client));
    }

    /// STORE_FINISH: the client's write lock of the variable ends before its transaction does.
    pub fn finish(&mut self, client: ClientId, epoch: u64, var: u32) {
        self.give_back(client, epoch, var, |slot, client| {
            if writer_of(slot[0]) == Some(client) {
                slot[0] &= !WRITER;
            }
        });
    }

    /// RELEASE_ALL: the transaction has ended.
    pub fn release_all(&mut self, client: ClientId, epoch: u64) {
        if self.clients[usize::from(client.0)].epoch == epoch {
            self.drop_all(client);
        }
    }

    /// The number of variables that are locked.
    #[must_use]
    pub fn locked(&self) -> usize {
        self.taken
    }

    /// Makes room for twice as many locks if more than half of the table was ever taken. For a server without requests.
    pub fn grow_when_idle(&mut self) {
        if self.most_taken * 2 > self.slots() {
            self.grow();
        }
    }

    fn slots(&self) -> usize {
        self.words.len() / self.stride
    }

    fn slot(&self, at: usize) -> &[u64] {
        &self.words[at * self.stride..][..self.stride]
    }

    fn slot_mut(&mut self, at: usize) -> &mut [u64] {
        &mut self.words[at * self.stride..][..self.stride]
    }

    /// The slot in which the search for the variable begins.
    #[inline]
    fn home(&self, var: u32) -> usize {
        // Fibonacci hashing; servers share the variables out by another function.
        (u64::from(var).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & (self.slots() - 1)
    }

    /// The slot of the variable, or the free one where it would be.
    #[inline]
    fn find(&self, var: u32) -> Result<usize, usize> {
        let mut at = self.home(var);
        loop {
            let first = self.words[at * self.stride];
            if first == 0 {
                return Err(at);
            }
            if (first >> 32) as u32 == var {
                return Ok(at);
            }
            at = (at + 1) & (self.slots() - 1);
        }
    }

    /// The slot of the variable, taken if it was not.
    #[inline]
    fn find_or_take(&mut self, var: u32) -> usize {
        let mut found = self.find(var);
        if found.is_err() && (self.taken + 1) * 4 > self.slots() * 3 {
            self.grow();
            found = self.find(var);
        }
        found.unwrap_or_else(|free| {
            self.slot_mut(free)[0] = u64::from(var) << 32 | TAKEN;
            self.taken += 1;
            self.most_taken = self.most_taken.max(self.taken);
            free
        })
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![0; self.words.len() * 2];
        let old = std::mem::replace(&mut self.words, larger);
        for slot in old.chunks_exact(self.stride).filter(|slot| slot[0] != 0) {
            let at = self.find((slot[0] >> 32) as u32).expect_err("the larger table does not have it yet");
            self.slot_mut(at).copy_from_slice(slot);
        }
    }

    /// Frees a slot, and moves those behind it that would not be found any more.
    fn free(&mut self, mut hole: usize) {
        let mask = self.slots() - 1;
        let mut at = (hole + 1) & mask;
        while self.slot(at)[0] != 0 {
            let home = self.home((self.slot(at)[0] >> 32) as u32);
            // The search from `home` to `at` passes the hole.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(hole) & mask) {
                let (from, to) = (at * self.stride, hole * self.stride);
                self.words.copy_within(from..from + self.stride, to);
                hole = at;
            }
            at = (at + 1) & mask;
        }
        self.slot_mut(hole).fill(0);
        self.taken -= 1;
    }

    /// Frees the slot if nobody holds a lock there.
    fn free_if_unlocked(&mut self, at: usize) {
        let slot = self.slot(at);
        if writer_of(slot[0]).is_none() && slot[1..].iter().all(|readers| *readers == 0) {
            self.free(at);
        }
    }

    fn give_back(&mut self, client: ClientId, epoch: u64, var: u32, change: impl Fn(&mut [u64], ClientId)) {
        let Ok(at) = self.find(var) else { return };
        if self.clients[usize::from(client.0)].epoch != epoch || !holds(self.slot(at), client) {
            return;
        }
        change(self.slot_mut(at), client);
        if holds(self.slot(at), client) {
            return;
        }
        let held = &mut self.clients[usize::from(client.0)].held;
        // Transactions that release early hold few variables.
        if let Some(place) = held.iter().rposition(|other| *other == var) {
            held.swap_remove(place);
        }
        self.free_if_unlocked(at);
    }

    /// Notes that the client holds the variable. Returns its slot.
    #[inline]
    fn hold(&mut self, var: u32, client: ClientId) -> &mut [u64] {
        let at = self.find_or_take(var);
        if !holds(self.slot(at), client) {
            self.clients[usize::from(client.0)].held.push(var);
        }
        self.slot_mut(at)
    }
}

impl Locks for LockTable {
    #[inline]
    fn admit(&mut self, request: Request) -> Request {
        let Request { client, epoch, key } = request;
        let known = &self.clients[usize::from(client.0)];
        if known.epoch == epoch && !known.held.is_empty() {
            return Request { key: known.key, ..request };
        }
        self.drop_all(client);
        let known = &mut self.clients[usize::from(client.0)];
        (known.epoch, known.key) = (epoch, key);
        request
    }

    fn claim(&self, client: ClientId) -> Claim {
        let Client { epoch, key, .. } = self.clients[usize::from(client.0)];
        Claim { epoch, key }
    }

    #[inline]
    fn writer(&self, var: u32) -> Option<ClientId> {
        self.find(var).ok().and_then(|at| writer_of(self.slot(at)[0]))
    }

    #[inline]
    fn add_readers(&self, var: u32, readers: &mut ClientSet) {
        if let Ok(at) = self.find(var) {
            readers.insert_words(&self.slot(at)[1..]);
        }
    }

    #[inline]
    fn grant_read(&mut self, var: u32, client: ClientId) {
        self.hold(var, client)[1 + word_of(client)] |= bit_of(client);
    }

    #[inline]
    fn grant_write(&mut self, var: u32, client: ClientId) {
        let slot = self.hold(var, client);
        slot[0] = slot[0] & !WRITER | u64::from(client.0 + 1);
    }

    fn drop_all(&mut self, client: ClientId) {
        let mut held = std::mem::take(&mut self.clients[usize::from(client.0)].held);
        for var in held.drain(..) {
            let at = self.find(var).expect("a variable that is held has a slot");
            let slot = self.slot_mut(at);
            slot[1 + word_of(client)] &= !bit_of(client);
            if writer_of(slot[0]) == Some(client) {
                slot[0] &= !WRITER;
            }
            self.free_if_unlocked(at);
        }
        // The memory of the list stays with the client.
        self.clients[usize::from(client.0)].held = held;
    }
}

fn word_of(client: ClientId) -> usize {
    usize::from(client.0 / 64)
}

fn bit_of(client: ClientId) -> u64 {
    1 << (client.0 % 64)
}

fn writer_of(first: u64) -> Option<ClientId> {
    ((first & WRITER) as u16).checked_sub(1).map(ClientId)
}

fn holds(slot: &[u64], client: ClientId) -> bool {
    slot[1 + word_of(client)] & bit_of(client) != 0 || writer_of(slot[0]) == Some(client)
}
