//! The promises of locks, a module for each front and for each question. One program, as each takes seconds to link.
#![cfg(not(loom))]

mod any;
mod auto;
#[cfg(not(sanitized))] // one thread: the sanitizer has nothing to see
mod auto_states;
mod byte_condvar;
mod combine;
mod condvar;
mod conformance;
mod delegate;
mod front;
mod linearizable;
#[cfg(feature = "lock_api")]
mod lock_api;
mod once;
mod pair;
mod rw;
mod seq;
mod statics;
mod table;
