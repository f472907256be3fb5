//! The channel for bytes among the threads of one process.

use corecast_base::wait::{Crowd, Waiter};

use super::bytes_receiver::BytesReceiver;
use super::bytes_sender::BytesSender;
use super::recv_end::RecvEnd;
use super::send_end::SendEnd;
use super::shared::Shared;
use super::{Config, bell, ring_slots};

/// A channel for messages of any number of bytes, up to a quarter of its ring ([`Config::holding`]).
///
/// ```
/// use corecast_channel::ump::{self, Config};
/// let (mut tx, mut rx) = ump::bytes_channel(&Config::default().holding(4096));
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
pub fn bytes_channel(config: &Config) -> (BytesSender, BytesReceiver) {
    let slots = ring_slots(config.slots, 1);
    let shared = Shared::new(slots, config.credit, bell(config.wait), bell(config.wait));
    let waiter = Waiter::new(config.wait, Crowd::unpinned(2), config.wake_cost);
    // The ring is reached by its two ends alone, and both keep to the protocol.
    let sender =
        BytesSender { end: SendEnd::new(shared.clone(), 0), waiter: waiter.clone(), peer: None, owns_loans: true };
    (sender, BytesReceiver { end: RecvEnd::new(shared, 0), waiter, peer: None, gives_slices: true })
}
