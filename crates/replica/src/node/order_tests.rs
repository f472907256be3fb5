//! Tests of the order of one session's operations, where many are under way at the same time.

use std::collections::BTreeMap;
use std::io;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use super::config::{Config, Placement};
use super::open::Replicated;
use crate::one_paxos::Input;
use crate::runtime::LAST_BEFORE_RENEWAL;
use crate::segment::Body;
use crate::{Command, ExecuteError, Index, Level, Node, Op, Session, StateMachine};

/// Nobody is held for stuck.
const PATIENCE: Duration = Duration::from_secs(60);
const SESSIONS: u64 = 8;
/// Not 16: the ring's 64 places must end in the middle of a session.
const EACH: u64 = 15;

/// The last number of each client, and the count of operations that did not follow the one before.
#[derive(Debug, Default, Clone)]
struct Lines {
    last: BTreeMap<u64, u64>,
    out_of_order: u64,
}

impl StateMachine for Lines {
    /// A client in the upper half, and the number of its operation.
    type Op = u64;
    type Out = ();
    type Query = ();
    type Answer = (u64, u64);

    fn apply(&mut self, _at: Index, op: &u64) {
        let (client, number) = (op >> 32, op & 0xffff_ffff);
        let last = self.last.entry(client).or_default();
        self.out_of_order += u64::from(number != *last + 1);
        *last = number;
    }

    fn query(&self, (): &()) -> (u64, u64) {
        (self.last.values().sum(), self.out_of_order)
    }

    fn digest(&self) -> u128 {
        self.out_of_order.into()
    }

    fn snapshot(&self, to: &mut dyn io::Write) -> io::Result<()> {
        assert!(self.last.is_empty(), "nobody joins behind operations");
        to.write_all(&[])
    }

    fn restore(_from: &mut dyn io::Read) -> io::Result<Self> {
        Ok(Self::default())
    }
}

/// A leader, and a node whose ring holds 64 requests.
fn group() -> [Node<Lines>; 2] {
    let config = Config::default().slots(4).window(256).placement(Placement::Fused).patience(PATIENCE);
    let leader = Replicated::create(&config, Lines::default()).expect("there is memory");
    let other = Replicated::attach_fd(&config, leader.share().expect("/proc")).expect("a free slot");
    [leader, other]
}

fn start_all(sessions: &mut [Session<Lines>]) {
    for (client, session) in (0..).zip(sessions) {
        for number in 1..=EACH {
            session.start(&(client << 32 | number)).expect("there is room");
        }
    }
}

fn finish_all(sessions: &mut [Session<Lines>]) {
    for session in sessions {
        for rid in Vec::from_iter(session.unanswered()) {
            session.wait_timeout(rid, PATIENCE).expect("done");
        }
    }
}

#[test]
fn more_requests_than_the_ring_holds_are_done_in_their_order() {
    let [leader, other] = group();
    let mut sessions = Vec::from_iter((0..SESSIONS).map(|_| other.session().expect("a member")));
    let stands_still = leader.inner().driver.lock();
    start_all(&mut sessions);
    drop(stands_still);
    finish_all(&mut sessions);
    assert_eq!(other.read(Level::Local, &()).expect("a member").0, (SESSIONS * EACH, 0));
}

/// The leader gets later requests of a session first, as if the others were lost on their way.
#[test]
fn requests_that_come_before_earlier_ones_are_done_behind_them() {
    let [leader, other] = group();
    let mut session = other.session().expect("a member");
    let mut stands_still = leader.inner().driver.lock();
    start_all(std::slice::from_mut(&mut session));
    let late = other.with_driver(|driver| {
        driver.run_errands(other.inner());
        driver.shm.give_up_requests();
        driver.submitted.of_session_from(session.id(), 5)
    });
    assert_eq!(late.len() as u64, EACH - 4);
    stands_still.step(leader.inner(), Input::Requests(late));
    drop(stands_still);
    finish_all(std::slice::from_mut(&mut session));
    assert_eq!(other.read(Level::Local, &()).expect("a member").0, (EACH, 0));
}

/// Neither operation is lost, nor a number used twice.
#[test]
fn a_session_goes_on_as_another_one_before_its_numbers_end() {
    let [node, _other] = group();
    let mut session = node.session().expect("a member");
    let first = session.id();
    node.with_driver(|driver| driver.system.skip_to(first, LAST_BEFORE_RENEWAL));
    session.skip_to(LAST_BEFORE_RENEWAL);
    let started = [1, 2].map(|number| session.start(&number).expect("there is room"));
    assert_eq!(started, [LAST_BEFORE_RENEWAL + 1, LAST_BEFORE_RENEWAL + 2], "the first result was not taken");
    for rid in started {
        session.wait_timeout(rid, PATIENCE).expect("done");
        assert_eq!(session.id(), first);
    }
    let next = session.start(&3).expect("there is room");
    assert!(session.id() != first && next == 1);
    session.wait_timeout(next, PATIENCE).expect("done");
    assert_eq!(node.read(Level::Local, &()).expect("a member").0, (3, 0));
    node.with_driver(|driver| assert!(!driver.system.sessions().any(|open| open == first), "it was closed"));
}

