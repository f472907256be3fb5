//! The work of a node's own thread, for a simulated thread to do.

use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};

use super::handle::Node;
use super::member::{Medium, Member};
use crate::StateMachine;

/// The work of a node's own thread.
pub type OwnWork = Box<dyn FnOnce() + Send>;

/// The work of a node's own thread, until a simulated thread takes it.
pub(super) struct OwnThread(Mutex<Option<OwnWork>>);

impl OwnThread {
    /// Keeps the work.
    pub(super) fn start(_name: String, work: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        Ok(Self(Mutex::new(Some(Box::new(work)))))
    }

    /// Its thread has ended with the run.
    pub(super) fn join(&self) {
        drop(self.take());
    }

    fn take(&self) -> Option<OwnWork> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Debug for OwnThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnThread")
    }
}

impl<S: StateMachine, M: Medium> Node<S, M> {
    /// The work of the node's own thread, which lasts until the node [stops](Self::stop). Nothing the second time.
    #[must_use]
    pub fn own_work(&self) -> Option<OwnWork> {
        self.0.thread.take()
    }

    /// Ends the work of the node's own thread, in a run: others find the node gone only once its handle is dropped.
    pub fn stop(&self) {
        self.0.inner.stop();
    }
}

/// The CPUs that nodes run on: one for each, whatever the host has.
pub(crate) fn cpus() -> usize {
    usize::MAX
}
