//! The tests of the base, in one program.
//!
//! - `region`: regions and names among processes;
//! - `wake_model`: the protocol of the wake word on a machine that keeps stores back.
//!
//! The models that run the code itself under loom are a program of their own, `tests/loom.rs`.
#![cfg(not(loom))]

mod region;
mod wake_model;
