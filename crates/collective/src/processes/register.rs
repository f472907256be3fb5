//! The beginning of a group's memory: the participant behind each member, and the description of the group.
//!
//! | where | what | written by |
//! |---|---|---|
//! | directory entry `group` | format, members, bytes and checksum of the description, bytes laid out, fences | the founder |
//! | section, a line for each member | the participant of the region that it is, 0 for nobody yet | the member, once |
//! | then | the description, padded with zeroes | the founder, before anybody else has the descriptor |
//! | then | the member table, the edges of trees, the barrier, as all lay them out | as they say |
//!
//! The directory is checked with the region, by its own checksum; here each word is compared with its possible values.

use corecast_base::region::KIND_GROUP;
use corecast_base::region::{Entry, Section, SharedRegion, checksum};
use corecast_base::sync::{AtomicU64, Fences, Ordering};
use corecast_base::wait::Wait;
use corecast_base::{Arena, ArenaError, CacheLine, PlaceSlice};

use super::error::JoinError;
use crate::MAX_MEMBERS;

/// The name of the group in its region's directory.
pub(super) const NAME: &str = "group";

/// Changes with everything that would make members of two versions lay out or read memory differently.
const FORMAT: u64 = 4;

/// The directory's entry of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct GroupEntry {
    pub(super) members: usize,
    pub(super) descriptor_bytes: usize,
    pub(super) descriptor_checksum: u32,
    /// All that each member lays out before it joins.
    pub(super) laid_out_bytes: usize,
    /// The kind of fences of the wake words; `None` if no member ever sleeps.
    pub(super) fences: Option<Fences>,
}

impl GroupEntry {
    pub(super) fn to_words(self) -> [u64; 6] {
        let Self { members, descriptor_bytes, descriptor_checksum, laid_out_bytes, fences } = self;
        let fences = fences.map_or(0, |fences| fences as u64);
        [FORMAT, members as u64, descriptor_bytes as u64, u64::from(descriptor_checksum), laid_out_bytes as u64, fences]
    }

    /// The contents of an entry, if its words are possible.
    fn from_entry(entry: &Entry) -> Result<Self, JoinError> {
        let [format, members, descriptor_bytes, descriptor_checksum, laid_out_bytes, fences] = entry.config;
        if format != FORMAT {
            return Err(JoinError::Corrupt(format!("it is of format {format}, and this version knows {FORMAT}")));
        }
        let within = |what: &str, value: u64, most: u64| {
            let damaged = || JoinError::Corrupt(format!("it says {value} {what}, at most {most} can be"));
            if value <= most { Ok(value as usize) } else { Err(damaged()) }
        };
        let descriptor_checksum = within("for a checksum", descriptor_checksum, u64::from(u32::MAX))? as u32;
        Ok(Self {
            members: within("members", members, MAX_MEMBERS as u64)?,
            descriptor_bytes: within("bytes of description", descriptor_bytes, entry.bytes)?,
            descriptor_checksum,
            laid_out_bytes: within("bytes laid out", laid_out_bytes, entry.bytes)?,
            fences: fences_of(fences)?,
        })
    }

    /// Checks the fences against this way to wait: members need them if they sleep.
    pub(super) fn check_wait(&self, wait: Wait) -> Result<(), JoinError> {
        let fits = wait.sleeps() == self.fences.is_some();
        fits.then_some(()).ok_or_else(|| JoinError::Corrupt(format!("its fences do not go with wait {wait}")))
    }
}

fn fences_of(number: u64) -> Result<Option<Fences>, JoinError> {
    if number == 0 {
        return Ok(None);
    }
    let joined = u32::try_from(number).ok().and_then(Fences::joined);
    let refused = || JoinError::Corrupt(format!("its fences {number} are unknown, or refused to this process"));
    joined.map(Some).ok_or_else(refused)
}

/// The group of a region: its directory entry, and its memory.
pub(super) fn find(region: &SharedRegion) -> Result<(GroupEntry, Section), JoinError> {
    let entry = region.entry(NAME).filter(|entry| entry.kind == KIND_GROUP).ok_or(JoinError::NoGroup)?;
    Ok((GroupEntry::from_entry(&entry)?, region.section(&entry)))
}

/// The words at the beginning of the memory.
#[derive(Debug)]
pub(super) struct Register {
    pub(super) members: PlaceSlice<CacheLine<AtomicU64>>,
    descriptor: PlaceSlice<AtomicU64>,
}

impl Register {
    pub(super) fn lay_out(arena: &mut Arena, members: usize, descriptor_bytes: usize) -> Result<Self, ArenaError> {
        Ok(Self { members: arena.slice(members)?, descriptor: arena.slice(descriptor_bytes.div_ceil(8))? })
    }

    /// Writes the description, for which exactly its length was laid out. No other process has the memory yet.
    pub(super) fn write(&self, descriptor: &[u8]) {
        for (place, word) in self.descriptor.iter().zip(words(descriptor)) {
            // ORDERING: Relaxed, a reader gets the descriptor afterwards, which the kernel orders
            place.store(word, Ordering::Relaxed);
        }
    }

    /// Copies the description, and checks it against the directory's checksum.
    pub(super) fn read(&self, terms: &GroupEntry) -> Result<Vec<u8>, JoinError> {
        // ORDERING: Relaxed, it was written before this process got the descriptor
        let words: Vec<u64> = self.descriptor.iter().map(|word| word.load(Ordering::Relaxed)).collect();
        if checksum(words.iter().copied()) != terms.descriptor_checksum {
            return Err(JoinError::Corrupt("its description is not the one that was written".to_owned()));
        }
        let mut bytes: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        bytes.truncate(terms.descriptor_bytes);
        Ok(bytes)
    }
}

/// The bytes as words, the last one padded with zeroes.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(word)
    })
}
