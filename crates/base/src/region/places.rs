//! Where the parts of a region lie: their sizes, their order, and how many there may be.

use crate::CacheLine;

/// The offset of the participants, in bytes.
pub(super) const PARTICIPANTS_AT: usize = 0x1000;
/// The alignment of channels, in bytes.
pub(super) const CHANNEL_ALIGN: u64 = 128;
/// The size of a participant's record, in bytes.
pub(super) const RECORD_BYTES: usize = 256;
/// The size of a channel's entry in the directory, in bytes.
pub(super) const ENTRY_BYTES: usize = 128;
/// The size of a parker, in bytes.
pub(super) const PARKER_BYTES: usize = size_of::<CacheLine<crate::sync::EventCount>>();

pub(super) const MAX_PARTICIPANTS: u32 = 1280;
pub(super) const MAX_CHANNELS: u32 = 4096;

/// The offsets of the parts of a region, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Places {
    pub(super) parkers: usize,
    pub(super) directory: usize,
    pub(super) channels: usize,
}

/// The parts of a region with these numbers of participants and channels, each behind the one before.
pub(super) fn places(participants: u32, channels: u32) -> Places {
    let parkers = PARTICIPANTS_AT + participants as usize * RECORD_BYTES;
    let directory = parkers + participants as usize * PARKER_BYTES;
    Places { parkers, directory, channels: directory + channels as usize * ENTRY_BYTES }
}
