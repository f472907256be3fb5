//! The rings of many edges, in memory that all who use them lay out alike.
//!
//! Each member of a group builds its own ends only, and touches nothing of the others' rings: laying out costs the same for
//! one ring and for thousands.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::{Arena, ArenaError, PlaceSlice};

use super::any::{AnyReceiver, AnySender};
use super::recv_end::RecvEnd;
use super::send_end::SendEnd;
use super::shared::{Control, Shared};
use super::{Bell, Credit, ring_slots};
use crate::slots::SlotRings;

/// Rings for values of any plain types, whose ends are made one by one.
///
/// Each end is made once, by one of those who laid the rings out. On the heap that is checked; among processes whoever
/// gives out the ends sees to it, as a word in their memory may be anybody's.
#[derive(Debug)]
pub struct Rings {
    slots: SlotRings,
    controls: PlaceSlice<Control>,
    is_shared: bool,
}

/// Lays out `count` rings of `slots` lines each, rounded up as in a [`Config`](super::Config).
///
/// # Errors
/// [`ArenaError`].
///
/// # Panics
/// If `slots` is more than [`MAX_SLOTS`](super::MAX_SLOTS), or others laid out something else here. Ends can be made of rings of
/// up to 64 slots only, as those of [`any_channel`](super::any_channel).
#[track_caller]
pub fn any_rings(arena: &mut Arena, count: usize, slots: usize) -> Result<Rings, ArenaError> {
    let slots = SlotRings::lay_out(arena, count, ring_slots(slots, 1))?;
    Ok(Rings { slots, controls: arena.slice(count)?, is_shared: arena.is_shared() })
}

impl Rings {
    /// The sender of a ring, which rings `data_bell` and sleeps on `room_bell`.
    ///
    /// # Panics
    /// If there is no such ring, or its sender was made before.
    #[track_caller]
    #[must_use]
    pub fn sender(&self, ring: usize, data_bell: Bell, room_bell: Bell) -> AnySender {
        let shared = self.shared(ring, data_bell, room_bell);
        self.claim(&shared.control.sender, ring, "sender");
        AnySender::new(SendEnd::new(shared, 0), self.is_shared)
    }

    /// The receiver of a ring, which rings `room_bell` and sleeps on `data_bell`.
    ///
    /// # Panics
    /// If there is no such ring, or its receiver was made before.
    #[track_caller]
    #[must_use]
    pub fn receiver(&self, ring: usize, data_bell: Bell, room_bell: Bell) -> AnyReceiver {
        let shared = self.shared(ring, data_bell, room_bell);
        self.claim(&shared.control.receiver, ring, "receiver");
        AnyReceiver::new(RecvEnd::new(shared, 0), self.is_shared)
    }

    #[track_caller]
    fn shared(&self, ring: usize, data_bell: Bell, room_bell: Bell) -> Shared {
        let count = self.controls.len();
        let control = self.controls.place(ring).unwrap_or_else(|| panic!("there is no ring {ring} among {count}"));
        Shared { slots: self.slots.ring(ring), control, credit: Credit::AckLine, data_bell, room_bell }
    }

    /// Two ends of one kind would write or free the same slots at once.
    #[track_caller]
    fn claim(&self, owner: &AtomicU64, ring: usize, end: &str) {
        // ORDERING: Relaxed, only one finds it zero, whatever the order
        let was_free = self.is_shared || owner.swap(1, Ordering::Relaxed) == 0;
        assert!(was_free, "the {end} of ring {ring} was made before");
    }
}
