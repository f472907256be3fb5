//! Models of the channels' protocols, one module per channel. Run by `ci/loom.sh`.
#![cfg(loom)]

mod ff;
mod mcast;
mod select;
mod ump;
mod ump_bytes;
mod window;
