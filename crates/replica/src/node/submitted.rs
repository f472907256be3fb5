//! Requests of a node's sessions that have no result yet.

use std::collections::VecDeque;

use crate::{Command, SessionId};

/// Requests without a result, oldest first.
#[derive(Debug)]
pub(crate) struct Submitted<B>(VecDeque<Command<B>>);

impl<B> Default for Submitted<B> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<B: Clone> Submitted<B> {
    /// Adds a request unless it is there, and returns it as it is there: its bytes may have moved.
    pub(crate) fn add(&mut self, command: Command<B>) -> Command<B> {
        if let Some(known) = self.0.iter().find(|one| one.session == command.session && one.rid == command.rid) {
            return known.clone();
        }
        self.0.push_back(command.clone());
        command
    }

    /// All requests, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Command<B>> {
        self.0.iter_mut()
    }

    pub(crate) fn remove(&mut self, session: SessionId, rid: u32) {
        if let Some(at) = self.0.iter().position(|one| one.session == session && one.rid == rid) {
            self.0.remove(at);
        }
    }

    /// Removes the requests of a session.
    pub(crate) fn drop_session(&mut self, session: SessionId) -> Vec<Command<B>> {
        let (gone, kept): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|one| one.session == session);
        self.0 = kept.into();
        gone
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Command<B>> {
        self.0.iter()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
