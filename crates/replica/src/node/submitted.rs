//! Requests of a node's sessions that have no result yet.

use std::collections::HashMap;

use crate::key_hasher::Keys;
use crate::segment::Body;
use crate::{Command, SessionId};

/// Requests without a result: a server has hundreds, and each is found by its number when its result comes.
#[derive(Debug, Default)]
pub(super) struct Submitted(HashMap<(SessionId, u32), Command<Body>, Keys>);

impl Submitted {
    /// Adds a request unless it is there, and returns it as it is there: its bytes may have moved.
    pub(super) fn add(&mut self, command: Command<Body>) -> Command<Body> {
        *self.0.entry((command.session, command.rid)).or_insert(command)
    }

    /// All requests, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Command<Body>> {
        self.0.values_mut()
    }

    pub(super) fn remove(&mut self, session: SessionId, rid: u32) {
        self.0.remove(&(session, rid));
    }

    /// Removes the requests of a session.
    pub(super) fn drop_session(&mut self, session: SessionId) -> Vec<Command<Body>> {
        let gone = Vec::from_iter(self.0.values().filter(|command| command.session == session).copied());
        self.0.retain(|key, _| key.0 != session);
        gone
    }

    /// All requests, those of a session in the order of their numbers.
    pub(super) fn in_order(&self) -> Vec<Command<Body>> {
        let mut all: Vec<_> = self.0.values().copied().collect();
        all.sort_unstable_by_key(|command| (command.session, command.rid));
        all
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
