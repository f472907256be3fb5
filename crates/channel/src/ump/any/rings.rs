//! The rings of many edges, in memory that all members lay out in the same way.
//!
//! Each member of a group builds only its own ends, and does not touch the rings of others: laying out costs the same for
//! one ring and for thousands.

use corecast_base::sync::{AtomicU64, Ordering};
use corecast_base::wait::WakeWord;
use corecast_base::{Arena, ArenaError, PlaceSlice};
use std::fmt;

use super::{Receiver, Sender};
use crate::slots::SlotRings;
use crate::ump::recv_end::RecvEnd;
use crate::ump::send_end::SendEnd;
use crate::ump::shared::{Control, Shared};
use crate::ump::{Credit, ring_slots};

/// Rings for values of any plain types, whose ends are made one by one.
///
/// One member makes each end, once. On the heap that is checked. Among processes the code that gives out the ends ensures
/// it, as another process may write the word in their memory.
pub struct Rings {
    slots: SlotRings,
    controls: PlaceSlice<Control>,
    is_shared: bool,
}

/// Lays out `count` rings of `slots` lines each, rounded up as in a [`Config`](crate::ump::Config).
///
/// # Errors
/// [`ArenaError`].
///
/// # Panics
/// If `slots` is more than [`MAX_SLOTS`](crate::ump::MAX_SLOTS), or other members laid out something else here. Ends can be
/// made of rings of up to 64 slots only, as those of [`channel`](super::channel).
#[track_caller]
pub fn rings(arena: &mut Arena, count: usize, slots: usize) -> Result<Rings, ArenaError> {
    let slots = SlotRings::lay_out(arena, count, ring_slots(slots, 1))?;
    Ok(Rings { slots, controls: arena.slice(count)?, is_shared: arena.is_shared() })
}

impl Rings {
    /// The sender of a ring, which wakes `data_wake` and sleeps on `room_wake`.
    ///
    /// # Panics
    /// If there is no such ring, or its sender was made before.
    #[track_caller]
    #[must_use]
    pub fn sender(&self, ring: usize, data_wake: WakeWord, room_wake: WakeWord) -> Sender {
        let shared = self.shared(ring, data_wake, room_wake);
        self.claim(&shared.control.sender, ring, "sender");
        Sender::new(SendEnd::new(shared, 0), self.is_shared)
    }

    /// The receiver of a ring, which wakes `room_wake` and sleeps on `data_wake`.
    ///
    /// # Panics
    /// If there is no such ring, or its receiver was made before.
    #[track_caller]
    #[must_use]
    pub fn receiver(&self, ring: usize, data_wake: WakeWord, room_wake: WakeWord) -> Receiver {
        let shared = self.shared(ring, data_wake, room_wake);
        self.claim(&shared.control.receiver, ring, "receiver");
        Receiver::new(RecvEnd::new(shared, 0), self.is_shared)
    }

    #[track_caller]
    fn shared(&self, ring: usize, data_wake: WakeWord, room_wake: WakeWord) -> Shared {
        let count = self.controls.len();
        let control = self.controls.place(ring).unwrap_or_else(|| panic!("there is no ring {ring} among {count}"));
        Shared { slots: self.slots.ring(ring), control, credit: Credit::AckLine, data_wake, room_wake }
    }

    /// Two ends of one kind would write or free the same slots at once.
    #[track_caller]
    fn claim(&self, owner: &AtomicU64, ring: usize, end: &str) {
        // ORDERING: Relaxed, only one call finds it zero, whatever the order
        let was_free = self.is_shared || owner.swap(1, Ordering::Relaxed) == 0;
        assert!(was_free, "the {end} of ring {ring} was made before");
    }
}

impl fmt::Debug for Rings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rings({})", self.controls.len())
    }
}
