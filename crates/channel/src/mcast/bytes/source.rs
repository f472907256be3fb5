//! The handle to a channel, which makes further ends.

use corecast_base::sync::Arc;
use std::fmt;

use super::receiver::Receiver;
use super::sender::Sender;
use super::slots::ByteSlots;
use crate::mcast::add_end_error::AddEndError;
use crate::mcast::config::Config;
use crate::mcast::ring::Ring;
use crate::policy::Policy;

/// A handle to a channel among threads: any of them becomes a reader, or one more sender, by it. A clone is the same
/// channel.
#[derive(Clone)]
pub struct Source {
    pub(super) ring: Arc<Ring<ByteSlots>>,
}

impl Source {
    /// A reader of all messages that are sent from now on.
    ///
    /// # Errors
    /// [`AddEndError`].
    ///
    /// # Panics
    /// If the channel never overwrites and the policy is not [`Policy::Reliable`].
    #[track_caller]
    pub fn subscribe(&self, policy: Policy) -> Result<Receiver, AddEndError> {
        Receiver::add(&self.ring, policy)
    }

    /// A sender.
    ///
    /// # Errors
    /// [`AddEndError`].
    pub fn sender(&self) -> Result<Sender, AddEndError> {
        Sender::add(&self.ring)
    }

    /// The configuration of the channel, rounded.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.ring.config
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mcast::bytes::Source({} slots)", self.ring.config.slots)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::mcast::config::Delivery;
    use corecast_base::sync::Ordering;

    /// A channel whose next ticket is `first`, the beginning of a lap, in memory as if all tickets before had been sent.
    fn channel_at(first: u64, config: Config) -> Source {
        let config = config.rounded();
        let slots = ByteSlots::on_heap(&config);
        let ring = Ring::on_heap(config, slots);
        ring.tail.store(first, Ordering::Relaxed);
        for ticket in (1..=ring.laps.slots()).map(|back| first.wrapping_sub(back)) {
            ring.word(ticket).store(ring.laps.published(ticket).0, Ordering::Relaxed);
        }
        Source { ring: Arc::new(ring) }
    }

    #[test]
    fn laps_and_tickets_wrap_around() {
        // Near the overflow of the 54 bits of laps, and near the overflow of tickets.
        for first in [(1u64 << 54).wrapping_sub(2) << 2, 0u64.wrapping_sub(8)] {
            for (senders, delivery) in [(1, Delivery::Gated), (2, Delivery::Gated), (1, Delivery::Overwrite)] {
                let config = Config { slots: 4, senders, delivery, block_bytes: 300, ..Config::default() };
                let source = channel_at(first, config);
                let mut tx = source.sender().expect("a place");
                let rx = source.subscribe(Policy::Reliable).expect("a place");
                let lossy =
                    (delivery == Delivery::Overwrite).then(|| source.subscribe(Policy::Lossy).expect("a place"));
                for number in 0..20u64 {
                    let mut bytes = vec![0; if number % 2 == 0 { 8 } else { 256 }];
                    bytes[..8].copy_from_slice(&number.to_le_bytes());
                    tx.try_send(&bytes).expect("room");
                    assert_eq!(rx.try_recv().expect("sent").to_vec(), bytes);
                    while number % 4 == 3 && tx.try_send(b"fill").is_ok() {}
                    while rx.try_recv().is_ok() {}
                }
                if let Some(lossy) = lossy {
                    let missed = lossy.try_recv().map(|_| ());
                    assert!(matches!(missed, Err(crate::TryRecvError::Failed(crate::RecvError::Lagged { .. }))));
                    assert!((0..3).all(|_| lossy.try_recv().is_ok()), "three are left of a ring of four");
                }
            }
        }
    }
}
