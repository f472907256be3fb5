//! Where a session finds the results of its requests.

use std::collections::VecDeque;
use std::sync::PoisonError;

use corecast_base::sync::{AtomicU64, Mutex, MutexGuard, Ordering};

use super::reply::Reply;

/// A result: the request, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Letter {
    pub(crate) rid: u32,
    pub(crate) content: Content,
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    /// It was applied. The first eight bytes are its index, the others the encoded output.
    Done(Reply),
    /// The session has ended.
    Expired,
}

/// The results of one session, put there by whichever thread applies the log.
///
/// Aligned as a [`CacheLine`](corecast_base::CacheLine), so that a result moves one line: elsewhere its words were on two, or on
/// a line with a neighbour's, as the allocator happened to put them.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Mailbox {
    /// The count of results put so far: written by the thread that applies, read by the session.
    arrived: AtomicU64,
    letters: Mutex<VecDeque<Letter>>,
}

impl Mailbox {
    /// Puts a result.
    pub(crate) fn put(&self, letter: Letter) {
        let mut letters = self.lock();
        letters.push_back(letter);
        // ORDERING: Relaxed, whoever has the lock writes it
        let before = self.arrived.load(Ordering::Relaxed);
        // ORDERING: Release, pairs with the Acquire in count [mailbox]
        self.arrived.store(before + 1, Ordering::Release);
    }

    /// The count of results so far.
    pub(crate) fn count(&self) -> u64 {
        // ORDERING: Acquire, pairs with the Release in put [mailbox]
        self.arrived.load(Ordering::Acquire)
    }

    /// Takes all results.
    pub(crate) fn take(&self, to: &mut Vec<Letter>) {
        to.extend(self.lock().drain(..));
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Letter>> {
        self.letters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
