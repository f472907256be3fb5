//! Models of what participants share: status words, values, the locks of variables in both forms, and what they leave in the
//! region. Run by `ci/loom.sh`.
//!
//! A server is modelled as a lock table under a mutex: as from a channel, a participant that is answered has seen all that
//! the server saw before.
#![cfg(loom)]

mod region;
mod slot;
mod status;
mod table;
mod world;
