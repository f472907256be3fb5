//! Message channels over cache lines.
//!
//! - [`ump`]: one sender, one receiver, messages of any length; the edge of every planned tree;
//! - [`ff`]: one sender, one receiver, words of 8 bytes, eight to a line;
//! - [`mcast`]: one write, read by many, from one sender or several, in one order for all;
//! - [`select`]: receiving from whichever of many channels has something;
//! - [`inspect`]: how far the ends of a channel are, for somebody who only looks.
//!
//! A channel knows no topology: where its ends run, and what a wake-up costs there, arrives as plain values. Ends are
//! `Send` and their methods take `&mut self`, so that two threads cannot be one end by mistake.

mod bulk;
mod bytes;
mod error;
pub mod ff;
#[cfg(not(loom))]
pub mod inspect;
pub mod mcast;
#[cfg(not(loom))]
pub mod open;
mod peer;
pub mod select;
mod slots;
pub mod ump;
#[cfg(not(loom))]
mod waiting;

pub use bytes::{Bytes, BytesMut, Plain, zeroed};
pub use error::{
    Closed, RecvError, RecvIntoError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
