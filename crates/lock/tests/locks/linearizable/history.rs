//! Histories of a register, and whether there is an order of its operations that explains them.
//!
//! Source: J. Wing, C. Gong, Testing and Verifying Concurrent Objects, 1993.

use std::collections::HashSet;

/// An operation on the register, and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Read {
        seen: u32,
    },
    /// Puts a value in and takes the one before out.
    Swap {
        put: u32,
        seen: u32,
    },
}

/// One operation, between two moments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) action: Action,
}

/// Whether some order of all of these, in which none comes before another that had ended when it began, explains what each saw
/// of a register that held `first`.
pub(crate) fn is_linearizable(history: &[Operation], first: u32) -> bool {
    assert!(history.len() < 64, "a set of operations is a word");
    explains(history, 0, first, &mut HashSet::new())
}

/// Whether the operations that are not in `done` can follow, in view of what was tried.
fn explains(history: &[Operation], done: u64, value: u32, tried: &mut HashSet<(u64, u32)>) -> bool {
    if done.count_ones() as usize == history.len() {
        return true;
    }
    if !tried.insert((done, value)) {
        return false;
    }
    let left = || history.iter().enumerate().filter(|(at, _)| done >> at & 1 == 0);
    let first_end = left().map(|(_, operation)| operation.ended).min().expect("some are left");
    left().filter(|(_, operation)| operation.began < first_end).any(|(at, operation)| {
        let (seen, next) = match operation.action {
            Action::Read { seen } => (seen, value),
            Action::Swap { put, seen } => (seen, put),
        };
        seen == value && explains(history, done | 1 << at, next, tried)
    })
}

#[test]
fn an_order_is_found_where_there_is_one() {
    let swap = |began, ended, seen, put| Operation { began, ended, action: Action::Swap { put, seen } };
    let read = |began, ended, seen| Operation { began, ended, action: Action::Read { seen } };
    assert!(is_linearizable(&[], 0));
    // The second begins before the first ends, and comes first.
    assert!(is_linearizable(&[swap(0, 3, 2, 1), swap(1, 2, 0, 2), read(4, 5, 1)], 0));
    assert!(!is_linearizable(&[swap(0, 1, 2, 1), swap(2, 3, 0, 2)], 0), "it saw what came later");
    assert!(!is_linearizable(&[swap(0, 3, 0, 1), swap(1, 2, 0, 2)], 0), "two saw the same value");
    assert!(!is_linearizable(&[swap(0, 1, 0, 1), read(2, 3, 0)], 0), "an old value after a new one");
    assert!(is_linearizable(&[swap(0, 2, 0, 1), read(1, 3, 0)], 0), "an old value at the same time");
}
