//! Messages of bytes: among the threads of one process, or among the participants of a region.

#[cfg(not(loom))]
mod inspect;
mod msg;
mod receiver;
#[cfg(not(loom))]
mod region;
mod sender;
#[cfg(all(test, not(loom)))]
mod tests;

use corecast_base::wait::{CpuSharing, Waiter, WakeWord};

use crate::ump::recv_end::RecvEnd;
use crate::ump::send_end::SendEnd;
use crate::ump::shared::Shared;
use crate::ump::{Config, ring_slots};

#[cfg(not(loom))]
pub(crate) use inspect::inspect;
pub use msg::Msg;
pub use receiver::Receiver;
#[cfg(not(loom))]
pub use region::{receiver, sender, spec};
pub use sender::{Loan, Sender};

/// A channel for messages of any number of bytes, up to a quarter of its ring ([`Config::holding`]).
///
/// ```
/// use corecast_channel::ump::{self, Config};
/// let (mut tx, mut rx) = ump::bytes::channel(Config::default().holding(4096));
/// let mut loan = tx.reserve(4096)?;
/// loan.bytes().as_mut_slice().expect("among threads").fill(7);
/// loan.commit();
/// let message = rx.recv()?;
/// assert_eq!(message.fold(0, |sum, bytes| sum + bytes.iter().map(|&byte| u32::from(byte)).sum::<u32>()), 7 * 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Panics
/// If the ring would have more than [`MAX_SLOTS`](super::MAX_SLOTS) slots.
#[track_caller]
#[must_use]
pub fn channel(config: Config) -> (Sender, Receiver) {
    let slots = ring_slots(config.slots, 1);
    let shared = Shared::new(slots, config.credit, WakeWord::new(config.wait), WakeWord::new(config.wait));
    let waiter = Waiter::new(config.wait, CpuSharing::unpinned(2), config.wake_cost);
    // Only its two ends reach the ring, and both keep to the protocol.
    let sender = Sender { end: SendEnd::new(shared.clone(), 0), waiter: waiter.clone(), peer: None, owns_loans: true };
    (sender, Receiver { end: RecvEnd::new(shared, 0), waiter, peer: None, gives_slices: true })
}
