//! Message channels over cache lines, among threads and among processes.
//!
//! - [`ump`]: one sender, one receiver, messages of any length; the edges of every planned tree;
//! - [`ff`]: one sender, one receiver, words of 8 bytes, eight to a line;
//! - [`mcast`]: each message is written once and read by many receivers, from one sender or several, in one order for all;
//! - [`window`]: slices that a thread lets others read in place while it waits;
//! - [`select`]: receiving from whichever of many channels has something;
//! - [`inspect`]: how far the ends of a channel are, for an observer that takes no part.
//!
//! The ends have the same shape everywhere. A module's `Sender` and `Receiver` carry values, those of its submodule `bytes`
//! carry bytes, and `ump::any` carries values of changing types. `try_x` never waits, `x` waits, `x_timeout` waits for a
//! limited time. In each of the three modules `channel(n)` makes a channel of n slots or cells among threads, and
//! `channel_with(Config)` one that is configured otherwise; `bytes::channel(Config)` makes one for bytes, and `spec(Config)`
//! describes one in a region, which `sender(&region, name)` and `receiver(&region, name)` open.
//!
//! | method | where | the exceptions |
//! |---|---|---|
//! | `try_send`, `send`, `send_timeout` | every `Sender` | `ump::any` has `send` alone, which takes a [`Waiter`](corecast_base::wait::Waiter) and a check to call meanwhile: one waiter serves all edges of a tree, whose members also watch each other |
//! | `try_recv`, `recv`, `recv_timeout` | every `Receiver` | those of `mcast` take `&self`, as several messages may be open; `ump::any` has `recv` alone, as above |
//! | `max_len` | `bytes::Sender` | values and words have one length |
//! | `try_reserve`, `reserve`, `reserve_timeout`, `Loan::commit` | `ump::bytes::Sender` | the loan is a place in the ring, so reserving may wait for room, and committing never fails |
//! | `reserve`, `Loan::try_commit`, `commit`, `commit_timeout` | `mcast::bytes::Sender` | the loan is the sender's own, so that it holds up no other sender while it is filled; its turn comes when it is committed, so that is what may wait or fail |
//! | `recv_into`, `send_batch` | `ump::bytes` | a message of `mcast` is read in place by all readers, and each message is announced by itself |
//! | `flush` | `ff::Sender` | only here a receiver may wait for a whole line ([`ff::Slip::Line`]) |
//! | `subscribe`, `clone_sender` | `mcast` | the others have exactly one receiver and one sender |
//!
//! [`mcast::channel`] returns a sender and a [`Source`](mcast::Source) instead of a receiver. A reader receives what is sent
//! from when it subscribes, and a reliable one holds up the senders until it has read it: a receiver that nobody asked for
//! would stop the channel once it is full. So readers are made one by one, by [`Source::subscribe`](mcast::Source::subscribe),
//! when they are wanted.
//!
//! ```
//! use corecast_base::region::{RegionPlan, SharedRegion};
//! use corecast_channel::ump;
//!
//! // Among threads:
//! let (mut tx, mut rx) = ump::channel(64);
//! tx.send("a value of any type")?;
//! assert_eq!(rx.recv()?, "a value of any type");
//!
//! // Among processes, in a region that each of them attaches to:
//! let plan = ump::bytes::spec(ump::Config::default()).declare(RegionPlan::new(), "orders")?;
//! let region = SharedRegion::memfd(&plan)?;
//! let mut tx = ump::bytes::sender(&region, "orders")?;
//! let mut rx = ump::bytes::receiver(&region, "orders")?;
//! tx.send(b"two of the blue ones")?;
//! assert_eq!(rx.recv()?.to_vec(), b"two of the blue ones");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A channel knows no topology: where its ends run, and what a wake-up costs there, arrives as plain values. Ends are
//! `Send` and their methods take `&mut self`, so that two threads cannot use one end by mistake.

mod bulk;
mod bytes;
mod error;
pub mod ff;
#[cfg(not(loom))]
pub mod inspect;
pub mod mcast;
#[cfg(not(loom))]
mod open;
mod peer;
mod policy;
pub mod select;
mod selectable;
mod slots;
pub mod ump;
#[cfg(not(loom))]
mod view;
#[cfg(not(loom))]
mod waiting;
pub mod window;

pub use bytes::{Bytes, BytesMut, Plain, zeroed};
pub use error::{
    Closed, RecvError, RecvIntoError, RecvTimeoutError, SendError, SendTimeoutError, TryRecvError, TrySendError,
};
#[cfg(not(loom))]
pub use open::{OpenChannelError, Spec};

/// The example of the readme, compiled and run as a doc test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
