//! The descriptors of other nodes' segments that a process holds.

use corecast_base::PlaceSlice;
use corecast_base::sync::AtomicU64;

use super::checksum::of_eight;
use super::layout::HELD_WORDS;
use super::record::{self, Found};
use super::words::ReadWords;

/// A segment that a process holds: its descriptor there, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Held {
    /// The incarnation of the node that wrote the segment, from 1.
    pub inc: u16,
    /// The number of the descriptor in the holder's process.
    pub fd: u32,
    /// The number that tells the segment's memory from all others.
    pub identity: u64,
}

/// `None`: the process holds none any more.
const NONE: u32 = u32::MAX;

pub(super) fn write(words: &PlaceSlice<AtomicU64>, at: usize, held: Option<Held>) {
    let Held { inc, fd, identity } = held.unwrap_or(Held { inc: 0, fd: NONE, identity: 0 });
    let sum = checksum(inc, fd, identity);
    record::write(&words[at..][..HELD_WORDS], u64::from(inc) + 1, &[u64::from(fd), identity, u64::from(sum)]);
}

/// `None` if the process holds none, is writing there now, or the words are nonsense.
pub(super) fn read(words: &ReadWords, at: usize) -> Option<Held> {
    let Found::Whole { number, body: [fd, identity, sum] } = record::read::<3>(words, at) else { return None };
    let (inc, fd) = (u16::try_from(number.checked_sub(1)?).ok()?, u32::try_from(fd).ok()?);
    let is_sound = fd != NONE && inc != 0 && sum == u64::from(checksum(inc, fd, identity));
    is_sound.then_some(Held { inc, fd, identity })
}

fn checksum(inc: u16, fd: u32, identity: u64) -> u32 {
    of_eight([u64::from(inc), u64::from(fd), identity, 0, 0, 0, 0, 0])
}
