//! A process's connection to the other nodes of a group that it is about to join.

use std::fmt;
use std::time::Duration;

use super::candidate::{Candidate, SharedCandidate};
use super::engine::Engine;
use super::lanes::Lanes;

/// The time to wait for others by default.
const PATIENCE: Duration = Duration::from_secs(60);

/// A process's connection to the other nodes: the node's end of an engine at a leader, none at the other members of its node; and
/// the time to wait for the others. Made of an engine, of `None`, or of a cluster that a library like `corecast-mpi` has opened.
pub struct Connection {
    pub(super) engine: Option<Box<dyn Engine>>,
    pub(super) limit: Duration,
    pub(super) candidate: Option<SharedCandidate>,
    pub(super) lanes: Lanes,
}

impl Connection {
    /// Waits this long for the members of this node and for the other nodes; 60 s by default. The members of a node wait for a
    /// leader that may still be opening its engine, so all have the limit that opening it has.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Lets this process lead its node when the leader is lost; all processes of all nodes have to give a candidate then, leaders
    /// as well. For members that are processes ([`Invitation`](super::Invitation)); a [`Group`](super::Group) of threads
    /// ignores it.
    #[must_use]
    pub fn candidate(mut self, candidate: impl Candidate + 'static) -> Self {
        self.candidate = Some(SharedCandidate::new(candidate));
        self
    }

    /// Lets several members of each node share the messages of long slices; all members of all nodes give the same. The engine of
    /// the member with local rank l, below their number, is its end of lane l: it connects the members with this local rank of
    /// all nodes, in the order of the nodes. For members that are processes ([`Invitation`](super::Invitation)); a
    /// [`Group`](super::Group) of threads, whose members share one engine, cannot have lanes.
    #[must_use]
    pub fn lanes(mut self, lanes: Lanes) -> Self {
        self.lanes = lanes;
        self
    }
}

impl From<Option<Box<dyn Engine>>> for Connection {
    fn from(engine: Option<Box<dyn Engine>>) -> Self {
        Self { engine, limit: PATIENCE, candidate: None, lanes: Lanes::ONE }
    }
}

impl From<Box<dyn Engine>> for Connection {
    fn from(engine: Box<dyn Engine>) -> Self {
        Some(engine).into()
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, limit, candidate, lanes } = self;
        f.debug_struct("Connection")
            .field("leads", &engine.is_some())
            .field("limit", limit)
            .field("may_have_to", &candidate.is_some())
            .field("lanes", lanes)
            .finish()
    }
}
