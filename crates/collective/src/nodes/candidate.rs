//! Processes that can lead their node when its leader is lost.
//!
//! **When to implement it:** every member of a node is a process of the library between nodes, as the ranks of an MPI program
//! are, and the library goes on after the death of one. **When not:** only leaders are processes of the library: then a node
//! is lost with its leader.
//!
//! In such a group the lowest member that is left leads its node. Only all processes together can make new connections, so all
//! of them take part in each attempt, also those that do not lead and those whose node has just lost one more member: a library
//! waits for every process that lives. A process that is in no state to go on says so, and then nobody does: all of them
//! first leave the lost members of their nodes behind again.

use std::fmt;
use std::time::Duration;

use corecast_base::sync::{Arc, Mutex};

use super::engine::Engine;
use super::{Fault, NodeSet};

/// A process of the library between nodes that leads its node, or may have to.
pub trait Candidate: Send {
    /// Leaves lost processes behind, and makes new ends of an engine for those that lead now. Every process that lives calls
    /// it, at each attempt once; it waits for all of them, at most for about `limit`, if there is one, and up to some seconds
    /// longer once they have met. The end that this process has had is of no use when it returns, and is dropped.
    ///
    /// Returns `None`, at all processes alike, if one of them cannot go on, or if a node's leader is lost: all of them have to
    /// come again, behind an agreement within their nodes. The ends are as they were then.
    ///
    /// # Errors
    /// A [`Fault`] if this process cannot go on, or if the time is over. It may be called no more. The others go on without
    /// this process once it has ended, and wait for it until then.
    fn remake(&mut self, standing: Standing, limit: Option<Duration>) -> Result<Option<Remade>, Fault>;

    /// The work that the library needs while a member waits for others of its node: see
    /// [`call_while_waiting`](crate::Member::call_while_waiting).
    fn while_waiting(&self) -> Box<dyn FnMut(Duration) -> Duration + Send>;
}

/// The state of a process's node, as its members have agreed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The member that leads the node now, by its rank in the node's first group.
    pub leader: usize,
    /// False if the node's group has failed again, so that the process cannot go on.
    pub is_whole: bool,
}

/// The nodes and the engine behind an attempt to leave lost processes behind.
pub struct Remade {
    /// The nodes that have a process left, in the numbers of the engine before. The same at all processes.
    pub stay: NodeSet,
    /// The end of a new engine among these nodes, in their order, at the process that leads; `None` at the others.
    pub engine: Option<Box<dyn Engine>>,
}

impl fmt::Debug for Remade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remade").field("stay", &self.stay).field("leads", &self.engine.is_some()).finish()
    }
}

/// The candidate of a process, which its member takes from group to group.
#[derive(Clone)]
pub(super) struct SharedCandidate(Arc<Mutex<Box<dyn Candidate>>>);

impl SharedCandidate {
    pub(super) fn new(candidate: impl Candidate + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(candidate))))
    }

    pub(super) fn remake(&self, standing: Standing, limit: Option<Duration>) -> Result<Option<Remade>, Fault> {
        self.0.lock().expect(ONE_MEMBER).remake(standing, limit)
    }

    pub(super) fn while_waiting(&self) -> Box<dyn FnMut(Duration) -> Duration + Send> {
        self.0.lock().expect(ONE_MEMBER).while_waiting()
    }
}

const ONE_MEMBER: &str = "a process has one member, which ends if its candidate panics";

impl fmt::Debug for SharedCandidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedCandidate")
    }
}
