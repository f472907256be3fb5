//! Reads a region's header and directory once, into private memory, and accepts only what fits together.
//!
//! It works on copies alone, so that later changes by a stranger have no effect. The order is that of trust: magic, version
//! and machine before checksum, checksum before sizes, sizes before places, places before names.

use std::collections::HashSet;

use super::directory::{ENTRY_WORDS, Entry, halves};
use super::error::{AttachError, Subject};
use super::header::{
    ABI_MAJOR, ABI_MINOR, CLOSED, ENDIAN_TAG, HEADER_WORDS, MAGIC, POINTER_BYTES, READY, checksum, type_hash,
};
use super::name::check_channel_name;
use super::places::{CHANNEL_ALIGN, MAX_CHANNELS, MAX_PARTICIPANTS, PARTICIPANTS_AT, Places, places};
use super::process;
use crate::LINE_BYTES;

/// The layout of a region after validation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) generation: u64,
    pub(super) creator_uid: u32,
    pub(super) creator_pid: u32,
    pub(super) participants: u32,
    pub(super) places: Places,
    pub(super) type_hash: [u64; 2],
    pub(super) entries: Vec<Entry>,
}

/// The header, as far as it can be checked without the directory.
#[derive(Debug, Clone)]
pub(super) struct Header {
    words: Vec<u64>,
    participants: u32,
    channels: u32,
    places: Places,
}

impl Header {
    /// Checks the first words of a region that is `mapped_bytes` long.
    pub(super) fn check(what: Subject<'_>, words: Vec<u64>, mapped_bytes: u64) -> Result<Self, AttachError> {
        what.expect(words.len() == HEADER_WORDS && words[0] == MAGIC, AttachError::NotOurs, || {
            format!("begins with {:#018x}, expected {MAGIC:#018x}", words.first().copied().unwrap_or(0))
        })?;
        check_abi(what, words[1], words[2])?;
        what.expect(words[3] == mapped_bytes, AttachError::Size, || {
            format!("{mapped_bytes} bytes, {} according to its header", words[3])
        })?;
        let (participants, channels) = halves(words[13]);
        let counts_fit = (1..=MAX_PARTICIPANTS).contains(&participants) && channels <= MAX_CHANNELS;
        what.expect(counts_fit, AttachError::Layout, || {
            format!("{participants} participants and {channels} channels, expected 1 to {MAX_PARTICIPANTS} and at most {MAX_CHANNELS}")
        })?;
        let places = places(participants, channels);
        let (found, expected) = ((words[11], words[12]), (PARTICIPANTS_AT as u64, places.directory as u64));
        what.expect(found == expected && places.channels as u64 <= mapped_bytes, AttachError::Layout, || {
            format!("participants and directory at {found:x?} of {mapped_bytes:#x} bytes, expected at {expected:x?}")
        })?;
        what.expect(words[4] != 0, AttachError::Layout, || "generation 0, expected any other".to_owned())?;
        let boot = process::boot_hash();
        what.expect(words[9] == boot || words[9] == 0 || boot == 0, AttachError::Stale, || {
            "made before the last boot".to_owned()
        })?;
        Ok(Self { words, participants, channels, places })
    }

    /// The offset of the directory, in bytes, and its number of words.
    pub(super) fn directory(&self) -> (usize, usize) {
        (self.places.directory, self.channels as usize * ENTRY_WORDS)
    }

