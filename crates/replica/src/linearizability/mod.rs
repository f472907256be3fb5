//! A checker of histories: is there an order of the operations, each at one moment between its call and its return, in which a
//! state machine without concurrency gives the same answers?
//!
//! - [`check`], [`Verdict`]: the checker;
//! - [`Operation`], [`split_by_key`]: what clients have seen;
//! - [`Model`]: the state machine; [`Register`] is one key of a store, [`Counter`] a counter.

mod counter;
mod history;
mod model;
mod register;
mod search;
mod verdict;

pub use counter::{Counter, CounterOp};
pub use history::{Operation, Return, split_by_key};
pub use model::Model;
pub use register::{Register, RegisterAnswer, RegisterOp};
pub use search::{USUAL_LIMIT, check};
pub use verdict::{Verdict, Violation};
