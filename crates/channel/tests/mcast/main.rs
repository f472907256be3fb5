//! Multicast channels: the same promises among threads, in regions, and among processes that die.
#![cfg(not(loom))]

mod actor;
mod damage;
mod policies;
mod processes;
mod readers;
mod values;
