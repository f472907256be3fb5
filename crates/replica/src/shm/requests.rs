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
        self.release_answered()
    }

    /// Gives the place of the oldest request up. The position below which the ring may be written anew.
    pub(crate) fn give_up_oldest(&mut self) -> Option<u64> {
        let (position, key) = self.places.pop_front()?;
        if !self.places.iter().any(|(_, other)| *other == key) {
            self.waiting.remove(&key);
        }
        Some(self.release_answered().unwrap_or(position + 1))
    }

    fn release_answered(&mut self) -> Option<u64> {
        let mut below = None;
        while self.places.front().is_some_and(|(_, key)| !self.waiting.contains(key)) {
            below = self.places.pop_front().map(|(position, _)| position + 1);
        }
        below
    }
}

#[cfg(test)]
mod tests {
    use super::Requests;
    use crate::{NodeId, SessionId};

    #[test]
    fn places_return_in_their_order_and_the_oldest_may_be_given_up() {
        let (mut requests, session) = (Requests::default(), SessionId::new(NodeId::new(0, 1), 1));
        (0..5).for_each(|position| requests.pushed(position, session, position as u32));
        assert_eq!(requests.answered(session, 1), None, "the one before it has no answer");
        assert_eq!(requests.give_up_oldest(), Some(2), "the next one was answered");
        assert_eq!(requests.answered(session, 2), Some(3));
        assert_eq!(
            (requests.give_up_oldest(), requests.give_up_oldest(), requests.give_up_oldest()),
            (Some(4), Some(5), None)
        );
    }
}
