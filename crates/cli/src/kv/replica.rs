//! The questions of the server to a replica of a store.

use corecast::replica::Batch;
use corecast::replica::kv::{Answer, Op, Out, Query};

use super::deadline::Deadline;

/// A replica in this process.
pub(crate) trait Replica {
    /// Orders operations for one connection.
    type Session: Session;

    /// Opens a session.
    fn session(&self, deadline: &Deadline) -> Result<Self::Session, Trouble>;

    /// Answers a question from a state that has every operation that was acknowledged to anyone before.
    fn read(&self, query: &Query, deadline: &Deadline) -> Result<Answer, Trouble>;

    /// The part that this replica has in its group.
    fn standing(&self) -> Standing;

    /// Names and values about the replica and its group, for INFO.
    fn facts(&self) -> Vec<(&'static str, String)>;
}

/// The part that a replica has in its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// Operations are ordered by it: clients are served best here.
    pub(crate) is_leader: bool,
    /// The reason why it does no more, if it does not.
    pub(crate) ended: Option<String>,
}

/// Orders operations. They are applied in the order in which they are started.
pub(crate) trait Session {
    /// The largest number of batches without an answer.
    const OUTSTANDING: usize;

    /// Begins operations, which are done all together, and returns the number by which their results are asked for.
    fn start(&mut self, ops: &Batch<Op>, deadline: &Deadline) -> Result<u32, Trouble>;

    /// Waits for the results. A session that had trouble is not used any more.
    fn wait(&mut self, number: u32, deadline: &Deadline) -> Result<Batch<Out>, Trouble>;
}

/// A replica could not do it. The text is told to the client behind `ERR`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Trouble(pub(crate) String);
