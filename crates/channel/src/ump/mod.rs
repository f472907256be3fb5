//! One sender, one receiver, messages of any length through a ring of cache lines.
//!
//! **When to take it:** two threads or processes exchange messages in order, each waiting for the other at times; the edges
//! of every planned tree are these. **When not:** one message for many receivers, or many senders to one receiver:
//! [`mcast`](crate::mcast).
//!
//! | ends | messages | among |
//! |---|---|---|
//! | [`Sender`], [`Receiver`] | values of one type, moved | threads |
//! | [`any::Sender`], [`any::Receiver`] | copies of values of any plain types | threads, or processes by [`any::rings`] |
//! | [`bytes::Sender`], [`bytes::Receiver`] | bytes, written and read in place | threads, or processes in a region |
//!
//! **How it works.** A message's header and its first 56 bytes share one line, so a small message costs one line
//! transfer: the receiver polls the line that will hold its next message, and the sender writes the header last. Longer
//! messages run on over the following lines. The receiver acknowledges seldom, on a line of its own, and only **after**
//! it has copied the payload out; the sender looks there only when it runs out of room. Neither side ever executes an
//! atomic read-modify-write per message.
//!
//! **Guarantees.** First in, first out; every value arrives exactly once, or is dropped with the last end. `try_` methods
//! never wait and are wait-free; the others wait as their [`Wait`] policy says. The sender's writes before sending are
//! visible to the receiver after receiving (Release, Acquire); the sender may rely on the reverse only for the room that it
//! reuses.
//!
//! **Between processes** the other end is not trusted: its words are checked, and nonsense is an error. When its process
//! ends without a goodbye, a receiver drains what was sent and a sender gets its message back, both with `Died`; an
//! unpublished message was never there. A new sender may take the place of a dead one, and the receiver goes on.
//!
//! **Source:** Barrelfish's user-level message passing (Baumann et al., The Multikernel, SOSP 2009) as used by Smelt
//! (Kaestle et al., OSDI 2016), whose released queue acknowledges before the payload is read and so delivers a few
//! corrupted messages in 10^8.
//!
//! ```
//! use corecast_channel::ump;
//! let (mut tx, mut rx) = ump::channel(64);
//! let adder = std::thread::spawn(move || std::iter::from_fn(|| rx.recv().ok()).sum::<u64>());
//! for i in 1..=1000u64 {
//!     tx.send(i)?;
//! }
//! drop(tx);
//! assert_eq!(adder.join().expect("the adder does not panic"), 500_500);
//! # Ok::<(), corecast_channel::SendError<u64>>(())
//! ```

pub mod any;
pub mod bytes;
mod header;
mod recv_end;
mod send_end;
mod shared;
#[cfg(not(loom))]
mod successor;
mod typed;

use std::time::Duration;

use corecast_base::wait::Wait;

use crate::slots::slots_for;

pub use shared::longest_message;
pub use typed::{Receiver, Sender, channel, channel_with};

/// The fewest slots of a ring: a quarter of it must hold a message.
pub const MIN_SLOTS: usize = 4;
/// The most slots of a ring, 64 MiB.
pub const MAX_SLOTS: usize = 1 << 20;

/// The layout and the waiting of a channel.
#[derive(Debug, Clone)]
pub struct Config {
    /// Slots of 64 bytes; rounded up to a power of two, to at least [`MIN_SLOTS`], and so that a message takes no more
    /// than a quarter of them. 64 keeps latency low, 1024 suits streams.
    pub slots: usize,
    /// The way in which the sender learns of room.
    pub credit: Credit,
    /// How both ends wait.
    pub wait: Wait,
    /// The cost of sleeping and waking up on this machine, where it has been measured.
    pub wake_cost: Option<Duration>,
}

impl Config {
    /// The same with enough slots for messages of `len` bytes.
    ///
    /// # Panics
    /// If the ring would have more than [`MAX_SLOTS`] slots.
    #[track_caller]
    #[must_use]
    pub fn holding(self, len: usize) -> Self {
        Self { slots: ring_slots(self.slots, slots_for(len)), ..self }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self { slots: 64, credit: Credit::default(), wait: Wait::default(), wake_cost: None }
    }
}

/// The way in which the sender learns which slots the receiver has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Credit {
    /// The receiver counts them on a line of its own, about eight times per lap. Messages of any length; the better one
    /// between sockets.
    #[default]
    AckLine,
    /// The receiver clears each slot. Messages of one slot, up to 56 bytes, only; the better one within a last-level cache.
    SlotClear,
}

/// The size of a ring for which `slots` were asked, and whose messages take `message_slots` each.
///
/// # Panics
/// If that is more than [`MAX_SLOTS`].
#[track_caller]
fn ring_slots(slots: usize, message_slots: usize) -> usize {
    let wanted = slots.max(MIN_SLOTS).max(message_slots.saturating_mul(4));
    assert!(wanted <= MAX_SLOTS, "a ring has at most {MAX_SLOTS} slots, and this one would need {wanted}");
    wanted.next_power_of_two()
}
