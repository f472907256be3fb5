//! Models of the channels' protocols, one module per channel. Run by `ci/loom.sh`.
#![cfg(loom)]

mod mcast;
mod select;
mod ump;
