//! The way to the locks of one instance: by messages, or by shared memory.

use crate::error::RunError;
use crate::messages::MessageClient;
use crate::rule::{Reply, Request};
use crate::shared::SharedClient;

pub(crate) use crate::messages::{Came, Change, MOST_VARS};

/// A participant's access to locks.
#[derive(Debug)]
pub(crate) enum Access {
    /// It asks servers.
    Messages(MessageClient),
    /// It decides itself.
    Shared(SharedClient),
}

impl Access {
    /// Takes a lock that nobody is in the way of, without a request. Only in the shared form; by messages the answer is no.
    #[inline]
    pub(crate) fn try_take(&self, lock: u32, is_write: bool) -> bool {
        match self {
            Self::Messages(_) => false,
            Self::Shared(client) => client.try_take(lock, is_write),
        }
    }

    /// Whether a lock that has to be asked for is one that others hold, as [`try_take`](Self::try_take) takes the free ones.
    #[inline]
    pub(crate) fn asks_for_held_only(&self) -> bool {
        matches!(self, Self::Shared(client) if client.takes_free_locks())
    }

    /// Asks for a read lock, and for `words` values where they are with the servers.
    #[inline]
    pub(crate) fn load(&mut self, by: Request, lock: u32, words: usize, came: &mut Came) -> Result<Reply, RunError> {
        match self {
            Self::Messages(client) => client.load(by, lock, words, came),
            Self::Shared(client) => Ok(client.ask(by, lock, false)),
        }
    }

    /// Asks for one write lock; else as [`load`](Self::load).
    #[inline]
    pub(crate) fn store(&mut self, by: Request, lock: u32, words: usize, came: &mut Came) -> Result<Reply, RunError> {
        match self {
            Self::Messages(client) => client.store(by, &[lock], words, came),
            Self::Shared(client) => Ok(client.ask(by, lock, true)),
        }
    }

    /// Asks for write locks that were [grouped](Self::group) together.
    pub(crate) fn store_group(&mut self, by: Request, locks: &[u32]) -> Result<Reply, RunError> {
        match self {
            Self::Messages(client) => client.store(by, locks, 0, &mut Came::default()),
            Self::Shared(client) => Ok(client.ask(by, locks[0], true)),
        }
    }

    /// Orders locks by their servers, the same ones next to each other.
    pub(crate) fn group(&self, locks: &mut [u32]) {
        match self {
            Self::Messages(client) => locks.sort_unstable_by_key(|&lock| (client.server_of(lock), lock)),
            Self::Shared(_) => locks.sort_unstable(),
        }
    }

    /// The length of the first group among locks in that order: those that one request may ask for.
    pub(crate) fn group_len(&self, locks: &[u32], is_batched: bool) -> usize {
        match self {
            Self::Messages(client) if is_batched => {
                let server = client.server_of(locks[0]);
                locks.iter().take(MOST_VARS).take_while(|&&lock| client.server_of(lock) == server).count()
            }
            _ => 1,
        }
    }
}
