//! Each message is written once and read by all readers of a ring, from one sender or several, in one order for all.
//!
//! **When to take it:** several threads or processes want the same messages, and the sender should not pay for each of
//! them. **When not:** one receiver (`ump` costs less), or each message for one of many receivers.
//!
//! **How it works.** A message is written once, into a slot or a block that a slot owns, and read in place. The word of the
//! slot says whose turn it is there (`word`). Readers poll it, and write their positions on lines of their own, seldom
//! (`pins`). Senders look at those lines once in most of a ring (`room`). One sender alone executes no atomic
//! read-modify-write; several claim slots by a CAS on the word (`send_end`). Readers and senders come and go at any time
//! (`join`, `line`). A reader may let itself be left behind ([`Policy`]); then it copies, and checks that no sender wrote
//! meanwhile (`recv_end`).
//!
//! **Guarantees.** All readers see the same messages in the same order, each exactly once, from when they joined until they
//! leave; a reader that may be left behind is told how many messages it missed. `try_` methods never wait; the others wait
//! as their [`Wait`](corecast_base::wait::Wait) policy says. One sender is wait-free as long as there is room. Several are
//! not lock-free: one that loses its CPU between claim and publication, a dozen stores, holds up the readers until it goes
//! on. A sender's writes before sending are visible after receiving.
//!
//! **Between processes** ([`bytes::spec`], [`bytes::sender`], [`bytes::receiver`]) a waiter checks whether the others live.
//! The claim of a dead sender is skipped, the pins of a dead reader are released, and its place is free (`reap`).
//!
//! **Source:** the interface is that of ZIMP (Aublin, Ben Mokhtar, Muller, Quéma, Zimp: efficient inter-core
//! communications on manycore machines, 2011), whose protocol for several senders tears messages; `docs/design/mcast.md`
//! describes the protocol in its place and why it is right.
//!
//! ```
//! use corecast_channel::mcast::{self, Config, Policy};
//! let (mut tx, source) = mcast::bytes::channel(Config::default());
//! let readers: Vec<_> = (0..2).map(|_| source.subscribe(Policy::Reliable)).collect::<Result<_, _>>()?;
//! let sums = readers.into_iter().map(|rx| {
//!     std::thread::spawn(move || {
//!         let numbers = std::iter::from_fn(|| rx.recv().ok().and_then(|message| message.read::<u64>()));
//!         numbers.sum::<u64>()
//!     })
//! });
//! let sums: Vec<_> = sums.collect();
//! for i in 1..=1000u64 {
//!     tx.send(&i.to_ne_bytes())?;
//! }
//! drop(tx);
//! assert!(sums.into_iter().all(|sum| sum.join().expect("a reader does not panic") == 500_500));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod add_end_error;
pub mod bytes;
mod config;
mod end_waiter;
mod join;
mod line;
mod owners;
mod pins;
mod presence;
mod reap;
mod recv_end;
mod ring;
mod room;
mod send_end;
mod typed;
mod word;

pub use crate::policy::Policy;
pub use add_end_error::{AddEndError, TooManyEnds};
pub use config::{Config, Delivery, MAX_BYTES, MAX_READERS, MAX_SENDERS, MAX_SLOTS, ZeroReaders};
pub use typed::{Receiver, Ref, Sender, Source, channel, channel_with};