/// The group cannot open another session meanwhile: the leader stands still.
#[test]
fn a_session_waits_for_the_one_that_it_goes_on_as_no_longer_than_it_is_told() {
    let [leader, other] = group();
    let mut session = other.session().expect("a member");
    let first = session.id();
    let stands_still = leader.inner().driver.lock();
    session.skip_to(LAST_BEFORE_RENEWAL + 1);
    let (tell, told) = mpsc::channel();
    let told = thread::scope(|scope| {
        scope.spawn(|| tell.send((session.execute_timeout(&1, Duration::from_millis(1)), session.id())));
        // It would go on as another one as soon as the leader moves.
        let told = told.recv_timeout(Duration::from_secs(5));
        drop(stands_still);
        told
    });
    let rid = LAST_BEFORE_RENEWAL + 2;
    assert_eq!(told, Ok((Err(ExecuteError::Unknown { rid }), first)));
}

#[test]
fn a_session_whose_numbers_have_ended_takes_no_request_before_its_results_are_taken() {
    let [node, _other] = group();
    let mut session = node.session().expect("a member");
    let first = session.id();
    let skip_to = |session: &mut Session<Lines>, last| {
        node.with_driver(|driver| driver.system.skip_to(first, last));
        session.skip_to(last);
    };
    skip_to(&mut session, LAST_BEFORE_RENEWAL - 2);
    let rid = session.start(&1).expect("there is room");
    skip_to(&mut session, u32::MAX - 1);
    assert_eq!(session.start(&2), Ok(u32::MAX));
    assert_eq!(session.start(&3), Err(ExecuteError::Full(16)));
    for rid in [u32::MAX, rid] {
        assert_eq!(session.start(&3), Err(ExecuteError::Full(16)));
        session.wait_timeout(rid, PATIENCE).expect("done");
    }
    assert_eq!(session.start(&3), Ok(1));
}

#[test]
fn a_leader_that_accepts_its_own_proposals_notes_no_request_whose_result_it_has() {
    let [leader, other] = group();
    let mut session = leader.session().expect("a member");
    let rid = session.start(&1).expect("there is room");
    leader.with_driver(|driver| assert!(driver.submitted.is_empty() && driver.direct.awaited.is_none()));
    assert_eq!(session.wait_timeout(rid, Duration::ZERO).map(|(out, _)| out), Ok(()), "nobody had to turn anything");
    other.catch_up(Level::Linearizable, PATIENCE).expect("a member");
    assert_eq!(other.read(Level::Local, &()).expect("a member").0, (1, 0));
}

#[test]
fn a_leader_orders_the_requests_of_others_in_the_run_of_its_caller() {
    let [leader, other] = group();
    let [session, mut theirs] = [&leader, &other].map(|node| node.session().expect("a member"));
    let mut driver = leader.inner().driver.lock();
    let rid = theirs.start(&1).expect("there is room");
    let (runs, applied) = (driver.counters.commits, driver.core.applied_count());
    let own = Command {
        session: session.id(),
        rid: 1,
        op: Op::User(Body::inline(&(1_u64 << 32 | 1).to_le_bytes()).expect("short")),
    };
    assert!(driver.submit_for_caller(leader.inner(), own).is_some());
    assert_eq!((driver.counters.commits, driver.core.applied_count()), (runs + 1, applied + 2));
    drop(driver);
    theirs.wait_timeout(rid, PATIENCE).expect("done");
}

/// The other member applies nothing for a while.
#[test]
fn a_request_that_finds_no_room_is_done_once_there_is_some() {
    let [leader, other] = group();
    let mut session = leader.session().expect("a member");
    let stands_still = other.inner().driver.lock();
    let mut number = 0;
    let rid = loop {
        number += 1;
        match session.execute_timeout(&number, Duration::from_millis(50)) {
            Ok(_) => {}
            Err(ExecuteError::Unknown { rid }) => break rid,
            Err(error) => panic!("{error}"),
        }
    };
    leader.with_driver(|driver| assert!(!driver.submitted.is_empty()));
    drop(stands_still);
    session.wait_timeout(rid, PATIENCE).expect("there is room");
    assert_eq!(leader.read(Level::Local, &()).expect("a member").0, (number, 0));
}

/// Another leader is chosen while the caller's request is on its way.
#[test]
fn a_request_of_a_leader_that_was_deposed_is_done_by_the_next() {
    let [leader, other] = group();
    let mut session = leader.session().expect("a member");
    let deposed = leader.inner().driver.lock();
    other.with_driver(|driver| {
        driver.step(other.inner(), Input::Suspect { node: leader.id(), is_dead: false });
        assert!(driver.core.leads());
    });
    drop(deposed);
    for number in 1..=3 {
        session.execute_timeout(&number, PATIENCE).expect("done by the other");
    }
    assert_eq!(other.read(Level::Linearizable, &()).expect("a member").0, (3, 0));
}
