//! A client of the replicated state: requests that are done exactly once, also if they have to be sent again.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::admission::Errand;
use super::handle::{Handle, OPEN_LIMIT};
use super::mailbox::Mailbox;
use super::member::{Medium, Member, SharedMemory};
use super::outstanding::{Outstanding, Rid, decode};
use super::reply::Reply;
use crate::error::ExecuteError;
use crate::{Command, Index, Op, SessionId, StateMachine, Wire};

/// The content of an operation of a session.
type Body<S, M> = <<M as Medium>::Member<S> as Member<S>>::Body;

/// Operations up to this length always find room in the log.
const SHORT_BYTES: usize = 32;

/// A session of one thread. Its requests are numbered, so that a request that is sent again is not done again.
///
/// Up to 16 requests may be without an answer at the same time. They are done in the order in which they were begun.
///
/// After some 4 billion requests a session whose results were all taken goes on as another one, with another [`id`](Self::id),
/// and numbers its requests from 1 again. One that always has requests under way says `Full` at the end of its numbers.
///
/// Dropping the session closes it.
pub struct Session<S: StateMachine, M: Medium = SharedMemory> {
    handle: Arc<Handle<S, M>>,
    id: SessionId,
    requests: Outstanding,
    bytes: Vec<u8>,
}

impl<S: StateMachine, M: Medium> Session<S, M> {
    /// Opens a session at a node, and waits until the group knows it.
    pub(crate) fn open(handle: &Arc<Handle<S, M>>, limit: Duration) -> Result<Self, ExecuteError> {
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

    fn open_with_next_number(handle: &Arc<Handle<S, M>>, limit: Duration) -> Result<Self, ExecuteError> {
        let inner = &handle.inner;
        let id = SessionId::new(inner.me(), inner.next_session());
        let mailbox = Arc::new(Mailbox::default());
        inner.errands().add(Errand::Open(id, Arc::clone(&mailbox)));
        let mut session =
            Self { handle: Arc::clone(handle), id, requests: Outstanding::new(mailbox), bytes: Vec::new() };
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
    /// [`ExecuteError`]; `NoMajority` over messages if the operation can never be ordered, as too many nodes are dead.
    pub fn execute(&mut self, op: &S::Op) -> Result<(S::Out, Index), ExecuteError> {
        let rid = self.start(op)?;
        self.wait(rid)
    }

    /// As [`execute`](Self::execute), for at most `limit`.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Unknown` if the time was up, with the number to [`resume`](Self::resume); `NoRoom` if it was up before
    /// there was room for the operation, which was not begun then.
    pub fn execute_timeout(&mut self, op: &S::Op, limit: Duration) -> Result<(S::Out, Index), ExecuteError> {
        let (command, waited) = self.prepare(op, Some(limit))?;
        self.submit(command);
        self.wait_timeout(self.requests.last(), limit.saturating_sub(waited))
    }

    /// Begins an operation; its result is to be waited for with [`wait`](Self::wait). Waits only until a long operation has room
    /// in this node's memory, however long that takes; and after some 4 billion requests for the session that this one goes on
    /// as: at most 10 s for each request until one is opened.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Full` if 16 requests have no answer.
    pub fn start(&mut self, op: &S::Op) -> Result<Rid, ExecuteError> {
        let (command, _) = self.prepare(op, None)?;
        self.submit(command);
        Ok(self.requests.last())
    }

    /// As [`start`](Self::start), waiting for at most `limit`.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Full` if 16 requests have no answer; `NoRoom` if the time was up before there was room for the
    /// operation, which was not begun then.
    pub fn start_timeout(&mut self, op: &S::Op, limit: Duration) -> Result<Rid, ExecuteError> {
        let (command, _) = self.prepare(op, Some(limit))?;
        self.submit(command);
        Ok(self.requests.last())
    }

    /// As [`start`](Self::start), but the operation is handed in only when a thread of this node next waits for a
    /// result: all that were queued until then are ordered in one run, which takes a fraction of the time of as many
    /// runs. It waits for room as `start` does.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Full` if 16 requests have no answer.
    pub fn queue(&mut self, op: &S::Op) -> Result<Rid, ExecuteError> {
        let (command, _) = self.prepare(op, None)?;
        Ok(self.leave_to_others(command))
    }

    /// As [`queue`](Self::queue), waiting for at most `limit`.
    ///
    /// # Errors
    /// [`ExecuteError`]; `Full` if 16 requests have no answer; `NoRoom` if the time was up before there was room for the
    /// operation, which was not begun then.
    pub fn queue_timeout(&mut self, op: &S::Op, limit: Duration) -> Result<Rid, ExecuteError> {
        let (command, _) = self.prepare(op, Some(limit))?;
        Ok(self.leave_to_others(command))
    }

    /// Hands a request to the next thread that drives the node.
    fn leave_to_others(&mut self, command: Command<Body<S, M>>) -> Rid {
        self.requests.note(command.rid, None);
        self.handle.inner.errands().add(Errand::Submit(command));
        self.requests.last()
    }

    /// The next request of this session, and the time for which it waited, if there is a limit to that.
    fn prepare(
        &mut self,
        op: &S::Op,
        limit: Option<Duration>,
    ) -> Result<(Command<Body<S, M>>, Duration), ExecuteError> {
        self.check()?;
        // Hardly any request waits here, and the others look at no clock.
        let renewed = if self.requests.is_to_be_renewed() { self.renew(limit) } else { Duration::ZERO };
        self.requests.check_room()?;
        self.bytes.clear();
        op.encode(&mut self.bytes);
        let began = (limit.is_some() && self.bytes.len() > SHORT_BYTES).then(Instant::now);
        let body = self.handle.inner.body(&self.bytes, limit.map(|limit| limit.saturating_sub(renewed)))?;
        let waited = renewed + began.map_or(Duration::ZERO, |began| began.elapsed());
        Ok((Command { session: self.id, rid: self.requests.next_rid(), op: Op::User(body) }, waited))
    }

    fn check(&self) -> Result<(), ExecuteError> {
        let inner = &self.handle.inner;
        inner.check_fork()?;
        inner.execute_error().map_or(Ok(()), Err)
    }

    /// Goes on as another session, within half of the caller's time, and returns the time which that took. As long as it cannot,
    /// the last numbers of this one are used.
    #[cold]
    fn renew(&mut self, limit: Option<Duration>) -> Duration {
        let began = Instant::now();
        if let Ok(next) = Self::open(&self.handle, limit.map_or(OPEN_LIMIT, |limit| (limit / 2).min(OPEN_LIMIT))) {
            // The former one is closed as it is dropped.
            *self = next;
        }
        began.elapsed()
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
        // One that was answered meanwhile is not there any more: its answer is what `wait_timeout` finds.
        self.handle.inner.errands().add(Errand::Repeat(self.id, rid));
        self.wait_timeout(rid, limit)
    }

    /// The requests whose results have not been taken.
    pub fn unanswered(&self) -> impl Iterator<Item = Rid> + '_ {
        self.requests.rids()
    }

    /// Begins an operation that `order` has ordered.
    pub(crate) fn start_by(
        &mut self,
        op: &S::Op,
        order: impl FnOnce(Command<Body<S, M>>) -> Option<Reply>,
    ) -> Result<Rid, ExecuteError> {
        let (command, _) = self.prepare(op, None)?;
        let rid = command.rid;
        self.requests.note(rid, order(command));
        Ok(rid)
    }

    fn submit(&mut self, command: Command<Body<S, M>>) {
        let rid = command.rid;
        let reply = self.handle.inner.order(command);
        self.requests.note(rid, reply);
    }

    fn answer(&mut self, rid: Rid, limit: Option<Duration>) -> Result<Reply, ExecuteError> {
        if let Some(found) = self.look(rid) {
            return found;
        }
        let handle = Arc::clone(&self.handle);
        handle.inner.wait_for(limit, || self.look(rid)).unwrap_or(Err(ExecuteError::Unknown { rid }))
    }

    /// The answer to a request, if it has come.
    fn look(&mut self, rid: Rid) -> Option<Result<Reply, ExecuteError>> {
        self.requests.look(rid).or_else(|| self.handle.inner.execute_error().map(Err))
    }
}

#[cfg(test)]
impl<S: StateMachine, M: Medium> Session<S, M> {
    /// Acts as if all requests up to this one were done, which the group has to be told, too.
    pub(crate) fn skip_to(&mut self, last: Rid) {
        self.requests.skip_to(last);
    }
}

impl<S: StateMachine, M: Medium> Drop for Session<S, M> {
    fn drop(&mut self) {
        let inner = &self.handle.inner;
        if inner.check_fork().is_ok() {
            inner.errands().add(Errand::Close(self.id, self.requests.last().saturating_add(1)));
            inner.callers().word().notify();
        }
    }
}

impl<S: StateMachine, M: Medium> fmt::Debug for Session<S, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Session({:#x}, {:?})", self.id.0, self.requests)
    }
}
