//! One key of a store.

use super::model::Model;

/// One key of a store, absent at first. Values are numbers, or stand for values: tests give each write a value of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Register;

/// An operation on the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegisterOp {
    /// Its value; answered by [`RegisterAnswer::Value`].
    Get,
    /// Gives it a value; answered by [`RegisterAnswer::Done`].
    Set(u64),
    /// Takes its value away; answered by [`RegisterAnswer::Was`].
    Delete,
    /// Gives it the value `new` if its value is `old`, where `None` stands for none; answered by [`RegisterAnswer::Was`].
    CompareAndSet {
        /// The value it must have.
        old: Option<u64>,
        /// The value it gets.
        new: u64,
    },
    /// Adds one to its value as an `i64`, which is 0 where there is none; answered by [`RegisterAnswer::Number`].
    Increment,
}

/// The answer to an operation on the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RegisterAnswer {
    /// The value, or `None` if there is none.
    Value(Option<u64>),
    /// It is done.
    Done,
    /// Whether the value was there, or was the one compared with.
    Was(bool),
    /// The number after the increment.
    Number(i64),
}

impl Model for Register {
    type State = Option<u64>;
    type Op = RegisterOp;
    type Answer = RegisterAnswer;

    fn initial(&self) -> Option<u64> {
        None
    }

    fn apply(&self, state: &Option<u64>, op: &RegisterOp) -> (Option<u64>, RegisterAnswer) {
        match *op {
            RegisterOp::Get => (*state, RegisterAnswer::Value(*state)),
            RegisterOp::Set(value) => (Some(value), RegisterAnswer::Done),
            RegisterOp::Delete => (None, RegisterAnswer::Was(state.is_some())),
            RegisterOp::CompareAndSet { old, new } if old == *state => (Some(new), RegisterAnswer::Was(true)),
            RegisterOp::CompareAndSet { .. } => (*state, RegisterAnswer::Was(false)),
            RegisterOp::Increment => {
                let number = (state.unwrap_or(0) as i64).wrapping_add(1);
                (Some(number as u64), RegisterAnswer::Number(number))
            }
        }
    }

    fn is_read(&self, op: &RegisterOp, answer: &RegisterAnswer) -> bool {
        *op == RegisterOp::Get || *answer == RegisterAnswer::Was(false)
    }
}
