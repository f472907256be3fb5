//! Where receivers come from.

use corecast_base::sync::Arc;

use super::byte_slots::ByteSlots;
use super::config::{Config, Delivery, Policy};
use super::receiver::Receiver;
use super::ring::{Ring, Slots};
use super::sender::Sender;

/// Why a channel gets no further end from one that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoPlace {
    /// All places of one kind of ends are taken.
    #[error("the channel takes {max} {ends} at a time, and has them")]
    Taken {
        /// Which ends.
        ends: &'static str,
        /// How many the channel was made for.
        max: usize,
    },
    /// This process is a forked child of the one that opened the channel.
    #[error("the channel was opened before fork: a child has to attach anew")]
    Forked,
}

/// A channel among threads, by which any of them becomes a reader, or one more sender. A clone is the same channel.
#[derive(Debug, Clone)]
pub struct Source {
    ring: Arc<Ring<ByteSlots>>,
}

/// A channel for messages of bytes among the threads of this process.
///
/// # Panics
/// If a size of the configuration is out of its range.
#[must_use]
#[track_caller]
pub fn bytes_channel(config: Config) -> (Sender, Source) {
    let config = config.rounded();
    let slots = ByteSlots::on_heap(&config);
    let source = Source { ring: Arc::new(Ring::on_heap(config, slots)) };
    (source.sender().expect("a channel has a place for a sender"), source)
}

impl Source {
    pub(super) fn of(ring: &Arc<Ring<ByteSlots>>) -> Self {
        Self { ring: Arc::clone(ring) }
    }

    /// A reader of what is sent from now on.
    ///
    /// # Errors
    /// [`NoPlace`].
    ///
    /// # Panics
    /// If the channel never overwrites and the policy is not [`Policy::Reliable`].
    #[track_caller]
    pub fn subscribe(&self, policy: Policy) -> Result<Receiver, NoPlace> {
        check_policy(&self.ring, policy);
        self.check_fork()?;
        Receiver::open(&self.ring, policy).ok_or(NoPlace::Taken { ends: "readers", max: self.ring.config.readers })
    }

    /// A sender.
    ///
    /// # Errors
    /// [`NoPlace`].
    pub fn sender(&self) -> Result<Sender, NoPlace> {
        self.check_fork()?;
        Sender::open(&self.ring).ok_or(NoPlace::Taken { ends: "senders", max: self.ring.config.senders })
    }

    fn check_fork(&self) -> Result<(), NoPlace> {
        if self.ring.home.is_forked() { Err(NoPlace::Forked) } else { Ok(()) }
    }

    /// How the channel is laid out.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.ring.config
    }
}

#[track_caller]
pub(super) fn check_policy<S: Slots>(ring: &Ring<S>, policy: Policy) {
    let fits = ring.config.delivery == Delivery::Overwrite || policy == Policy::Reliable;
    assert!(
        fits,
        "readers of a gated channel are reliable: only one made with Delivery::Overwrite may leave them behind"
    );
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use corecast_base::sync::Ordering;

    /// A channel whose next ticket is `first`, the beginning of a lap, in a memory that is as if all before had been sent.
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
        // Where laps overflow their 54 bits, and where tickets overflow.
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
