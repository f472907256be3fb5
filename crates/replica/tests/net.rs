//! Groups over messages: among threads here, among processes in `tests/net_processes`.
#![cfg(not(loom))]

#[path = "nodes/counter.rs"]
mod counter;
#[path = "net/threads.rs"]
mod threads;
