//! The tests of the channels, in one program.
//!
//! - `conformance`: the promises of `ump` and `ff`, among threads and among processes;
//! - `mcast`: the promises of multicast channels;
//! - `select`: receiving from many channels;
//! - `steps`: calls that are interrupted after each of their machine instructions;
//! - `exhaustive`: every interleaving of the protocols, as explicit states.
//!
//! The models that run the code itself under loom are a program of their own, in `tests/loom`.
#![cfg(not(loom))]

mod conformance;
// One thread: the sanitizer has nothing to see.
#[cfg(not(sanitized))]
mod exhaustive;
mod mcast;
mod select;
mod spoilt;
mod steps;
