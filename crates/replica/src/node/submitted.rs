//! Requests of a node's sessions that have no result yet.

use std::collections::VecDeque;

use crate::segment::Body;
use crate::{Command, SessionId};

/// Requests without a result, oldest first.
#[derive(Debug, Default)]
pub(super) struct Submitted(VecDeque<Command<Body>>);

impl Submitted {
    /// Adds a request unless it is there, and returns it as it is there: its bytes may have moved.
    pub(super) fn add(&mut self, command: Command<Body>) -> Command<Body> {
        if let Some(known) = self.0.iter().find(|one| one.session == command.session && one.rid == command.rid) {
            return *known;
        }
        self.0.push_back(command);
        command
    }

    /// All requests, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Command<Body>> {
        self.0.iter_mut()
    }

    pub(super) fn remove(&mut self, session: SessionId, rid: u32) {
        if let Some(at) = self.0.iter().position(|one| one.session == session && one.rid == rid) {
            self.0.remove(at);
        }
    }

    /// Removes the requests of a session.
    pub(super) fn drop_session(&mut self, session: SessionId) -> Vec<Command<Body>> {
        let (gone, kept): (Vec<_>, Vec<_>) = self.0.drain(..).partition(|one| one.session == session);
        self.0 = kept.into();
        gone
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Command<Body>> {
        self.0.iter()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
