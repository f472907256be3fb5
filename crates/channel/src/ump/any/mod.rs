//! The channel for values of any plain types in turn; each end names the type at every call.
//!
//! The edges of a collective carry the values that the user broadcasts or reduces. The sender tells the receiver once per
//! type which tag stands for it, by a message that carries the type's [`signature`]. Afterwards the tag in the header is
//! enough, and a receiver that asks for another type than was sent gets [`WrongType`] instead of foreign bytes. A value
//! larger than a quarter of the ring travels in parts.
//!
//! Beside its type a message carries a **stamp**, 14 bits that both ends set to identify the operation ([`Sender::stamp`],
//! [`Receiver::expect`]); 0 unless they do. A receiver refuses a message with another stamp than it expects, as it refuses
//! one of another type.
//!
//! Where the other end is another program, it may write nonsense at worst: kind and length of every message are compared
//! with those expected, values are copied word by word, and any bytes are a value.
//!
//! ```
//! use std::error::Error;
//! use corecast_base::wait::{CpuSharing, LONGEST_SLEEP, Wait, WakeWord, Waiter};
//! use corecast_channel::ump::any::channel;
//!
//! let (mut tx, mut rx) = channel(16, WakeWord::new(Wait::Park), WakeWord::new(Wait::Park));
//! let mut waiter = Waiter::new(Wait::Park, CpuSharing::unpinned(2), None);
//! let keep_waiting = |_waited| Ok::<_, Box<dyn Error>>(LONGEST_SLEEP);
//! tx.send(&7u64, &mut waiter, keep_waiting)?;
//! tx.send(&[1.5f32, 2.5], &mut waiter, keep_waiting)?;
//! assert!(rx.recv::<i64, _>(&mut waiter, keep_waiting).is_err(), "of another type; the value stays");
//! assert_eq!(rx.recv::<u64, _>(&mut waiter, keep_waiting)?, 7);
//! assert_eq!(rx.recv::<[f32; 2], _>(&mut waiter, keep_waiting)?, [1.5, 2.5]);
//! # Ok::<(), Box<dyn Error>>(())
//! ```

mod part;
mod receiver;
mod rings;
mod sender;
mod signature;
#[cfg(all(test, not(loom)))]
mod tests;
mod value;

use corecast_base::wait::WakeWord;

use crate::ump::recv_end::RecvEnd;
use crate::ump::send_end::SendEnd;
use crate::ump::shared::Shared;
use crate::ump::{Credit, ring_slots};

pub use receiver::{Receiver, WrongType};
pub use rings::{Rings, rings};
pub use sender::Sender;
pub use signature::signature;

/// A channel of `slots` lines whose receiver sleeps on `data_wake` and whose sender sleeps on `room_wake`.
///
/// # Panics
/// If `slots` is more than 64: a header has no room for both a stamp and the length of a longer message.
#[track_caller]
#[must_use]
pub fn channel(slots: usize, data_wake: WakeWord, room_wake: WakeWord) -> (Sender, Receiver) {
    let shared = Shared::new(ring_slots(slots, 1), Credit::AckLine, data_wake, room_wake);
    let sender = Sender::new(SendEnd::new(shared.clone(), 0), false);
    (sender, Receiver::new(RecvEnd::new(shared, 0), false))
}
