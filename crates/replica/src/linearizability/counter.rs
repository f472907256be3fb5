//! A counter.

use super::model::Model;

/// A counter that begins at 0. Every operation is answered by the count after it.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counter;

/// An operation on the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CounterOp {
    /// Changes nothing.
    Read,
    /// Adds this much.
    Add(i64),
}

impl Model for Counter {
    type State = i64;
    type Op = CounterOp;
    type Answer = i64;

    fn initial(&self) -> i64 {
        0
    }

    fn apply(&self, state: &i64, op: &CounterOp) -> (i64, i64) {
        let count = match op {
            CounterOp::Read => *state,
            CounterOp::Add(more) => state.wrapping_add(*more),
        };
        (count, count)
    }

    fn is_read(&self, op: &CounterOp, _answer: &i64) -> bool {
        matches!(op, CounterOp::Read | CounterOp::Add(0))
    }
}
