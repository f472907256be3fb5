//! The lines of senders and readers: their holders, and what the holders tell the others.
//!
//! ```text
//! ctl bits 63..48 generation: how often the line was taken
//!          47..16 the holder's generation as a participant of the region    15..5 its index there and one; 0 on the heap
//!           4..3  a reader's policy: 0 reliable, 1 deadline, 2 lossy
//!           2..0  state
//! state    FREE -> TAKEN -> (readers: JOINING -> ACTIVE (-> LAGGED -> TAKEN)) -> FREE
//! ```
//! A line is taken by CAS, with the holder's name in the same word, so that no death can leave a line without a name. The
//! holder stores the other states; senders change a reader's ACTIVE to LAGGED by CAS, and the participant that reaps after
//! a dead holder stores FREE.

use corecast_base::Shareable;
use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};

const POLICY: u32 = 3;
const OWNER: u32 = 5;
const OWNER_BITS: u32 = 43;
const GENERATION: u32 = OWNER + OWNER_BITS;

/// The use of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum State {
    Free = 0,
    Taken = 1,
    /// A reader that may start at its cursor or later.
    Joining = 2,
    /// A reader that has read all below its cursor.
    Active = 3,
    /// A reader that a sender has given up.
    Lagged = 4,
}

/// Whether a reader holds senders back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Hold {
    Always = 0,
    UntilDeadline = 1,
    Never = 2,
}

/// The holder of a line: a participant of the region, or (0) a thread of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Owner(pub(super) u64);

/// The control word of a line: its holder, and its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ctl(pub(super) u64);

/// A sender's line.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(super) struct SenderLine {
    pub(super) ctl: AtomicU64,
    /// The block that it owns; see `ByteSlots`. Written by the sender, and by the participant that cleans up after its
    /// death.
    pub(super) block: AtomicU64,
    /// The ticket for which the sender gives its block away; see `exchange`. Written and read like `block`.
    pub(super) inflight: AtomicU64,
    /// The block that it gets in exchange, and the ticket. Written and read like `block`.
    pub(super) incoming: AtomicU64,
}

/// A reader's line.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(super) struct ReaderLine {
    pub(super) ctl: AtomicU64,
    /// All tickets below are released. Written by the reader, read by senders that look for room.
    pub(super) cursor: AtomicU64,
    /// The time that senders wait for a reader with a deadline, in nanoseconds. Written by the reader before it joins.
    pub(super) deadline_ns: AtomicU64,
    /// The parker that it sleeps on, for publishers; see `WakeWord::arm_for`.
    pub(super) forward: AtomicU32,
}

// SAFETY: atomic integers, laid out as C does, aligned to 128.
unsafe impl Shareable for SenderLine {}
// SAFETY: as above.
unsafe impl Shareable for ReaderLine {}

#[cfg(not(loom))]
const _: () = assert!(size_of::<SenderLine>() == 128 && size_of::<ReaderLine>() == 128);

impl Ctl {
    pub(super) fn state(self) -> State {
        match self.0 & 7 {
            1 => State::Taken,
            2 => State::Joining,
            3 => State::Active,
            4 => State::Lagged,
            _ => State::Free,
        }
    }

    pub(super) fn hold(self) -> Hold {
        match self.0 >> POLICY & 3 {
            0 => Hold::Always,
            1 => Hold::UntilDeadline,
            _ => Hold::Never,
        }
    }

    /// True if a sender has to wait for this reader.
    #[inline]
    pub(super) fn gates(self) -> bool {
        matches!(self.state(), State::Joining | State::Active) && self.hold() != Hold::Never
    }

    pub(super) fn owner(self) -> Owner {
        Owner(self.0 >> OWNER & ((1 << OWNER_BITS) - 1))
    }

    /// The same holder in another state.
    pub(super) fn with(self, state: State) -> Self {
        Self(self.0 & !7 | state as u64)
    }

    /// The same holder, as if it had taken the line anew.
    pub(super) fn again(self) -> Self {
        self.taken_by(self.owner(), self.hold())
    }

    fn taken_by(self, owner: Owner, hold: Hold) -> Self {
        let generation = (self.0 >> GENERATION).wrapping_add(1);
        Self(generation << GENERATION | owner.0 << OWNER | (hold as u64) << POLICY | State::Taken as u64)
    }
}

/// Takes the line if it is free.
pub(super) fn take(ctl: &AtomicU64, owner: Owner, hold: Hold) -> Option<Ctl> {
    // ORDERING: Relaxed, the exchange below looks again
    let seen = Ctl(ctl.load(Ordering::Relaxed));
    if seen.state() != State::Free {
        return None;
    }
    let taken = seen.taken_by(owner, hold);
    // ORDERING: Acquire, pairs with the Release in put: the last holder is done with its tickets and blocks, and so, for
    // threads that see this holder go on, is this one; Relaxed on failure, which tells nothing [line]
    let won = ctl.compare_exchange(seen.0, taken.0, Ordering::Acquire, Ordering::Relaxed);
    won.ok().map(|_| taken)
}

/// Stores the next state of the line. Only its holder does this, or the participant that cleans up after it.
pub(super) fn put(ctl: &AtomicU64, next: Ctl) {
    // ORDERING: Release, pairs with the Acquire in take and in look [line]
    ctl.store(next.0, Ordering::Release);
}

/// The control word of the line.
#[inline]
pub(super) fn look(ctl: &AtomicU64) -> Ctl {
    // ORDERING: Acquire, pairs with the Release in put: a reader that left has done with its messages [line]
    Ctl(ctl.load(Ordering::Acquire))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_tells_its_holder_and_how_often_it_was_taken() {
        let line = AtomicU64::new(0);
        let owner = Owner((7 << 11 | 1280) & ((1 << OWNER_BITS) - 1));
        let first = take(&line, owner, Hold::UntilDeadline).expect("free");
        assert_eq!((first.state(), first.owner(), first.hold()), (State::Taken, owner, Hold::UntilDeadline));
        assert!(take(&line, Owner(0), Hold::Always).is_none(), "held");
        assert_eq!(look(&line), first);
        assert!(!first.gates() && first.with(State::Joining).gates() && first.with(State::Active).gates());
        put(&line, first.with(State::Free));
        let second = take(&line, Owner(0), Hold::Never).expect("free again");
        assert!(second.0 >> GENERATION == 2 && !second.with(State::Active).gates());
    }
}
