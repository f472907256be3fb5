//! Where receivers come from.

use corecast_base::sync::Arc;

use super::byte_slots::ByteSlots;
use super::config::{Config, Delivery, Policy};
use super::receiver::Receiver;
use super::ring::{Ring, Slots};
use super::sender::Sender;

/// All places of one kind of ends are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the channel takes {max} {ends} at a time, and has them")]
pub struct NoPlace {
    /// Which ends.
    pub ends: &'static str,
    /// How many the channel was made for.
    pub max: usize,
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
    /// [`NoPlace`] if the channel takes no more.
    ///
    /// # Panics
    /// If the channel never overwrites and the policy is not [`Policy::Reliable`].
    #[track_caller]
    pub fn subscribe(&self, policy: Policy) -> Result<Receiver, NoPlace> {
        check_policy(&self.ring, policy);
        Receiver::open(&self.ring, policy).ok_or(NoPlace { ends: "readers", max: self.ring.config.readers })
    }

    /// A sender.
    ///
    /// # Errors
    /// [`NoPlace`] if the channel takes no more.
    pub fn sender(&self) -> Result<Sender, NoPlace> {
        Sender::open(&self.ring).ok_or(NoPlace { ends: "senders", max: self.ring.config.senders })
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
