//! Requests and replies, as words.
//!
//! | word of a request | content |
//! |---|---|
//! | 0 | epoch: 56, operation: 4, count: 4 |
//! | 1 | the manager's key |
//! | 2..7 | up to ten variables, two to a word |
//!
//! In an ADD or a SWAP word 3 is the operand. In a PUT, which carries values, word 1 and 2 hold up to four variables and words
//! 3..7 their values. A reply is the answer, and behind it the values where they are with the servers.

use crate::error::RunError;
use crate::rule::Reply;
use crate::status::Why;

/// Words of a request: a line of the channel without its header.
pub(super) const WORDS: usize = 7;
/// The most variables of a STORE.
pub(crate) const MOST_VARS: usize = 10;
/// The most values of a PUT.
pub(super) const MOST_PUTS: usize = 4;

/// The place of the operand of a change.
pub(super) const OPERAND: usize = 3;

/// A request on its way.
pub(super) type Words = [u64; WORDS];

/// The wish of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    /// A read lock; where values are with the servers, `count` words from the variable on come along.
    Load,
    /// `count` write locks, all or none; of a single variable `values` words come along, where they are with the servers.
    Store,
    /// The end of one read lock. No reply.
    Release,
    /// The end of all locks of the client here. No reply.
    ReleaseAll,
    /// Values of a client that persists. No reply.
    Put,
    /// The value of a variable, without a lock.
    Peek,
    /// The operand, in word 3, is added to the value of a variable under its write lock; the old value comes along.
    Add,
    /// The operand becomes the value; else as `Add`.
    Swap,
    /// The counts of the server come along.
    Stats,
    /// Nothing: the reply says that all before it was done. Its round trip is the measure of all others.
    Empty,
}

const OPERATIONS: [Operation; 10] = [
    Operation::Load,
    Operation::Store,
    Operation::Release,
    Operation::ReleaseAll,
    Operation::Put,
    Operation::Peek,
    Operation::Add,
    Operation::Swap,
    Operation::Stats,
    Operation::Empty,
];

/// The first word of a request.
#[inline]
pub(super) fn head(epoch: u64, operation: Operation, count: usize) -> u64 {
    epoch << 8 | (operation as u64) << 4 | count as u64
}

/// Epoch, operation and count of a request; `None` of nonsense.
#[inline]
pub(super) fn read_head(word: u64) -> Option<(u64, Operation, usize)> {
    let operation = *OPERATIONS.get(((word >> 4) & 0xf) as usize)?;
    Some((word >> 8, operation, (word & 0xf) as usize))
}

/// A request about variables.
#[inline]
pub(super) fn request(epoch: u64, operation: Operation, key: u64, vars: &[u32], count: usize) -> Words {
    let mut words = [0; WORDS];
    words[0] = head(epoch, operation, count);
    words[1] = key;
    for (at, &var) in vars.iter().enumerate() {
        words[2 + at / 2] |= u64::from(var) << (32 * (at % 2));
    }
    words
}

/// A request to change one variable, outside transactions.
pub(super) fn change(epoch: u64, operation: Operation, key: u64, var: u32, operand: u64) -> Words {
    let mut words = request(epoch, operation, key, &[var], 1);
    words[OPERAND] = operand;
    words
}

/// The variable at this place of a request.
#[inline]
pub(super) fn var(words: &Words, at: usize) -> u32 {
    (words[2 + at / 2] >> (32 * (at % 2))) as u32
}

/// A request that carries values.
pub(super) fn put(epoch: u64, writes: &[(u32, u64)]) -> Words {
    let mut words = [0; WORDS];
    words[0] = head(epoch, Operation::Put, writes.len());
    for (at, &(var, value)) in writes.iter().enumerate() {
        words[1 + at / 2] |= u64::from(var) << (32 * (at % 2));
        words[3 + at] = value;
    }
    words
}

/// The variable and the value at this place of a PUT.
pub(super) fn put_at(words: &Words, at: usize) -> (u32, u64) {
    ((words[1 + at / 2] >> (32 * (at % 2))) as u32, words[3 + at])
}

/// A reply as its first word.
#[inline]
pub(super) fn answer(reply: Reply) -> u64 {
    match reply {
        Reply::Granted => 0,
        Reply::Retry => 1,
        Reply::Refused(Why::Raw) => 2,
        Reply::Refused(Why::War) => 3,
        Reply::Refused(Why::Waw) => 4,
    }
}

/// The reply that a word stands for.
#[inline]
pub(super) fn read_answer(word: u64) -> Result<Reply, RunError> {
    match word {
        0 => Ok(Reply::Granted),
        1 => Ok(Reply::Retry),
        2 => Ok(Reply::Refused(Why::Raw)),
        3 => Ok(Reply::Refused(Why::War)),
        4 => Ok(Reply::Refused(Why::Waw)),
        other => Err(RunError::Channel(format!("a reply of {other}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_back_from_their_words() {
        let vars = [7, u32::MAX, 0, 3, 4, 5, 6, 7, 8, 9];
        let words = request(1 << 55 | 5, Operation::Store, u64::MAX, &vars, vars.len());
        assert_eq!(read_head(words[0]), Some((1 << 55 | 5, Operation::Store, MOST_VARS)));
        assert_eq!(words[1], u64::MAX);
        assert_eq!(std::array::from_fn(|at| var(&words, at)), vars);
        for operation in OPERATIONS {
            assert_eq!(read_head(head(9, operation, 3)), Some((9, operation, 3)));
        }
        assert_eq!(read_head(0xf0), None);
    }

    #[test]
    fn values_come_back_from_a_put() {
        let writes = [(1, u64::MAX), (u32::MAX, 2), (3, 3), (4, 0)];
        let words = put(77, &writes);
        assert_eq!(read_head(words[0]), Some((77, Operation::Put, MOST_PUTS)));
        assert_eq!(std::array::from_fn(|at| put_at(&words, at)), writes);
    }

    #[test]
    fn replies_come_back_from_their_words() {
        let refused = [Why::Raw, Why::War, Why::Waw].map(Reply::Refused);
        for reply in [Reply::Granted, Reply::Retry].into_iter().chain(refused) {
            assert_eq!(read_answer(answer(reply)), Ok(reply));
        }
        assert!(read_answer(5).is_err());
    }
}
