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
        let mut below = None;
        while self.waiting.front().is_some_and(|one| one.is_answered) {
            below = self.waiting.pop_front().map(|one| one.position + 1);
        }
        below
    }
}
