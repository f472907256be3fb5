//! The configuration of an acknowledged broadcast, on which all members agree.

use super::AckError;
use super::limits::{MAX_EVENT_BYTES, MAX_WINDOW};
use super::scheduler::Discipline;

/// The configuration of an acknowledged broadcast. Every member gives the same.
///
/// ```
/// use corecast_collective::acknowledged::{AckConfig, AckTuning, Variant};
/// let config = AckConfig::new(2).window(64);
/// assert_eq!((config.root, config.window), (2, 64));
///
/// let along_a_tree = config.tuning(AckTuning { variant: Variant::Tree, ..AckTuning::default() });
/// assert_ne!(config, along_a_tree);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AckConfig {
    /// The rank that publishes.
    pub root: usize,
    /// The number of events that may be on their way, 1 to [`MAX_WINDOW`].
    pub window: usize,
    pub(super) tuning: AckTuning,
}

impl AckConfig {
    /// Rank `root` publishes; up to 128 events may be on their way; the tuning is the default one.
    #[must_use]
    pub const fn new(root: usize) -> Self {
        Self { root, window: 128, tuning: AckTuning::USUAL }
    }

    /// Up to `events` events may be on their way, 1 to [`MAX_WINDOW`].
    #[must_use]
    pub const fn window(self, events: usize) -> Self {
        Self { window: events, ..self }
    }

    /// Events and acknowledgements travel as `tuning` says.
    #[must_use]
    pub const fn tuning(self, tuning: AckTuning) -> Self {
        Self { tuning, ..self }
    }
}

impl Default for AckConfig {
    /// Rank 0 publishes.
    fn default() -> Self {
        Self::new(0)
    }
}

/// The way in which events and acknowledgements travel, for measurements and unusual groups. The default suits most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AckTuning {
    /// The kind of graph.
    pub variant: Variant,
    /// The kind of edges.
    pub edges: Edges,
    /// The number of members to which a member passes an event on, from 1.
    pub arity: usize,
    /// The moment at which a member acknowledges.
    pub ack_on: AckOn,
    /// Whether one member of a ring gathers in the root's place, so that the root receives one message for each event. The
    /// way is one message longer.
    pub companion: bool,
}

impl Default for AckTuning {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The graph along which events go out and acknowledgements come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Variant {
    /// The variant that [`AckTuning::choice`] returns.
    #[default]
    Auto,
    /// BT: down a balanced tree, and the acknowledgements back up. Inner members act twice for each event.
    Tree,
    /// DR: around a diamond ring, see [`corecast_plan::diamond`]. Every member acts once for each event.
    Ring,
    /// SDR: as the ring, but a member begins an event only after the one before. All edges except [`Edges::Tasks`] of
    /// last-in-first-out discipline keep this order in a ring anyway.
    OrderedRing,
}

/// The way in which a member passes an event to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Edges {
    /// Each member counts on a line of its own the events that it has passed on; its successors look there, and read the
    /// event where the root has written it. One store passes on any number of events.
    #[default]
    Counters,
    /// A ring of lines for each edge, and a message for each event.
    Messages,
    /// A task for each event and edge, which goes through the inbox of the member that runs it, as in the paper.
    Tasks(Discipline),
}

/// The moment at which a member acknowledges an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AckOn {
    /// As soon as it has a copy. Slow processing does not hold up the ring.
    Received,
    /// After it has processed the event.
    #[default]
    Processed,
}

impl AckTuning {
    const USUAL: Self =
        Self { variant: Variant::Auto, edges: Edges::Counters, arity: 2, ack_on: AckOn::Processed, companion: false };

    /// The variant in use, and the reason.
    #[must_use]
    pub fn choice(&self) -> (Variant, &'static str) {
        match (self.variant, self.edges) {
            (Variant::Auto, Edges::Tasks(Discipline::Lifo)) => (
                Variant::OrderedRing,
                "tasks that are run last in, first out reorder events unless the ring orders them",
            ),
            (Variant::Auto, _) => {
                (Variant::Ring, "every member acts once for each event, and these edges keep the order")
            }
            (asked_for, _) => (asked_for, "as asked for"),
        }
    }
}

impl AckConfig {
    /// Whether such a broadcast can carry events of this many bytes.
    pub(crate) fn check(&self, event_bytes: usize) -> Result<(), AckError> {
        let AckTuning { arity, companion, .. } = self.tuning;
        let is_tree = self.tuning.choice().0 == Variant::Tree;
        if !(1..=corecast_plan::diamond::MAX_NODES).contains(&arity) {
            return Err(AckError::Arity { arity });
        }
        if !(1..=MAX_WINDOW).contains(&self.window) {
            return Err(AckError::Window { window: self.window });
        }
        if companion && is_tree {
            return Err(AckError::CompanionOfTree);
        }
        if event_bytes > MAX_EVENT_BYTES {
            return Err(AckError::TooLarge { bytes: event_bytes });
        }
        Ok(())
    }

    /// A number that differs for other configurations and other types of events, except by a rare collision.
    pub(crate) fn signature<T>(&self) -> u64 {
        let text = format!("{self:?} {} {}", std::any::type_name::<T>(), size_of::<T>());
        // FNV-1a: the same in every program, unlike the standard library's hashers.
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn auto_orders_only_what_would_be_reordered() {
        let with = |edges| AckTuning { edges, ..AckTuning::default() }.choice().0;
        assert_eq!(with(Edges::Tasks(Discipline::Lifo)), Variant::OrderedRing);
        assert_eq!(with(Edges::Tasks(Discipline::Fifo)), Variant::Ring);
        assert_eq!((with(Edges::Messages), with(Edges::Counters)), (Variant::Ring, Variant::Ring));
    }

    #[test]
    fn signatures_tell_settings_and_types_apart() {
        let usual = AckConfig::default();
        assert_eq!(usual.signature::<u64>(), AckConfig::default().signature::<u64>());
        assert_ne!(usual.signature::<u64>(), usual.signature::<i64>());
        assert_ne!(usual.signature::<u64>(), usual.window(64).signature::<u64>());
        let tuning = AckTuning { arity: 3, ..AckTuning::default() };
        assert_ne!(usual.signature::<u64>(), usual.tuning(tuning).signature::<u64>());
    }
}
