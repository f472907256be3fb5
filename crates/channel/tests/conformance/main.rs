//! What the channels promise: among threads over the heap and over regions, and among processes.
#![cfg(not(loom))]

mod actor;
mod any_word;
mod bytes;
mod damage;
mod death;
mod opening;
mod rings;
#[path = "../spoilt/mod.rs"]
mod spoilt;
mod traffic;
mod typed;
mod words;