    /// Checks the directory.
    pub(super) fn with_directory(self, what: Subject<'_>, words: &[u64]) -> Result<Layout, AttachError> {
        let sum = checksum(&self.words, words);
        what.expect(self.words[HEADER_WORDS - 1] == sum.into(), AttachError::Layout, || {
            format!("checksum {sum:#010x}, {:#010x} according to its header", self.words[HEADER_WORDS - 1])
        })?;
        let mut entries = Vec::with_capacity(self.channels as usize);
        for (index, words) in words.chunks(ENTRY_WORDS).enumerate() {
            let entry = Entry::decode(words).filter(|entry| check_channel_name(&entry.name).is_ok());
            let nameless = || AttachError::Layout(what.doubt(format!("channel {index} has no proper name")));
            entries.push(entry.ok_or_else(nameless)?);
        }
        check_places(what, &entries, self.places.channels as u64, self.words[3])?;
        let mut names = HashSet::new();
        let twice = entries.iter().find(|entry| !names.insert(&entry.name));
        what.expect(twice.is_none(), AttachError::Layout, || {
            format!("two channels are called '{}'", twice.map_or("", |entry| &entry.name))
        })?;
        let declared: Vec<_> = entries.iter().map(Entry::declared).collect();
        let type_hash = type_hash(&declared);
        what.expect(self.words[5..7] == type_hash, AttachError::Type, || {
            "its channels do not match the hash in its header".to_owned()
        })?;
        let (creator_uid, creator_pid) = halves(self.words[7]);
        let (generation, participants, places) = (self.words[4], self.participants, self.places);
        Ok(Layout { generation, creator_uid, creator_pid, participants, places, type_hash, entries })
    }
}

fn check_abi(what: Subject<'_>, abi: u64, widths: u64) -> Result<(), AttachError> {
    let (major, minor, endian) = (abi as u16, (abi >> 16) as u16, (abi >> 32) as u32);
    what.expect(endian == ENDIAN_TAG, AttachError::Abi, || {
        format!("byte order {endian:#010x}, expected {ENDIAN_TAG:#010x}")
    })?;
    what.expect(matches!((major, minor), (ABI_MAJOR, 0..=ABI_MINOR)), AttachError::Abi, || {
        format!("version {major}.{minor}, expected {ABI_MAJOR}.0 to {ABI_MAJOR}.{ABI_MINOR}")
    })?;
    let expected = u64::from(POINTER_BYTES) | (LINE_BYTES as u64) << 8;
    what.expect(widths == expected, AttachError::Abi, || {
        let (pointer, line) = (widths as u8, (widths >> 8) as u8);
        format!("pointers of {pointer} and lines of {line} bytes, expected {POINTER_BYTES} and {LINE_BYTES}")
    })
}

/// Each channel is inside, behind the directory, and none overlaps another. The unit of offsets aligns them.
fn check_places(what: Subject<'_>, entries: &[Entry], begin: u64, end: u64) -> Result<(), AttachError> {
    let mut spans: Vec<_> = entries.iter().map(|entry| (entry.offset, entry.offset + entry.bytes)).collect();
    spans.sort_unstable();
    let mut free_from = begin;
    for (from, to) in spans {
        let fits = from >= free_from && to <= end && to > from && from % CHANNEL_ALIGN == 0;
        what.expect(fits, AttachError::Layout, || {
            format!("a channel at {from:#x} to {to:#x}, expected between {free_from:#x} and {end:#x}")
        })?;
        free_from = to;
    }
    Ok(())
}

