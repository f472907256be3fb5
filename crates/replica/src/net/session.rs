//! A client of the replicated state: requests that are done exactly once, also if they have to be sent again.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use corecast_base::sync::Ordering;

use super::handle::Handle;
use super::wire::Body;
use crate::error::ExecuteError;
use crate::runtime::{Errand, Mailbox, Outstanding, Rid, decode};
use crate::{Command, Index, Op, SessionId, StateMachine, Wire};

/// A session of one thread. Its requests are numbered, so that a request that is sent again is not done again.
///
/// Up to 16 requests may be without an answer at the same time. Dropping the session closes it.
pub struct Session<S: StateMachine> {
    handle: Arc<Handle<S>>,
    id: SessionId,
    requests: Outstanding<Body>,
    bytes: Vec<u8>,
}

impl<S: StateMachine> Session<S> {
    /// Opens a session at a node, and waits until the group knows it.
    pub(super) fn open(handle: &Arc<Handle<S>>, limit: Duration) -> Result<Self, ExecuteError> {
        let until = Instant::now() + limit;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            match Self::open_with_next_number(handle, left) {
                // The opening of a greater number of this node came first: the group opens none below it.
                Err(ExecuteError::SessionExpired) if !left.is_zero() => {}
                opened => return opened,
            }
        }
    }

    fn open_with_next_number(handle: &Arc<Handle<S>>, limit: Duration) -> Result<Self, ExecuteError> {
        let inner = &handle.inner;
        // ORDERING: Relaxed, each session gets a number of its own
        let number = inner.next_session.fetch_add(1, Ordering::Relaxed);
        let id = SessionId::new(inner.me, number);
        let mailbox = Arc::new(Mailbox::default());
        inner.errands.add(Errand::Open(id, Arc::clone(&mailbox)));
        let requests = Outstanding::new(mailbox);
        let mut session = Self { handle: Arc::clone(handle), id, requests, bytes: Vec::new() };
        session.submit(Command { session: id, rid: 0, op: Op::OpenSession });
        session.answer(0, Some(limit))?;
        Ok(session)
    }

    /// The session's name.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id
    }

    /// Does an operation, and returns its result and its place in the log when this replica has applied it. From then on every
    /// linearizable read of any replica shows it.
    ///
    /// # Errors
    /// [`ExecuteError`]; `NoMajority` if the operation can never be ordered, as too many nodes are dead.
    pub fn execute(&mut self, op: &S::Op) -> Result<(S::Out, Index), ExecuteError> {
        let rid = self.start(op)?;
        self.answer(rid, None).and_then(|reply| decode(&reply))
    }

    /// As [`execute`](Self::execute), for at most `limit`.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Unknown` if the time was up, with the number to [`resume`](Self::resume).
    pub fn execute_timeout(&mut self, op: &S::Op, limit: Duration) -> Result<(S::Out, Index), ExecuteError> {
        let rid = self.start(op)?;
        self.wait_timeout(rid, limit)
    }

    /// Begins an operation; its result is to be waited for with [`wait`](Self::wait).
    ///
    /// # Errors
    /// [`ExecuteError`]; `Full` if 16 requests have no answer.
    pub fn start(&mut self, op: &S::Op) -> Result<Rid, ExecuteError> {
        let inner = &self.handle.inner;
        inner.check_fork()?;
        if let Some(error) = inner.execute_error() {
            return Err(error);
        }
        self.requests.check_room()?;
        self.bytes.clear();
        op.encode(&mut self.bytes);
        if self.bytes.len() > inner.largest {
            return Err(ExecuteError::TooLarge { bytes: self.bytes.len(), most: inner.largest });
        }
        let op = Op::User(Arc::from(&self.bytes[..]));
        let rid = self.requests.next_rid();
        self.submit(Command { session: self.id, rid, op });
        Ok(rid)
    }

    /// Waits for the result of a request.
    ///
    /// # Errors
    /// [`ExecuteError`].
    pub fn wait(&mut self, rid: Rid) -> Result<(S::Out, Index), ExecuteError> {
        self.answer(rid, None).and_then(|reply| decode(&reply))
    }

    /// As [`wait`](Self::wait), for at most `limit`.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Unknown` if the time was up.
    pub fn wait_timeout(&mut self, rid: Rid, limit: Duration) -> Result<(S::Out, Index), ExecuteError> {
        self.answer(rid, Some(limit)).and_then(|reply| decode(&reply))
    }

    /// Sends a request without an answer once more, and waits for its result for at most `limit`. It is done once all the same.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Unknown` if the time was up once more, or the session has no such request without an answer.
    pub fn resume(&mut self, rid: Rid, limit: Duration) -> Result<(S::Out, Index), ExecuteError> {
        let command = self.requests.get(rid).ok_or(ExecuteError::Unknown { rid })?.clone();
        self.submit(command);
        self.wait_timeout(rid, limit)
    }

    /// The requests whose results have not been taken.
    pub fn unanswered(&self) -> impl Iterator<Item = Rid> + '_ {
        self.requests.rids()
    }

    fn submit(&mut self, command: Command<Body>) {
        self.requests.note(&command);
        let inner = &self.handle.inner;
        match inner.try_driver() {
            Some(mut driver) => {
                // Earlier requests of this session may wait among them: its operations are ordered as they were started.
                driver.run_errands(inner);
                driver.submit(inner, command);
            }
            None => inner.errands.add(Errand::Submit(command)),
        }
    }

    fn answer(&mut self, rid: Rid, limit: Option<Duration>) -> Result<Arc<[u8]>, ExecuteError> {
        let handle = Arc::clone(&self.handle);
        let found = match self.look(rid) {
            Some(found) => Some(found),
            None => handle.inner.wait_for(limit, || self.look(rid)),
        };
        found.unwrap_or(Err(ExecuteError::Unknown { rid }))
    }

    /// The answer to a request, if it has come.
    fn look(&mut self, rid: Rid) -> Option<Result<Arc<[u8]>, ExecuteError>> {
        self.requests.look(rid).or_else(|| self.handle.inner.execute_error().map(Err))
    }
}

impl<S: StateMachine> Drop for Session<S> {
    fn drop(&mut self) {
        let inner = &self.handle.inner;
        if inner.check_fork().is_ok() {
            inner.errands.add(Errand::Close(self.id, self.requests.last().saturating_add(1)));
            inner.callers.word().notify();
        }
    }
}

impl<S: StateMachine> fmt::Debug for Session<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:#x}, {:?})", self.id.0, self.requests)
    }
}
