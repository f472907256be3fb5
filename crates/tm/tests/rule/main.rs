//! The rule of servers: each way in which a request is granted, refused or put off, and the lock table against a map.
#![cfg(not(loom))]

mod entry;
mod table;

use std::cell::{Cell, RefCell};

use corecast_tm::Manager;
use corecast_tm::client_set::ClientSet;
use corecast_tm::lock_table::LockTable;
use corecast_tm::rule::{Locks, Reply, Request, Rule, Statuses};
use corecast_tm::status::{ClientId, State, Why};

const A: ClientId = ClientId(0);
const B: ClientId = ClientId(1);
const C: ClientId = ClientId(2);
const X: u32 = 7;
const Y: u32 = 1_000_000;

/// The statuses of three clients in one thread.
struct Board {
    statuses: RefCell<[(u64, State); 3]>,
    /// A client that commits just before it would be aborted.
    commits_first: Cell<Option<ClientId>>,
}

impl Board {
    /// All run their first transaction.
    fn new() -> Self {
        Self { statuses: RefCell::new([(1, State::Running); 3]), commits_first: Cell::new(None) }
    }

    fn set(&self, client: ClientId, epoch: u64, state: State) {
        self.statuses.borrow_mut()[usize::from(client.0)] = (epoch, state);
    }

    fn state(&self, client: ClientId) -> State {
        self.get(client).1
    }
}

impl Statuses for Board {
    fn get(&self, client: ClientId) -> (u64, State) {
        self.statuses.borrow()[usize::from(client.0)]
    }

    fn try_abort(&self, client: ClientId, epoch: u64, why: Why) -> bool {
        if self.commits_first.get() == Some(client) {
            self.set(client, epoch, State::Committed);
        }
        let is_running = self.get(client) == (epoch, State::Running);
        if is_running {
            self.set(client, epoch, State::Aborted(why));
        }
        is_running
    }
}

/// A server, and a client that may ask it.
struct Server {
    rule: Rule,
    table: LockTable,
    board: Board,
}

impl Server {
    /// The smaller key wins.
    fn new() -> Self {
        Self::with(Manager::Wholly)
    }

    fn with(manager: Manager) -> Self {
        Self { rule: Rule::new(manager), table: LockTable::new(3), board: Board::new() }
    }

    fn load(&mut self, client: ClientId, key: u64, var: u32) -> Reply {
        self.rule.load(&mut self.table, &self.board, Request { client, epoch: 1, key }, var)
    }

    fn store(&mut self, client: ClientId, key: u64, vars: &[u32]) -> Reply {
        self.rule.store_all(&mut self.table, &self.board, Request { client, epoch: 1, key }, vars)
    }

    fn readers(&self, var: u32) -> Vec<ClientId> {
        let mut readers = ClientSet::default();
        self.table.add_readers(var, &mut readers);
        readers.iter().collect()
    }

    /// The writer and the readers of a variable.
    fn holders(&self, var: u32) -> (Option<ClientId>, Vec<ClientId>) {
        (self.table.writer(var), self.readers(var))
    }
}

#[test]
fn read_locks_go_together() {
    let mut server = Server::new();
    for client in [A, B, C] {
        assert_eq!(server.load(client, 0, X), Reply::Granted);
    }
    assert_eq!(server.holders(X), (None, vec![A, B, C]));
}

#[test]
fn a_client_is_in_its_own_way_nowhere() {
    let mut server = Server::new();
    assert_eq!(server.load(A, 0, X), Reply::Granted);
    assert_eq!(server.store(A, 0, &[X]), Reply::Granted);
    assert_eq!(server.load(A, 0, X), Reply::Granted);
    assert_eq!(server.holders(X), (Some(A), vec![A]));
    server.table.release_all(A, 1);
    assert_eq!(server.table.locked(), 0);
}