/// Checks that processes may attach to a region in this state.
pub(super) fn check_state(what: Subject<'_>, state: u32) -> Result<(), AttachError> {
    what.expect(state == READY, AttachError::Closed, || match state {
        CLOSED => "its last participant has left".to_owned(),
        _ => format!("state {state}, expected {READY} (ready)"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::region::RegionPlan;
    use crate::region::header::{encode, type_hash};

    const WHAT: Subject<'static> = Subject("a test");

    /// Header, directory and size of a good region with three channels.
    fn good() -> (Vec<u64>, Vec<u64>, u64) {
        let plan = RegionPlan::new().participants(3).expect("a few");
        let plan = ["a", "bc", "def"]
            .into_iter()
            .fold(plan, |plan, name| plan.add(name, 1, [1, 2, 3, 4, 5, 6], 1000).expect("a good name"));
        let bytes = plan.total_bytes().expect("small");
        let (header, directory) = encode(&plan, bytes);
        (header.to_vec(), directory, bytes)
    }

    fn read(header: &[u64], directory: &[u64], bytes: u64) -> Result<Layout, AttachError> {
        let header = Header::check(WHAT, header.to_vec(), bytes)?;
        let (_, words) = header.directory();
        // The words that a region would hold if its header says more channels than there are.
        let mut all = directory.to_vec();
        all.resize(words, 0);
        header.with_directory(WHAT, &all)
    }

    /// SplitMix64.
    struct Noise(u64);

    impl Noise {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let word = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (word ^ word >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ word >> 31
        }

        fn below(&mut self, end: usize) -> usize {
            (self.word() % end as u64) as usize
        }

        /// A word changed a little, or a lot.
        fn mutate(&mut self, word: u64) -> u64 {
            match self.below(6) {
                0 => word ^ 1 << self.below(64),
                1 => word.wrapping_add(1),
                2 => word.wrapping_sub(1),
                3 => [0, u64::MAX, 1 << 63, u64::from(u32::MAX)][self.below(4)],
                4 => word.rotate_left(32),
                _ => self.word(),
            }
        }
    }

    #[test]
    fn a_good_region_is_read_back() {
        let (header, directory, bytes) = good();
        let layout = read(&header, &directory, bytes).expect("as it was made");
        assert_eq!((layout.participants, layout.entries.len()), (3, 3));
        assert_eq!((layout.entries[2].name.as_str(), layout.entries[2].bytes), ("def", 1024));
        assert_eq!(layout.creator_pid, std::process::id());
    }

    /// An error or a correct attachment, never a crash: an accepted layout keeps the promises that others rely on.
    #[test]
    fn mutated_headers_are_refused_or_hold_together() {
        let rounds = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };
        let (header, directory, bytes) = good();
        let mut noise = Noise(20_261_120);
        let mut accepted = 0;
        for round in 0..rounds {
            let (mut header, mut directory) = (header.clone(), directory.clone());
            for _ in 0..=noise.below(3) {
                let at = noise.below(header.len() + directory.len());
                let word = match at.checked_sub(header.len()) {
                    None => &mut header[at],
                    Some(at) => &mut directory[at],
                };
                *word = noise.mutate(*word);
            }
            // Three times out of four the sums are corrected, so that the checks behind the sums are reached.
            if round % 4 != 0 {
                sum_up(&mut header, &directory);
            }
            if let Ok(layout) = read(&header, &directory, bytes) {
                accepted += 1;
                assert_holds_together(&layout, bytes);
            }
        }
        assert!(accepted > rounds / 100, "the mutants that mean nothing must be accepted: {accepted}");
        assert!(accepted < rounds / 2, "the others must not: {accepted}");
    }

    fn sum_up(header: &mut [u64], directory: &[u64]) {
        let entries: Option<Vec<_>> = directory.chunks(ENTRY_WORDS).map(Entry::decode).collect();
        if let Some(entries) = entries {
            header[5..7].copy_from_slice(&type_hash(&entries.iter().map(Entry::declared).collect::<Vec<_>>()));
        }
        header[HEADER_WORDS - 1] = checksum(header, directory).into();
    }

    fn assert_holds_together(layout: &Layout, bytes: u64) {
        assert!((1..=MAX_PARTICIPANTS).contains(&layout.participants) && layout.generation != 0);
        assert!(layout.places.channels as u64 <= bytes);
        for (i, one) in layout.entries.iter().enumerate() {
            assert!(check_channel_name(&one.name).is_ok());
            assert!(one.offset % CHANNEL_ALIGN == 0 && one.offset >= layout.places.channels as u64);
            assert!(one.bytes > 0 && one.offset + one.bytes <= bytes);
            for other in &layout.entries[..i] {
                assert!(one.name != other.name);
                assert!(one.offset + one.bytes <= other.offset || other.offset + other.bytes <= one.offset);
            }
        }
    }
}
