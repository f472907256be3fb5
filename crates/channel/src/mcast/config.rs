//! The layout, the delivery and the waiting of a multicast channel.

use std::time::Duration;

use corecast_base::wait::Wait;

/// The most slots of a ring.
pub const MAX_SLOTS: usize = 1 << 20;
/// The most readers of a channel at a time.
pub const MAX_READERS: usize = 1024;
/// The most senders of a channel at a time.
pub const MAX_SENDERS: usize = 256;
/// The longest message, 1 GiB.
pub const MAX_BYTES: usize = 1 << 30;

/// Whether the sender may overwrite messages that a reader has not read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Delivery {
    /// Never: every reader is [`Policy::Reliable`](super::Policy::Reliable).
    #[default]
    Gated,
    /// Where the reader's policy allows it.
    Overwrite,
}

/// The behaviour of a sender while there is no reader.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ZeroReaders {
    /// It sends, and no reader gets the message.
    #[default]
    Discard,
    /// It waits for a reader.
    Block,
}

/// The configuration of a channel. Sizes are rounded up where they have to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Messages that the ring holds, 2 to [`MAX_SLOTS`]; rounded up to a power of two.
    pub slots: usize,
    /// Bytes of a message that lie in the slot itself: 48, 112 or 240; rounded up to one of these.
    pub inline: usize,
    /// The longest message in bytes, if that is more than `inline`: longer messages lie in blocks of this size, one per
    /// slot and one per sender. At most [`MAX_BYTES`].
    pub block_bytes: usize,
    /// Readers at a time, 1 to [`MAX_READERS`].
    pub readers: usize,
    /// Senders at a time, 1 to [`MAX_SENDERS`]. One alone sends without any atomic read-modify-write.
    pub senders: usize,
    /// Whether readers may miss messages.
    pub delivery: Delivery,
    /// The behaviour of senders while there is no reader.
    pub zero_readers: ZeroReaders,
    /// The waiting of all ends.
    pub wait: Wait,
    /// The cost of sleeping and waking up on this machine, where it has been measured.
    pub wake_cost: Option<Duration>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            slots: 64,
            inline: 48,
            block_bytes: 0,
            readers: 64,
            senders: 1,
            delivery: Delivery::Gated,
            zero_readers: ZeroReaders::Discard,
            wait: Wait::default(),
            wake_cost: None,
        }
    }
}

impl Config {
    /// The longest message that the channel takes, in bytes.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.inline.max(self.block_bytes)
    }

    /// The same with rounded sizes.
    ///
    /// # Panics
    /// If a size is out of its range.
    #[must_use]
    #[track_caller]
    pub fn rounded(mut self) -> Self {
        let within = |what: &str, value: usize, least: usize, most: usize| {
            assert!((least..=most).contains(&value), "a channel has {least} to {most} {what}, not {value}");
        };
        within("slots", self.slots, 1, MAX_SLOTS);
        within("readers", self.readers, 1, MAX_READERS);
        within("senders", self.senders, 1, MAX_SENDERS);
        within("bytes per message", self.max_len(), 0, MAX_BYTES);
        self.slots = self.slots.next_power_of_two().max(2);
        let longest = self.max_len();
        self.inline = [48, 112, 240].into_iter().find(|&inline| self.inline <= inline).unwrap_or(240);
        // Blocks are whole lines. There are none if all messages fit into slots.
        self.block_bytes = if longest <= self.inline { 0 } else { longest.next_multiple_of(128) };
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        let config = Config { slots: 5, inline: 49, block_bytes: 1000, ..Config::default() }.rounded();
        assert_eq!((config.slots, config.inline, config.block_bytes, config.max_len()), (8, 112, 1024, 1024));
        let config = Config { slots: 1, inline: 300, ..Config::default() }.rounded();
        assert_eq!((config.slots, config.inline, config.block_bytes), (2, 240, 384));
        assert_eq!(Config { block_bytes: 40, ..Config::default() }.rounded().block_bytes, 0);
    }

    #[test]
    #[should_panic(expected = "1 to 1024 readers, not 0")]
    fn a_channel_without_readers_is_refused() {
        let _ = Config { readers: 0, ..Config::default() }.rounded();
    }
}