#[test]
fn a_requester_that_does_not_win_is_refused_and_loses_its_locks() {
    type Conflict = (fn(&mut Server) -> Reply, fn(&mut Server) -> Reply, Why);
    let conflicts: [Conflict; 3] = [
        (|server| server.store(A, 1, &[X]), |server| server.load(B, 2, X), Why::Raw),
        (|server| server.store(A, 1, &[X]), |server| server.store(B, 2, &[X]), Why::Waw),
        (|server| server.load(A, 1, X), |server| server.store(B, 2, &[X]), Why::War),
    ];
    for manager in Manager::ALL {
        for (first, second, why) in conflicts {
            let mut server = Server::with(manager);
            assert_eq!(server.load(B, 2, Y), Reply::Granted);
            assert_eq!(first(&mut server), Reply::Granted);
            let before = server.holders(X);
            assert_eq!(second(&mut server), Reply::Refused(why), "{manager}");
            assert_eq!((server.holders(X), server.holders(Y)), (before, (None, vec![])), "{manager}");
            assert_eq!(server.board.state(A), State::Running);
        }
    }
}

#[test]
fn a_requester_that_wins_aborts_the_holder_which_loses_its_locks() {
    type Conflict = (fn(&mut Server) -> Reply, fn(&mut Server) -> Reply, Why);
    let conflicts: [Conflict; 3] = [
        (|server| server.store(B, 2, &[X]), |server| server.load(A, 1, X), Why::Raw),
        (|server| server.store(B, 2, &[X]), |server| server.store(A, 1, &[X]), Why::Waw),
        (|server| server.load(B, 2, X), |server| server.store(A, 1, &[X]), Why::War),
    ];
    for (first, second, why) in conflicts {
        let mut server = Server::new();
        assert_eq!(server.load(B, 2, Y), Reply::Granted);
        assert_eq!(first(&mut server), Reply::Granted);
        assert_eq!(second(&mut server), Reply::Granted);
        assert_eq!(server.board.state(B), State::Aborted(why));
        assert_eq!(server.holders(Y), (None, vec![]));
        assert_eq!(server.table.locked(), 1);
    }
}

#[test]
fn without_keys_the_requester_loses_whatever_the_keys_are() {
    for manager in [Manager::None, Manager::BackOff] {
        let mut server = Server::with(manager);
        assert_eq!(server.store(B, 9, &[X]), Reply::Granted);
        assert_eq!(server.load(A, 0, X), Reply::Refused(Why::Raw));
    }
}

#[test]
fn a_writer_must_beat_every_reader() {
    let mut server = Server::new();
    for (client, key) in [(A, 5), (C, 1)] {
        assert_eq!(server.load(client, key, X), Reply::Granted);
    }
    assert_eq!(server.store(B, 3, &[X]), Reply::Refused(Why::War));
    assert_eq!(server.board.state(A), State::Running, "it would have been beaten, in vain");
    assert_eq!(server.holders(X), (None, vec![A, C]));
}

#[test]
fn a_holder_that_persists_puts_the_requester_off() {
    let mut server = Server::new();
    assert_eq!(server.load(A, 0, Y), Reply::Granted);
    assert_eq!(server.store(B, 9, &[X]), Reply::Granted);
    server.board.set(B, 1, State::Persisting);
    for _ in 0..2 {
        assert_eq!(server.load(A, 0, X), Reply::Retry);
        assert_eq!(server.store(A, 0, &[X]), Reply::Retry);
    }
    assert_eq!((server.holders(X), server.holders(Y)), ((Some(B), vec![]), (None, vec![A])));
    server.board.set(B, 1, State::Committed);
    assert_eq!(server.load(A, 0, X), Reply::Granted);
    assert_eq!(server.holders(X), (None, vec![A]));
}

