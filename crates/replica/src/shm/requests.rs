//! The requests of this node's sessions that another node leads to an answer.

use std::collections::VecDeque;

use crate::SessionId;

/// The own request ring: which positions still wait.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    position: u64,
    session: SessionId,
    rid: u32,
    is_answered: bool,
}

impl Requests {
    /// Notes a request at this position of the ring.
    pub(crate) fn pushed(&mut self, position: u64, session: SessionId, rid: u32) {
        self.waiting.push_back(Waiting { position, session, rid, is_answered: false });
    }

    /// Notes that a request needs no place any more. The position below which the ring may be written anew, if that moved.
    pub(crate) fn answered(&mut self, session: SessionId, rid: u32) -> Option<u64> {
        for waiting in self.waiting.iter_mut().filter(|one| one.session == session && one.rid == rid) {
            waiting.is_answered = true;
        }
        self.release_answered()
    }

    /// Gives the place of the oldest request up. The position below which the ring may be written anew.
    pub(crate) fn give_up_oldest(&mut self) -> Option<u64> {
        let below = self.waiting.pop_front()?.position + 1;
        Some(self.release_answered().unwrap_or(below))
    }

    fn release_answered(&mut self) -> Option<u64> {
        let mut below = None;
        while self.waiting.front().is_some_and(|one| one.is_answered) {
            below = self.waiting.pop_front().map(|one| one.position + 1);
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
