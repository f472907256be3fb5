//! Replicated state: a state machine of C's, kept identical in several threads or processes.
//!
//! The state is C's object behind a pointer, and six functions on it ([`machine`]). Operations, results, questions and answers
//! are bytes. `node` has the group and its members, `session` what clients do.

pub mod machine;

pub mod node;

pub mod session;

pub mod status;
