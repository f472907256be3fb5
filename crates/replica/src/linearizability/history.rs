//! The history of clients: when they called, when they were answered, and how.

use std::collections::BTreeMap;

/// One operation of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation<O, A> {
    /// The client; for people who read a violation.
    pub client: u64,
    /// The operation.
    pub op: O,
    /// When it was called, in nanoseconds of a clock that all clients share.
    pub call_ns: u64,
    /// When and how it was answered; `None` if it was not. It may have taken effect at any time after the call, or never.
    pub returned: Option<Return<A>>,
}

/// The answer to an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Return<A> {
    /// When the client had it, not before the call. Where one operation returns at the very time at which another is called,
    /// they may have taken effect in either order.
    pub at_ns: u64,
    /// The answer.
    pub answer: A,
}

/// The history of each key, in the given order. Keys that no operation joins are linearizable together if each of them is:
/// Herlihy and Wing, Linearizability, 1990, theorem 1.
pub fn split_by_key<K: Ord, O, A>(
    history: impl IntoIterator<Item = (K, Operation<O, A>)>,
) -> BTreeMap<K, Vec<Operation<O, A>>> {
    let mut keys: BTreeMap<K, Vec<_>> = BTreeMap::new();
    for (key, operation) in history {
        keys.entry(key).or_default().push(operation);
    }
    keys
}
