//! Sessions of clients: operations that are done once each.

use std::ffi::c_void;
use std::mem::MaybeUninit;
use std::time::{Duration, Instant};

use corecast::replica::{Index, Session};

use super::machine::Machine;
use super::node::Replica;
use crate::argument::elements_mut;
use crate::error::Failure;

/// A session of one thread at a time. Its requests are numbered from 1, so that one that is sent again is not done again. Up to
/// 16 may be without a result.
#[derive(Debug)]
pub struct ReplicaSession {
    session: Session<Machine>,
    /// The operation that is being sent, kept for its memory.
    op: Vec<u8>,
    /// The last result, which C reads.
    result: Vec<u8>,
}

/// The result of an operation. Its bytes stay where they are until the next call with the session.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ReplicaResult {
    /// Its bytes; not to be read if there are none.
    pub data: *const c_void,
    /// How many there are.
    pub len: usize,
    /// The place of the operation in the log.
    pub index: u64,
}

/// The result of an operation, with its place.
type Answer = Result<(Vec<u8>, Index), corecast::replica::ExecuteError>;

impl ReplicaSession {
    fn start(&mut self, op: &[u8]) -> Result<u32, Failure> {
        self.take(op);
        Ok(self.session.start(&self.op)?)
    }

    fn start_timeout(&mut self, op: &[u8], limit: Duration) -> Result<u32, Failure> {
        self.take(op);
        Ok(self.session.start_timeout(&self.op, limit)?)
    }

    fn queue(&mut self, op: &[u8], limit: Duration) -> Result<u32, Failure> {
        self.take(op);
        Ok(self.session.queue_timeout(&self.op, limit)?)
    }

    fn take(&mut self, op: &[u8]) {
        self.op.clear();
        self.op.extend_from_slice(op);
    }

    /// Keeps a result for C.
    fn keep(&mut self, answer: Answer) -> Result<ReplicaResult, Failure> {
        let (result, index) = answer?;
        self.result = result;
        Ok(ReplicaResult { data: self.result.as_ptr().cast(), len: self.result.len(), index })
    }

    fn finish(&mut self, request: u32, limit: Duration) -> Result<ReplicaResult, Failure> {
        let answer = self.session.wait_timeout(request, limit);
        self.keep(answer)
    }
}

c_functions! {
    /// Opens a session, and waits until the group knows it.
    safe fn corecast_replica_session_open(replica: &Replica) -> (session: new ReplicaSession) {
        ReplicaSession { session: replica.0.session()?, op: Vec::new(), result: Vec::new() }
    }

    /// Does an operation of `len` bytes, and returns its result when this replica has applied it. From then on every linearizable
    /// read of any replica shows it.
    unsafe fn corecast_replica_session_execute(
        session: &mut ReplicaSession,
        op: bytes[len]
    ) -> (result: ReplicaResult) {
        let request = session.start(op)?;
        let answer = session.session.wait(request);
        session.keep(answer)?
    }

    /// The same, for at most `timeout_ns` nanoseconds. CORECAST_UNKNOWN if the time was up: the operation may be done or not.
    /// `request`, which is written then too, is its number for corecast_replica_session_resume. CORECAST_FULL if the time was up
    /// before a long operation had room: it was not begun then, and has no number.
    unsafe fn corecast_replica_session_execute_timeout_ns(
        session: &mut ReplicaSession,
        op: bytes[len],
        timeout_ns: Duration,
        request: out u32
    ) -> (result: ReplicaResult) {
        let began = Instant::now();
        let started = session.start_timeout(op, timeout_ns)?;
        request.write(started);
        session.finish(started, timeout_ns.saturating_sub(began.elapsed()))?
    }

    /// Begins an operation, whose result corecast_replica_session_finish_timeout_ns waits for. CORECAST_FULL if 16 requests have
    /// no result. A long operation waits until this node's memory has room for it, however long that takes:
    /// corecast_replica_session_queue_timeout_ns has a limit. Once in some 4 billion requests it waits, for at most 10 s, for the
    /// session that this one goes on as.
    unsafe fn corecast_replica_session_start(session: &mut ReplicaSession, op: bytes[len]) -> (request: u32) {
        session.start(op)?
    }

    /// As corecast_replica_session_start, but the operation is handed in only when a thread of this node next waits for a result:
    /// all that were queued until then are ordered in one run, which takes a fraction of the time of as many runs. A long one
    /// waits for room for at most `timeout_ns` nanoseconds, then CORECAST_FULL, and was not begun.
    unsafe fn corecast_replica_session_queue_timeout_ns(
        session: &mut ReplicaSession,
        op: bytes[len],
        timeout_ns: Duration
    ) -> (request: u32) {
        session.queue(op, timeout_ns)?
    }

    /// The requests whose results have not been taken, oldest first: writes the numbers of at most `capacity`, of 16 at most, to
    /// `requests`, which may be NULL if `capacity` is 0; `count` is how many there are.
    unsafe fn corecast_replica_session_read_unanswered(
        session: &mut ReplicaSession,
        requests: *mut u32,
        capacity: usize
    ) -> (count: usize) {
        // SAFETY: C passes a buffer of that size, or NULL.
        let buffer = unsafe { elements_mut(requests.cast::<MaybeUninit<u32>>(), capacity, "requests") }?;
        buffer.iter_mut().zip(session.session.unanswered()).for_each(|(to, request)| _ = to.write(request));
        session.session.unanswered().count()
    }

    /// Waits for the result of a request for at most `timeout_ns` nanoseconds.
    safe fn corecast_replica_session_finish_timeout_ns(
        session: &mut ReplicaSession,
        request: u32,
        timeout_ns: Duration
    ) -> (result: ReplicaResult) {
        session.finish(request, timeout_ns)?
    }

    /// Sends a request without a result once more, and waits for at most `timeout_ns` nanoseconds. It is done once all the same.
    /// CORECAST_UNKNOWN if the time was up once more, or the session has no such request without a result.
    safe fn corecast_replica_session_resume(
        session: &mut ReplicaSession,
        request: u32,
        timeout_ns: Duration
    ) -> (result: ReplicaResult) {
        let answer = session.session.resume(request, timeout_ns);
        session.keep(answer)?
    }

    /// Closes a session; NULL is none. Requests without a result may be done or not.
    closing fn corecast_replica_session_close(session: ReplicaSession);
}
