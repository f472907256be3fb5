//! The group as the log has made it: sessions and members, and which command the state machine is to run.

use std::collections::BTreeMap;
use std::hash::Hash;

use super::hash;
use super::members::{JoinRefusal, Members};
use super::sessions::{Done, Session};
use crate::{Command, Index, LeaveReason, NodeId, Op, SessionId};

/// The replicated state of the group. `O` is a reply as it is kept for retries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct System<O> {
    pub(super) members: Members,
    pub(super) sessions: BTreeMap<SessionId, Session<O>>,
    /// The greatest number of a session that each node has opened: a session that ended never opens again, though its opening
    /// may be ordered once more by a leader that was late.
    pub(super) opened: BTreeMap<NodeId, u64>,
    /// The incarnation of a slot up to which all sessions have ended.
    pub(super) ended: BTreeMap<u16, u16>,
    pub(super) applied: Index,
    pub(super) prefix: u128,
}

/// The outcome of a command, decided by [`System::begin`].
#[derive(Debug, PartialEq, Eq)]
pub enum Outcome<'a, B, O> {
    /// The state machine has to apply this; its reply goes to [`System::finish`].
    Run(&'a B),
    /// The request was done before: its reply.
    Cached(&'a O),
    /// The request was done before, and its client has said that it has the reply.
    Forgotten,
    /// Not yet, as a request of the session before it was not done: it was lost on its way, or is late. A client's operations are
    /// done in the order in which it has begun them, so this one has to be ordered again, behind that.
    Early,
    /// The session is not open, any more or yet; nor does an opening that comes late open it again.
    UnknownSession,
    /// The session is open now, or was already.
    SessionOpened(SessionId),
    /// The session is closed or expired.
    SessionEnded(SessionId),
    /// The node is a member now, or was already.
    Joined(NodeId),
    /// The node may not join.
    JoinRefused(NodeId, JoinRefusal),
    /// The node is no longer a member. Its sessions have ended, unless it was only too slow.
    Left(NodeId, LeaveReason),
    /// Each replica takes its checkpoint of this number here.
    Barrier(u64),
    /// Nothing.
    Noop,
}

/// How a request stands, asked for before it is ordered.
#[derive(Debug, PartialEq, Eq)]
pub enum RequestStatus<'a, O> {
    /// It was not done: order it.
    Open,
    /// It was done: the reply.
    Done(&'a O),
    /// It was done, and the reply is gone.
    Forgotten,
    /// The session is not open, any more or yet: `SessionExpired`.
    UnknownSession,
}

impl<O> System<O> {
    /// The state that a group begins with.
    #[must_use]
    pub fn new(members: Members) -> Self {
        Self {
            members,
            sessions: BTreeMap::new(),
            opened: BTreeMap::new(),
            ended: BTreeMap::new(),
            applied: 0,
            prefix: 0,
        }
    }

    /// The members.
    #[must_use]
    pub fn members(&self) -> &Members {
        &self.members
    }

    /// The count of commands applied.
    #[must_use]
    pub fn applied(&self) -> Index {
        self.applied
    }

    /// The hash of the commands applied: equal in all replicas at equal counts.
    #[must_use]
    pub fn prefix(&self) -> u128 {
        self.prefix
    }

    /// The open sessions, in order.
    pub fn sessions(&self) -> impl Iterator<Item = SessionId> + '_ {
        self.sessions.keys().copied()
    }

    /// How a request stands.
    #[must_use]
    pub fn status(&self, session: SessionId, rid: u32) -> RequestStatus<'_, O> {
        match self.sessions.get(&session).map(|found| found.done(rid)) {
            None => RequestStatus::UnknownSession,
            Some(Done::No) => RequestStatus::Open,
            Some(Done::Yes(reply)) => RequestStatus::Done(reply),
            Some(Done::Forgotten) => RequestStatus::Forgotten,
        }
    }

    /// The number of the request that a session is to do next; `None` if it is not open, or has done its last.
    #[must_use]
    pub fn next_request(&self, session: SessionId) -> Option<u32> {
        self.sessions.get(&session)?.next()
    }

    /// Decides about the command at `index` and counts it as applied.
    ///
    /// # Panics
    /// If `index` is not the next one.
    #[track_caller]
    pub fn begin<'a, B: Hash>(&'a mut self, index: Index, command: &'a Command<B>) -> Outcome<'a, B, O> {
        assert_eq!(index, self.applied, "commands are applied in the order of their indexes");
        self.applied += 1;
        self.prefix = hash::extended(self.prefix, command);
        match &command.op {
            Op::User(body) => self.run(command.session, command.rid, body),
            Op::Noop => Outcome::Noop,
            Op::OpenSession => self.open_session(command.session),
            Op::CloseSession => self.close_session(command.session),
            Op::ExpireSession(session) => self.end_session(*session),
            Op::Join { node, boot, .. } => self.join(*node, *boot),
            Op::Leave { node, reason } => self.leave(*node, *reason),
            Op::Barrier(id) => Outcome::Barrier(*id),
        }
    }

    /// Keeps the reply of a request that [`begin`](Self::begin) said to run.
    pub fn finish(&mut self, session: SessionId, rid: u32, reply: O) {
        if let Some(session) = self.sessions.get_mut(&session) {
            session.finish(rid, reply);
        }
    }

    /// Acts as if all requests of a session up to this one were done.
    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, session: SessionId, last: u32) {
        self.sessions.get_mut(&session).expect("it is open").last = last;
    }

    fn run<'a, B>(&'a mut self, session: SessionId, rid: u32, body: &'a B) -> Outcome<'a, B, O> {
        let Some(session) = self.sessions.get_mut(&session) else { return Outcome::UnknownSession };
        if session.next() == Some(rid) {
            session.begin(rid);
            return Outcome::Run(body);
        }
        match session.done(rid) {
            Done::Yes(reply) => Outcome::Cached(reply),
            Done::Forgotten => Outcome::Forgotten,
            Done::No => Outcome::Early,
        }
    }

    /// Opens a session, unless it was open and has ended, or one of its node with a greater number came first.
    fn open_session<B>(&mut self, session: SessionId) -> Outcome<'_, B, O> {
        if self.sessions.contains_key(&session) {
            return Outcome::SessionOpened(session);
        }
        if !self.note_opened(session) {
            return Outcome::UnknownSession;
        }
        self.sessions.insert(session, Session::new());
        Outcome::SessionOpened(session)
    }

    /// Notes that a session was opened. False if it cannot be: it has ended, or one of its node with a greater number came first.
    fn note_opened(&mut self, session: SessionId) -> bool {
        let Some(node) = session.node() else { return false };
        let is_ended = self.ended.get(&node.slot).is_some_and(|&inc| node.inc <= inc);
        if is_ended || self.opened.get(&node).is_some_and(|&last| session.number() <= last) {
            return false;
        }
        self.opened.insert(node, session.number());
        true
    }

    /// Closes a session. One whose opening comes later, as it was lost on its way, is not opened then: nobody would close it.
    fn close_session<B>(&mut self, session: SessionId) -> Outcome<'_, B, O> {
        self.note_opened(session);
        self.end_session(session)
    }

    fn end_session<B>(&mut self, session: SessionId) -> Outcome<'_, B, O> {
        self.sessions.remove(&session).map_or(Outcome::UnknownSession, |_| Outcome::SessionEnded(session))
    }

    fn join<B>(&mut self, node: NodeId, boot: u64) -> Outcome<'_, B, O> {
        match self.members.join(node, boot) {
            Err(refusal) => return Outcome::JoinRefused(node, refusal),
            // The process before this one is gone, and so are its clients.
            Ok(true) => self.end_sessions_of(node.slot, node.inc - 1),
            Ok(false) => {}
        }
        Outcome::Joined(node)
    }

    fn leave<B>(&mut self, node: NodeId, reason: LeaveReason) -> Outcome<'_, B, O> {
        if !self.members.leave(node) {
            return Outcome::Noop;
        }
        if reason != LeaveReason::Lagging {
            self.end_sessions_of(node.slot, node.inc);
        }
        Outcome::Left(node, reason)
    }

    /// Ends the sessions that incarnations of a slot have opened, up to this one, for good.
    fn end_sessions_of(&mut self, slot: u16, inc: u16) {
        let ended = self.ended.entry(slot).or_insert(inc);
        *ended = inc.max(*ended);
        let is_ended = |node: NodeId| node.slot == slot && node.inc <= inc;
        self.opened.retain(|&node, _| !is_ended(node));
        self.sessions.retain(|session, _| !session.node().is_some_and(is_ended));
    }
}

