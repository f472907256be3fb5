//! A node of a replicated dictionary, as the threads of an interpreter use it.

use std::sync::Mutex;
use std::time::Duration;

use corecast::replica::kv::{Answer, Op, Out, Query, Store};
use corecast::replica::{Batch, Batched, ExecuteError, Level, Node, ReadError, Session};
use pyo3::prelude::*;

use crate::error;
use crate::waiting::{Limit, detached, until};

/// The state of the group: that of `corecast kv`, so that both can be in one group.
pub(crate) type Contents = Batched<Store>;

/// How long one attempt to open a session may take. Each is a session of its own, so it is not cut into shorter parts.
const OPENING: Duration = Duration::from_secs(1);

/// A node, and sessions for the threads that change the dictionary.
pub(crate) struct Member {
    /// Sessions that no thread uses, and that have no request without an answer. First, as they end before their node.
    idle: Mutex<Vec<Session<Contents>>>,
    pub(crate) node: Node<Contents>,
}

impl Member {
    pub(crate) fn new(node: Node<Contents>) -> Self {
        Self { idle: Mutex::default(), node }
    }

    /// Does all operations at one place of the log, and returns their results when this replica has applied them.
    pub(crate) fn execute(&self, py: Python<'_>, limit: Limit, ops: &Batch<Op>) -> PyResult<Batch<Out>> {
        let mut session = self.session(py, limit)?;
        let mut begun = None;
        let outcome = until(py, limit, |part| {
            let rid = match begun {
                Some(rid) => rid,
                None => match session.start_timeout(ops, part) {
                    Ok(rid) => *begun.insert(rid),
                    Err(ExecuteError::NoRoom) => return None,
                    Err(refused) => return Some(Err(not_executed(refused))),
                },
            };
            match session.wait_timeout(rid, part) {
                Err(ExecuteError::Unknown { .. }) => None,
                other => Some(other.map_err(not_executed)),
            }
        });
        // A session whose request has no answer is dropped.
        let (outs, _) = outcome.map_err(|late| {
            let is_begun = "the change was not finished until the limit of the wait: it may be made or not";
            let is_not = "the change was not begun until the limit of the wait";
            in_other_words(py, late, if begun.is_some() { is_begun } else { is_not })
        })?;
        self.idle.lock().expect("nothing panics with it").push(session);
        Ok(outs)
    }

    /// A session for one thread.
    fn session(&self, py: Python<'_>, limit: Limit) -> PyResult<Session<Contents>> {
        if let Some(idle) = self.idle.lock().expect("nothing panics with it").pop() {
            return Ok(idle);
        }
        loop {
            let Some(part) = limit.part_of(OPENING) else { return Err(error::timeout()) };
            match detached(py, || self.node.session_timeout(part)) {
                Err(ExecuteError::Unknown { .. }) => py.check_signals()?,
                other => return other.map_err(not_executed),
            }
        }
    }

    /// The answer to a question, from a state as fresh as `level` says.
    pub(crate) fn read(&self, py: Python<'_>, level: Level, limit: Limit, query: &Query) -> PyResult<Answer> {
        // Nearly always this replica has applied all that there is, and the interpreter's lock is worth more than the look.
        match self.node.read_timeout(level, query, Duration::ZERO) {
            Err(ReadError::Lagging { .. }) => {}
            other => return other.map(|(answer, _)| answer).map_err(not_read),
        }
        self.catch_up(py, level, limit)?;
        detached(py, || self.node.read(Level::Local, query)).map(|(answer, _)| answer).map_err(not_read)
    }

    /// Looks at the whole state, as fresh as `level` says, without the interpreter's lock.
    pub(crate) fn look<R>(
        &self,
        py: Python<'_>,
        level: Level,
        limit: Limit,
        look: impl FnOnce(&Store) -> R,
    ) -> PyResult<R> {
        self.catch_up(py, level, limit)?;
        let looked = detached(py, || self.node.read_with(Level::Local, |state| look(state.machine())));
        looked.map(|(found, _)| found).map_err(not_read)
    }

    /// Waits until this replica is as fresh as `level` says now.
    fn catch_up(&self, py: Python<'_>, level: Level, limit: Limit) -> PyResult<()> {
        let caught_up = until(py, limit, |part| match self.node.catch_up(level, part) {
            Err(ReadError::Lagging { .. }) => None,
            other => Some(other.map_err(not_read)),
        });
        let behind = "this replica did not catch up until the limit of the wait: get_local shows what it has";
        caught_up.map_err(|late| in_other_words(py, late, behind))
    }
}

/// A time-out that says what was waited for; other errors as they are.
fn in_other_words(py: Python<'_>, error: PyErr, words: &str) -> PyErr {
    if error::is(py, &error, "Timeout") { error::named("Timeout", words) } else { error }
}

fn not_executed(error: ExecuteError) -> PyErr {
    let class = match &error {
        ExecuteError::SessionExpired | ExecuteError::Expelled(_) | ExecuteError::Diverged { .. } => "Expelled",
        ExecuteError::Lost => "Died",
        ExecuteError::TooLarge { .. } => "TooLarge",
        ExecuteError::Corrupt { .. } => "Corrupt",
        ExecuteError::Unknown { .. } | ExecuteError::NoRoom => "Timeout",
        ExecuteError::Forked(_) => return forked(),
        _ => "Error",
    };
    error::named(class, error)
}

fn not_read(error: ReadError) -> PyErr {
    let class = match &error {
        ReadError::Expelled(_) | ReadError::Diverged { .. } | ReadError::Panicked { .. } => "Expelled",
        ReadError::Lost => "Died",
        ReadError::Lagging { .. } => "Timeout",
        ReadError::Forked(_) => return forked(),
        _ => "Error",
    };
    error::named(class, error)
}

pub(crate) fn forked() -> PyErr {
    error::forked("dictionary")
}
