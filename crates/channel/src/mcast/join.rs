//! The joining of a reader.
//!
//! ```text
//! take a free line; cursor = tail; JOINING; fence (SeqCst) [join]; t = tail; cursor = t; ACTIVE; start at t
//! ```
//! Proof in `room`. A join that starts at the first tail, or a scan of the ACTIVE readers only, lets a sender overwrite the
//! message that the reader waits for: the exhaustive model finds both.

use std::time::Duration;

use corecast_base::sync::{AtomicU64, Ordering, fence, keep_order};

use super::line::{self, Ctl, Hold, ReaderLine, State};
use super::ring::{Ring, Slots};
use crate::policy::Policy;

impl Policy {
    pub(super) fn hold(self) -> Hold {
        match self {
            Self::Reliable => Hold::Always,
            Self::Deadline(_) => Hold::UntilDeadline,
            Self::Lossy => Hold::Never,
        }
    }

    fn deadline(self) -> Duration {
        match self {
            Self::Deadline(deadline) => deadline,
            Self::Reliable | Self::Lossy => Duration::MAX,
        }
    }
}

/// Takes a line for a reader, and returns its index and its control word.
pub(super) fn take_line<S: Slots>(ring: &Ring<S>, policy: Policy) -> Option<(usize, Ctl)> {
    let owner = ring.owners.owner();
    let (index, ctl) = ring.readers.iter().enumerate().find_map(|(index, line)| {
        // ORDERING: Relaxed, the fence of the join orders it before the reader's second look at the tail [join]
        ring.occupancy.reader_lines.fetch_max(index as u64 + 1, Ordering::Relaxed);
        // Before the line is taken: the cleaning up after the dead does not look at lines above.
        keep_order();
        line::take(&line.ctl, owner, policy.hold()).map(|ctl| (index, ctl))
    })?;
    let reader = &ring.readers[index];
    let deadline_ns = u64::try_from(policy.deadline().as_nanos()).unwrap_or(u64::MAX);
    // ORDERING: Relaxed, released by the state that join stores
    reader.deadline_ns.store(deadline_ns, Ordering::Relaxed);
    Some((index, ctl))
}

/// Makes senders wait for the holder of a line from now on, and returns its first ticket.
pub(super) fn join<S: Slots>(ring: &Ring<S>, reader: &ReaderLine, ctl: Ctl) -> u64 {
    tell(&reader.cursor, ring.tail());
    line::put(&reader.ctl, ctl.with(State::Joining));
    // ORDERING: SeqCst, pairs with the fence of a scan: not both does this reader miss the scan's tail and the scan miss this
    // reader [join]
    fence(Ordering::SeqCst);
    let start = ring.tail();
    tell(&reader.cursor, start);
    line::put(&reader.ctl, ctl.with(State::Active));
    start
}

/// Writes the position of a reader.
#[inline(always)]
pub(super) fn tell(cursor: &AtomicU64, ticket: u64) {
    // ORDERING: Release, pairs with the Acquire in Room::look_at: all below is read [cursor]
    cursor.store(ticket, Ordering::Release);
}
