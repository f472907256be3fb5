//! A ring of commands: the accepted ones, the proposed ones, the requests.

use corecast_base::PlaceSlice;
use corecast_base::sync::{AtomicU64, Ordering};

use super::body::Body;
use super::layout::Ring;
use super::record::{self, Found};
use super::slot::{BODY_WORDS, Encoded, SLOT_WORDS, SlotRead, decode, encode, is_same};
use super::words::ReadWords;
use crate::{Command, Epoch, Index};

/// Writes a command, or raises its epoch in place if the slot holds the same command with the same index.
///
/// The raise is one store, so that no reader finds an accepted command absent. A new leader takes a slot that is BUSY for
/// one that nobody relies on.
#[inline]
pub(super) fn write(words: &PlaceSlice<AtomicU64>, ring: Ring, index: Index, epoch: Epoch, command: &Command<Body>) {
    let slot = &words[ring.slot(index)..][..SLOT_WORDS];
    let encoded = encode(index, epoch, command);
    match record::own::<BODY_WORDS>(slot, number(index)) {
        Some(there) if is_same(&there, &encoded) => {
            // ORDERING: Relaxed, the command is the same, and what is published behind it orders the epoch
            slot[1].store(encoded[0], Ordering::Relaxed);
        }
        _ => record::write(slot, number(index), &encoded),
    }
}

/// Takes the command with this index back, if it is there.
pub(super) fn erase(words: &PlaceSlice<AtomicU64>, ring: Ring, index: Index) {
    record::erase(&words[ring.slot(index)..][..SLOT_WORDS], number(index));
}

/// Reads the slot of a command. The words may be anything.
#[inline]
pub(super) fn read(words: &ReadWords, ring: Ring, index: Index) -> SlotRead {
    match record::read::<BODY_WORDS>(words, ring.slot(index)) {
        Found::Whole { number: found, body } if found == number(index) => judge(index, &body),
        Found::Whole { number: found, .. } => elsewhere(ring, index, found),
        Found::Empty => SlotRead::Absent,
        Found::Unreadable { number: found, is_erased } if found == number(index) => {
            if is_erased {
                SlotRead::Absent
            } else {
                SlotRead::Busy
            }
        }
        Found::Unreadable { number: found, .. } => elsewhere(ring, index, found),
    }
}

#[inline]
fn judge(index: Index, body: &Encoded) -> SlotRead {
    match decode(index, body) {
        Some((epoch, command)) => SlotRead::Command { epoch, command },
        None => SlotRead::Corrupt,
    }
}

/// The slot holds, or is about to hold, another command.
#[cold]
fn elsewhere(ring: Ring, index: Index, found: u64) -> SlotRead {
    let is_of_slot = found != 0 && found.wrapping_sub(number(index)) & (ring.len() - 1) == 0;
    match found > number(index) {
        _ if !is_of_slot => SlotRead::Corrupt,
        true => SlotRead::Lapped,
        false => SlotRead::Absent,
    }
}

/// The number of the record of the command with this index. A reader may be asked for an index that a stranger wrote.
#[inline(always)]
fn number(index: Index) -> u64 {
    index.wrapping_add(1)
}
