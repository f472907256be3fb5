//! Multicast channels: the same promises among threads, in regions, and among processes that die.
#![cfg(not(loom))]

mod actor;
mod any_word;
mod damage;
mod policies;
mod processes;
mod readers;
#[path = "../spoilt/mod.rs"]
mod spoilt;
mod values;
