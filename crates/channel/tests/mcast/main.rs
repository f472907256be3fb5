//! Multicast channels: the same promises among threads, in regions, and among processes that die.
#![cfg(not(loom))]

mod policies;
mod readers;
mod values;
