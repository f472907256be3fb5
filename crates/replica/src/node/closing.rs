//! Closing sessions, and the operations that are dropped with them.
//!
//! A session may be dropped while its requests have no result: the leader stands still, or is gone. Some were never ordered, and
//! never will be; others are on their way to the log, or in it. Where their bytes lie in the arena, the room returns when the
//! session's end is applied. A request that is ordered after that is refused, and no replica reads its bytes.

use super::driver::Driver;
use super::inner::Inner;
use crate::one_paxos::Input;
use crate::segment::{Body, BulkPlace};
use crate::{Command, Index, Op, SessionId, StateMachine};

/// Operations without a result whose sessions were dropped.
#[derive(Debug, Default)]
pub(super) struct Dropped(Vec<(SessionId, BulkPlace)>);

impl<S: StateMachine> Driver<S> {
    /// Closes a session. The request for that may go lost like any other, and is handed in until it is applied.
    pub(super) fn close(&mut self, inner: &Inner<S>, session: SessionId, rid: u32) {
        self.mailboxes.remove(&session);
        for command in self.submitted.drop_session(session) {
            self.shm.answered(command.session, command.rid);
            if let Op::User(Body::Bulk(place)) = command.op {
                self.room.dropped.0.push((session, place));
            }
        }
        let close = self.submitted.add(Command { session, rid, op: Op::CloseSession });
        self.step(inner, Input::Requests(vec![close]));
    }

    /// The end of a session was applied at `index`: its dropped operations need room only until all members have come there.
    pub(super) fn has_closed(&mut self, session: SessionId, index: Index) {
        let shm = &mut self.shm;
        self.room.dropped.0.retain(|(of, place)| {
            let stays = *of != session;
            if !stays {
                shm.ordered_bulk(place, index);
            }
            stays
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;
    use crate::kv::{Condition, Key, Op as KvOp, Store, Value};
    use crate::node::{Config, Placement, Replicated};
    use crate::{ExecuteError, Node, Session};

    /// Long enough for anything that happens at all.
    const PATIENCE: Duration = Duration::from_secs(60);
    const ARENA: u64 = 1 << 16;

    /// A leader, and a node that waits for it.
    fn group() -> [Node<Store>; 2] {
        let config = Config::default().slots(4).window(256).bulk_bytes(ARENA).placement(Placement::Fused);
        let config = config.patience(PATIENCE);
        let leader = Replicated::create(&config, Store::default()).expect("there is memory");
        let other = Replicated::attach_fd(&config, leader.share().expect("/proc")).expect("a free slot");
        [leader, other]
    }

    /// An operation of a sixteenth of the arena.
    fn long() -> KvOp {
        let value = Value::new(&[7; ARENA as usize / 16 - 64]).expect("a value");
        KvOp::Set { key: Key::new(b"long").expect("a key"), value, condition: Condition::Always }
    }

    /// Begins a long operation while the leader stands still, and drops the session; then does this at the node.
    fn drop_with_an_open_request(
        [leader, other]: &[Node<Store>; 2],
        mut session: Session<Store>,
        then: impl FnOnce(&mut Driver<Store>),
    ) {
        let _stands_still = leader.inner().driver.lock();
        let unknown = session.execute_timeout(&long(), Duration::from_millis(1));
        assert_eq!(unknown.err(), Some(ExecuteError::Unknown { rid: 1 }));
        drop(session);
        other.with_driver(|driver| {
            driver.run_errands(other.inner());
            then(driver);
        });
    }

    #[test]
    fn the_room_of_an_operation_that_is_never_ordered_returns() {
        let group = group();
        let session = group[1].session().expect("a member");
        drop_with_an_open_request(&group, session, |_| {});
        let mut session = group[1].session().expect("a member");
        for _ in 0..32 {
            session.execute_timeout(&long(), PATIENCE / 6).expect("there is room");
        }
    }

    #[test]
    fn the_end_of_a_session_is_asked_for_again() {
        let group = group();
        let session = group[1].session().expect("a member");
        // All that this node has asked of the leader is lost.
        drop_with_an_open_request(&group, session, |driver| {
            driver.shm.give_up_requests();
        });
        let until = Instant::now() + PATIENCE / 6;
        while group[0].with_driver(|driver| driver.system.sessions().count()) > 0 {
            assert!(Instant::now() < until, "{:?}", group[0].status());
            std::thread::yield_now();
        }
    }

    /// Requests that come after their session's end keep no room of the arena.
    #[test]
    fn a_request_of_a_session_that_has_ended_takes_no_room() {
        let group = group();
        let mut session = group[1].session().expect("a member");
        let end = Command { session: SessionId::SYSTEM, rid: 0, op: Op::ExpireSession(session.id()) };
        group[0].with_driver(|driver| driver.step(group[0].inner(), Input::Requests(vec![end])));
        let until = Instant::now() + PATIENCE / 6;
        while group[1].with_driver(|driver| driver.system.sessions().count()) > 0 {
            assert!(Instant::now() < until, "{:?}", group[1].status());
            std::thread::yield_now();
        }
        while session.start(&long()).is_ok() {}
        assert_eq!(session.start(&long()).err(), Some(ExecuteError::Full(16)));
        group[1].with_driver(|driver| driver.run_errands(group[1].inner()));
        let mut session = group[1].session().expect("a member");
        for _ in 0..32 {
            session.execute_timeout(&long(), PATIENCE / 6).expect("there is room");
        }
    }
}
