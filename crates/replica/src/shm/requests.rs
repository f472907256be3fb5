//! The requests of this node's sessions that another node leads to an answer.

use std::collections::{HashSet, VecDeque};

use crate::SessionId;
use crate::key_hasher::Keys;

/// The own request ring: which positions still wait.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    /// Positions in use, and what lies there, oldest first.
    places: VecDeque<(u64, Key)>,
    /// Those without an answer. A request that was sent more than once needs all its places until then.
    waiting: HashSet<Key, Keys>,
}

/// A request: its session and its number.
type Key = (SessionId, u32);

impl Requests {
    /// Notes a request at this position of the ring.
    pub(crate) fn pushed(&mut self, position: u64, session: SessionId, rid: u32) {
        self.places.push_back((position, (session, rid)));
        self.waiting.insert((session, rid));
    }

    /// Notes that a request needs no place any more. The position below which the ring may be written anew, if that moved.
    pub(crate) fn answered(&mut self, session: SessionId, rid: u32) -> Option<u64> {
        if !self.waiting.remove(&(session, rid)) {
            return None;
        }
        let mut below = None;
        while self.places.front().is_some_and(|(_, key)| !self.waiting.contains(key)) {
            below = self.places.pop_front().map(|(position, _)| position + 1);
        }
        below
    }
}