#[cfg(test)]
mod tests {
    use super::{Outcome, RequestStatus, System};
    use crate::system::Members;
    use crate::{Command, LeaveReason, NodeId, Op, SessionId};

    const NODES: [NodeId; 2] = [NodeId::new(0, 1), NodeId::new(1, 1)];

    fn system() -> System<u32> {
        System::new(Members::founding(NODES.map(|node| (node, 1))))
    }

    fn command(session: SessionId, rid: u32, op: Op<u8>) -> Command<u8> {
        Command { session, rid, op }
    }

    #[test]
    fn a_request_is_run_once() {
        let (mut system, session) = (system(), SessionId::new(NODES[1], 1));
        let request = command(session, 1, Op::User(7));
        assert_eq!(system.begin(0, &request), Outcome::UnknownSession);
        assert_eq!(system.status(session, 1), RequestStatus::UnknownSession);
        assert_eq!(system.begin(1, &command(session, 0, Op::OpenSession)), Outcome::SessionOpened(session));
        assert_eq!(system.begin(2, &request), Outcome::Run(&7));
        system.finish(session, 1, 70);
        assert_eq!(system.begin(3, &request), Outcome::Cached(&70));
        assert_eq!(system.status(session, 1), RequestStatus::Done(&70));
        assert_eq!(system.begin(4, &command(session, 2, Op::CloseSession)), Outcome::SessionEnded(session));
        assert_eq!(system.begin(5, &request), Outcome::UnknownSession);
        assert_eq!(system.begin(6, &command(session, 0, Op::OpenSession)), Outcome::UnknownSession, "it has ended");
        let next = SessionId::new(NODES[1], 2);
        assert_eq!(system.begin(7, &command(next, 0, Op::OpenSession)), Outcome::SessionOpened(next));
    }

