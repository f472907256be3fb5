//! The form of messages: applications ask servers, and each server decides by the locks that it alone has.
//!
//! - `wire`: requests of one line, and their replies;
//! - `links`: the channels between applications and servers, among threads or in a region;
//! - `client`: an application's end;
//! - [`Server`]: a server's end, and its loop.

mod client;
mod links;
mod server;
mod wire;

pub(crate) use client::{Came, Change, MessageClient};
pub(crate) use links::{Links, declare};
pub use server::{Server, ServerCounts};
pub(crate) use wire::MOST_VARS;
