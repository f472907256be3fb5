//! Requests of a node's sessions on their way to the log: the errands that bring them, and what becomes of them first.

use std::sync::Arc;

use super::mailbox::Mailbox;
use super::reply::Reply;
use super::state_bytes::GroupState;
use crate::system::RequestStatus;
use crate::{Command, Op, SessionId};

/// A thing that a thread of a node wants the driver to do.
#[derive(Debug)]
pub enum Errand<B> {
    /// Order this request; its result goes to the mailbox.
    Submit(Command<B>),
    /// Order this request of a session once more, unless it has its result.
    Repeat(SessionId, u32),
    /// Results of this session go to this mailbox from now on.
    Open(SessionId, Arc<Mailbox>),
    /// No more results are wanted; the number is for the request that says so.
    Close(SessionId, u32),
    /// Ask the others to let this node go.
    Leave,
}

/// The way of a request that was handed in, once more or for the first time.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It is to be ordered.
    Order,
    /// It was done: the reply.
    Done(Reply),
    /// Its session has ended, or the session has the reply already.
    Expired,
}

/// Looks up in the group's state what becomes of a request.
pub(crate) fn admission<B>(system: &GroupState, command: &Command<B>) -> Admission {
    let opens = matches!(command.op, Op::OpenSession);
    // Its opening may be ordered still: an end that comes first has it never open.
    let closes = matches!(command.op, Op::CloseSession);
    match system.status(command.session, command.rid) {
        RequestStatus::Done(reply) => Admission::Done(reply.clone()),
        // Its session is open: the reply to an opening is an index.
        RequestStatus::Forgotten if opens => Admission::Done(Reply::from(&system.applied().to_le_bytes()[..])),
        RequestStatus::UnknownSession if opens || closes => Admission::Order,
        RequestStatus::Forgotten | RequestStatus::UnknownSession => Admission::Expired,
        RequestStatus::Open => Admission::Order,
    }
}

#[cfg(test)]
mod tests {
    use super::{Admission, admission};
    use crate::runtime::{GroupState, Reply};
    use crate::system::{Members, Outcome};
    use crate::{Command, NodeId, Op, SessionId};

    #[test]
    fn a_request_is_ordered_until_it_is_done() {
        let node = NodeId::new(0, 1);
        let session = SessionId::new(node, 1);
        let mut system = GroupState::new(Members::founding([(node, 1)]));
        let open = Command::<u8> { session, rid: 0, op: Op::OpenSession };
        let request = Command { session, rid: 1, op: Op::User(7) };
        assert_eq!(admission(&system, &open), Admission::Order);
        assert_eq!(admission(&system, &request), Admission::Expired, "no session yet");
        let close = Command::<u8> { session, rid: 2, op: Op::CloseSession };
        assert_eq!(admission(&system, &close), Admission::Order, "its opening may come later");
        system.begin(0, &open);
        assert_eq!(admission(&system, &open), Admission::Done(Reply::from(&1_u64.to_le_bytes()[..])), "it is open");
        assert_eq!(admission(&system, &request), Admission::Order);
        assert_eq!(system.begin(1, &request), Outcome::Run(&7));
        let reply = Reply::from(&b"reply"[..]);
        system.finish(session, 1, reply.clone());
        assert_eq!(admission(&system, &request), Admission::Done(reply));
        system.begin(2, &close);
        assert_eq!(admission(&system, &request), Admission::Expired);
    }
}