    #[test]
    fn requests_of_a_session_are_run_in_the_order_of_their_numbers() {
        let (mut system, session) = (system(), SessionId::new(NODES[1], 1));
        let request = |rid| command(session, rid, Op::User(rid as u8));
        system.begin(0, &command(session, 0, Op::OpenSession));
        assert_eq!(system.begin(1, &request(2)), Outcome::Early, "the one before it was lost");
        assert_eq!((system.status(session, 2), system.next_request(session)), (RequestStatus::Open, Some(1)));
        assert_eq!(system.begin(2, &request(1)), Outcome::Run(&1));
        assert_eq!(system.begin(3, &request(3)), Outcome::Early);
        assert_eq!(system.begin(4, &request(2)), Outcome::Run(&2), "it is as if it had not come before");
        assert_eq!(system.begin(5, &request(3)), Outcome::Run(&3));
    }

    #[test]
    fn a_session_that_was_closed_first_never_opens() {
        let (mut system, session) = (system(), SessionId::new(NODES[1], 1));
        assert_eq!(system.begin(0, &command(session, 1, Op::CloseSession)), Outcome::UnknownSession);
        assert_eq!(system.begin(1, &command(session, 0, Op::OpenSession)), Outcome::UnknownSession);
        assert_eq!(system.sessions().count(), 0);
    }

    #[test]
    fn sessions_end_with_a_dead_process_and_not_with_a_slow_one() {
        let (mut system, session) = (system(), SessionId::new(NODES[1], 1));
        let system_command = |op| command(SessionId::SYSTEM, 0, op);
        system.begin(0, &command(session, 0, Op::OpenSession));
        system.begin(1, &system_command(Op::Leave { node: NODES[1], reason: LeaveReason::Lagging }));
        let again = NodeId::new(1, 2);
        let joined =
            system.begin(2, &system_command(Op::Join { node: again, boot: 1, applied: 2 })) == Outcome::Joined(again);
        assert!(joined && system.sessions().eq([session]), "the same process came back");
        system.begin(3, &system_command(Op::Leave { node: again, reason: LeaveReason::Dead }));
        assert_eq!(system.sessions().count(), 0);
        assert_eq!(system.begin(4, &command(session, 0, Op::OpenSession)), Outcome::UnknownSession);
        assert_eq!(Vec::from_iter(system.members().iter()), [NODES[0]]);
    }

    #[test]
    fn equal_logs_have_equal_hashes() {
        let (mut one, mut other) = (system(), system());
        let session = SessionId::new(NODES[0], 9);
        one.begin(0, &command(session, 0, Op::OpenSession));
        other.begin(0, &command(session, 0, Op::OpenSession));
        assert_eq!(one, other);
        one.begin(1, &command(session, 1, Op::User(1)));
        other.begin(1, &command(session, 1, Op::User(2)));
        assert_ne!(one.prefix(), other.prefix());
    }
}