#[test]
fn a_holder_that_ends_before_it_is_aborted_puts_the_requester_off() {
    let mut server = Server::new();
    assert_eq!(server.store(B, 9, &[X]), Reply::Granted);
    server.board.commits_first.set(Some(B));
    assert_eq!(server.load(A, 0, X), Reply::Retry);
    assert_eq!(server.load(A, 0, X), Reply::Granted);
    assert_eq!(server.board.state(B), State::Committed);
}

#[test]
fn locks_of_a_transaction_that_has_ended_are_in_nobodys_way() {
    for (epoch, state) in [
        (1, State::Committed),
        (1, State::Aborted(Why::Raw)),
        (2, State::Running),
        (2, State::Persisting),
        (2, State::Aborted(Why::War)),
    ] {
        let mut server = Server::with(Manager::None);
        assert_eq!(server.store(B, 0, &[X, Y]), Reply::Granted);
        server.board.set(B, epoch, state);
        assert_eq!(server.store(A, 0, &[X]), Reply::Granted);
        assert_eq!((server.holders(X), server.holders(Y)), ((Some(A), vec![]), (None, vec![])), "{state:?}");
        assert_eq!(server.board.get(B), (epoch, state), "the next transaction is left alone");
    }
}

#[test]
fn a_request_of_the_next_transaction_drops_the_locks_of_the_last() {
    let mut server = Server::new();
    assert_eq!(server.store(A, 0, &[X]), Reply::Granted);
    let next = Request { client: A, epoch: 2, key: 4 };
    assert_eq!(server.rule.load(&mut server.table, &server.board, next, Y), Reply::Granted);
    assert_eq!((server.holders(X), server.holders(Y)), ((None, vec![]), (None, vec![A])));
    server.table.release_all(A, 1);
    server.table.release(A, 1, Y);
    assert_eq!(server.holders(Y), (None, vec![A]), "a late release of the last transaction");
}

#[test]
fn the_first_key_of_a_transaction_counts() {
    let mut server = Server::with(Manager::OffsetGreedy);
    assert_eq!(server.store(A, 100, &[X]), Reply::Granted);
    assert_eq!(server.store(A, 103, &[Y]), Reply::Granted);
    assert_eq!(server.load(B, 101, X), Reply::Refused(Why::Raw));
}

#[test]
fn several_variables_are_granted_all_or_none() {
    let mut server = Server::new();
    assert_eq!(server.store(C, 5, &[Y]), Reply::Granted);
    assert_eq!(server.load(B, 3, X), Reply::Granted);
    assert_eq!(server.store(A, 4, &[X, Y, 3]), Reply::Refused(Why::War));
    assert_eq!((server.board.state(B), server.board.state(C)), (State::Running, State::Running));
    assert_eq!(server.table.locked(), 2);
    // Its next attempt, with a better key.
    server.board.set(A, 2, State::Running);
    let by = Request { client: A, epoch: 2, key: 1 };
    assert_eq!(server.rule.store_all(&mut server.table, &server.board, by, &[X, Y, 3]), Reply::Granted);
    assert_eq!((server.board.state(B), server.board.state(C)), (State::Aborted(Why::War), State::Aborted(Why::Waw)));
    for var in [X, Y, 3] {
        assert_eq!(server.holders(var), (Some(A), vec![]));
    }
}

#[test]
fn a_lock_may_end_before_its_transaction() {
    let mut server = Server::new();
    assert_eq!(server.load(A, 0, X), Reply::Granted);
    assert_eq!(server.store(A, 0, &[X]), Reply::Granted);
    server.table.release(A, 1, X);
    assert_eq!(server.holders(X), (Some(A), vec![]));
    assert_eq!(server.load(A, 0, Y), Reply::Granted);
    server.table.release(A, 1, Y);
    server.table.release(A, 1, Y);
    assert_eq!(server.table.locked(), 1);
    assert_eq!(server.store(B, 9, &[Y]), Reply::Granted);
    server.table.release(A, 1, Y);
    assert_eq!(server.holders(Y), (Some(B), vec![]));
}
