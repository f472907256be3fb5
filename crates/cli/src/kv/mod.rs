//! A replicated store for programs that speak the protocol of Redis.
//!
//! - [`request`], [`reply`]: the bytes of clients, and the bytes for them;
//! - [`command`]: requests as operations and questions of a store;
//! - [`replica`]: what is asked of a replica; `node`: one in shared memory; `local`: one without agreement, for tests;
//! - [`connection`], [`server`]: the clients of a process; `pipeline`: the operations of one that are under way;
//!   `deadline`: how long it waits; [`listener`]: the sockets at which they come;
//! - [`client`]: a client of its own, for the subcommands.

pub(crate) mod client;
mod command;
mod connection;
mod deadline;
pub(crate) mod listener;
#[cfg(test)]
mod local;
mod node;
mod pipeline;
pub(crate) mod replica;
mod reply;
mod request;
pub(crate) mod server;
#[cfg(test)]
mod session_tests;
