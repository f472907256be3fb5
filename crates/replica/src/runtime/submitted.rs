//! Requests of a node's sessions that have no result yet.

use std::collections::HashMap;

use crate::key_hasher::Keys;
use crate::{Command, SessionId};

/// Requests without a result: a server has hundreds, and each is found by its number when its result comes.
#[derive(Debug)]
pub(crate) struct Submitted<B> {
    requests: HashMap<(SessionId, u32), Command<B>, Keys>,
    /// Sessions of which requests were ordered too early, to be handed in once more.
    pub(crate) early: Vec<SessionId>,
}

impl<B> Default for Submitted<B> {
    fn default() -> Self {
        Self { requests: HashMap::default(), early: Vec::new() }
    }
}

impl<B: Clone> Submitted<B> {
    /// Adds a request unless it is there, and returns it as it is there: its bytes may have moved.
    pub(crate) fn add(&mut self, command: Command<B>) -> Command<B> {
        self.requests.entry((command.session, command.rid)).or_insert(command).clone()
    }

    /// All requests, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Command<B>> {
        self.requests.values_mut()
    }

    /// The request with this number, if it has no result.
    pub(crate) fn get(&self, session: SessionId, rid: u32) -> Option<Command<B>> {
        self.requests.get(&(session, rid)).cloned()
    }

    /// Removes a request, and returns it.
    pub(crate) fn remove(&mut self, session: SessionId, rid: u32) -> Option<Command<B>> {
        if self.requests.is_empty() { None } else { self.requests.remove(&(session, rid)) }
    }

    /// Removes the requests of a session.
    pub(crate) fn drop_session(&mut self, session: SessionId) -> Vec<Command<B>> {
        let gone = Vec::from_iter(self.requests.values().filter(|command| command.session == session).cloned());
        self.requests.retain(|key, _| key.0 != session);
        gone
    }

    /// The requests of the sessions that have early ones, from the number on that `next` gives for each: earlier ones begin the
    /// run, as without them the early ones would come too early again.
    pub(crate) fn take_early(&mut self, next: impl Fn(SessionId) -> Option<u32>) -> Vec<Command<B>> {
        let mut sessions = std::mem::take(&mut self.early);
        sessions.sort_unstable();
        sessions.dedup();
        let of = |session| Some(self.of_session_from(session, next(session)?));
        sessions.into_iter().filter_map(of).flatten().collect()
    }

    /// The requests of a session from this number on, in the order of their numbers, up to the first that is not there.
    pub(crate) fn of_session_from(&self, session: SessionId, rid: u32) -> Vec<Command<B>> {
        (rid..=u32::MAX).map_while(|rid| self.get(session, rid)).collect()
    }

    /// All requests, those of a session in the order of their numbers.
    pub(crate) fn in_order(&self) -> Vec<Command<B>> {
        let mut all: Vec<_> = self.requests.values().cloned().collect();
        all.sort_unstable_by_key(|command| (command.session, command.rid));
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }
}
