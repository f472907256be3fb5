//! The state machine that a history is checked against.

use std::fmt::Debug;
use std::hash::Hash;

/// A state machine without concurrency.
pub trait Model {
    /// Its state.
    type State: Clone + Eq + Hash + Debug;
    /// The operations that clients ask for.
    type Op: PartialEq + Debug;
    /// The answers that they get.
    type Answer: PartialEq + Debug;

    /// The state before the first operation.
    fn initial(&self) -> Self::State;

    /// The state after the operation, and its answer.
    fn apply(&self, state: &Self::State, op: &Self::Op) -> (Self::State, Self::Answer);

    /// Whether the operation changes no state in which it gives this answer. The search is shorter where it knows that.
    fn is_read(&self, op: &Self::Op, answer: &Self::Answer) -> bool;
}
