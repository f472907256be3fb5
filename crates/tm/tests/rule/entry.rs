//! The rule on the locks of one variable, as the shared form uses it.

use corecast_tm::entry::{Entry, Holders};
use corecast_tm::rule::Claim;

use super::*;

/// All clients run their first transaction, with their number as its key.
struct Claims;

impl Holders for Claims {
    fn holder(&self, client: ClientId) -> Claim {
        Claim { epoch: 1, key: client.0.into() }
    }
}

fn request(client: ClientId) -> Request {
    Request { client, epoch: 1, key: client.0.into() }
}

#[test]
fn is_the_same_rule() {
    let (rule, board, mut entry) = (Rule::new(Manager::FairCm), Board::new(), Entry::default());
    assert_eq!(entry.load(rule, &Claims, &board, request(B)), Reply::Granted);
    assert_eq!(entry.load(rule, &Claims, &board, request(C)), Reply::Granted);
    assert_eq!(entry.store(rule, &Claims, &board, request(C)), Reply::Refused(Why::War));
    assert_eq!(entry.readers.iter().collect::<Vec<_>>(), [B], "the requester has lost its lock");
    assert_eq!(entry.store(rule, &Claims, &board, request(A)), Reply::Granted);
    assert_eq!((entry.writer, entry.readers.is_empty()), (Some(A), true));
    assert_eq!(board.state(B), State::Aborted(Why::War));
    board.set(A, 1, State::Persisting);
    assert_eq!(entry.load(rule, &Claims, &board, request(C)), Reply::Retry);
    board.set(A, 1, State::Committed);
    assert_eq!(entry.load(rule, &Claims, &board, request(C)), Reply::Granted);
    entry.drop_locks(C);
    assert!(entry.is_free());
}
