//! Multicast channels in regions.
//!
//! | offset | part |
//! |---|---|
//! | 0x000 | tail; 0x080 occupancy; 0x100 the readers' wake word; 0x180 the senders' wake word |
//! | 0x200 | senders, 128 B each; readers, 128 B each |
//! | then | slots, 64 B times 1, 2 or 4; blocks, whole 128 B |
//!
//! Everything begins as zeroes. The directory's words hold the sizes: `{slots u32, readers u32}`, `{senders u32, inline
//! u32}`, `{block bytes}`, `{delivery u8, zero readers u8, wait u8}`, `{wake cost in ns and one; 0 unknown}`.

use std::time::Duration;

use corecast_base::CacheLine;
use corecast_base::region::{Honest, KIND_MCAST, Section, SectionError, SharedRegion};
use corecast_base::sync::{Arc, Fences, Ordering};
use corecast_base::wait::{Wait, WakeCell, WakeWord};

use super::receiver::Receiver;
use super::sender::Sender;
use super::slots::{ByteSlots, Sizes, Words};
use crate::mcast::config::{Config, Delivery, MAX_BYTES, MAX_READERS, MAX_SENDERS, MAX_SLOTS, ZeroReaders};
use crate::mcast::line::{ReaderLine, SenderLine, State, look};
use crate::mcast::owners::Owners;
use crate::mcast::ring::{Occupancy, Ring};
use crate::mcast::word::Laps;
use crate::open::{OpenChannelError, Spec, find};
use crate::policy::Policy;

const ROW: usize = 128;
pub(super) const TAIL: usize = 0;
const OCCUPANCY: usize = ROW;
const DATA_WAKE: usize = 2 * ROW;
const ROOM_WAKE: usize = 3 * ROW;
pub(super) const LINES: usize = 4 * ROW;

/// The contents of a region that a channel of this configuration needs.
///
/// # Panics
/// If a size is out of its range.
#[must_use]
#[track_caller]
pub fn spec(config: Config) -> Spec {
    let config = config.rounded();
    Spec { kind: KIND_MCAST, config: encode(&config), bytes: Offsets::of(&config).end as u64 }
}

/// A sender of the channel with this name.
///
/// # Errors
/// [`OpenChannelError`]; `Taken` if the channel takes no more senders.
pub fn sender(region: &SharedRegion, name: &str) -> Result<Sender, OpenChannelError> {
    let ring = open(region, name)?;
    Sender::open(&ring).ok_or_else(|| taken(&ring, name, "sender"))
}

/// A reader of all messages that are sent through the channel with this name from now on.
///
/// # Errors
/// [`OpenChannelError`]; `Taken` if the channel takes no more readers, `Policy` if it never overwrites and the policy is not
/// [`Policy::Reliable`].
pub fn receiver(region: &SharedRegion, name: &str, policy: Policy) -> Result<Receiver, OpenChannelError> {
    let ring = open(region, name)?;
    if !ring.overwrites() && policy != Policy::Reliable {
        return Err(OpenChannelError::Policy { name: name.to_owned(), policy });
    }
    Receiver::open(&ring, policy).ok_or_else(|| taken(&ring, name, "reader"))
}

impl Sender {
    /// Lets loans be written as slices.
    ///
    /// # Panics
    /// If the promise is about another region, or other ends have come from this one.
    #[track_caller]
    #[must_use]
    pub fn with_honest(mut self, honest: &Honest<'_>) -> Self {
        trust(&mut self.end.ring, honest);
        self
    }
}

impl Receiver {
    /// Lets messages be read as slices.
    ///
    /// # Panics
    /// If the promise is about another region.
    #[track_caller]
    #[must_use]
    pub fn with_honest(mut self, honest: &Honest<'_>) -> Self {
        trust(&mut self.end.ring, honest);
        self
    }
}

#[track_caller]
fn trust(ring: &mut Arc<Ring<ByteSlots>>, honest: &Honest<'_>) {
    let is_ours = ring.owners.is_in(honest.region());
    assert!(is_ours, "a promise about one region says nothing about the channels of another");
    Arc::get_mut(ring).expect("a promise is made before other ends come from this one").slots.is_trusted = true;
}

/// The offsets of the parts, in bytes from the start.
pub(super) struct Offsets {
    pub(super) readers: usize,
    slots: usize,
    blocks: usize,
    end: usize,
}

impl Offsets {
    pub(super) fn of(config: &Config) -> Self {
        let sizes = Sizes::of(config);
        let readers = LINES + config.senders * size_of::<SenderLine>();
        let slots = readers + config.readers * size_of::<ReaderLine>();
        let blocks = slots + (config.slots * sizes.slot_words() * 8).next_multiple_of(ROW);
        Self { readers, slots, blocks, end: blocks + sizes.blocks * sizes.block_words() * 8 }
    }
}

/// This process's view of the channel with this name.
fn open(region: &SharedRegion, name: &str) -> Result<Arc<Ring<ByteSlots>>, OpenChannelError> {
    let entry = find(region, name, KIND_MCAST)?;
    let damaged = |why: &str| OpenChannelError::Layout { name: name.to_owned(), why: why.to_owned() };
    let config = decode(entry.config).ok_or_else(|| damaged("no channel has its sizes"))?;
    let at = Offsets::of(&config);
    if entry.bytes < at.end as u64 {
        return Err(damaged("it is smaller than its sizes say"));
    }
    let section = region.section(&entry);
    let failed = OpenChannelError::section(name);
    let sizes = Sizes::of(&config);
    let slots = section.words(at.slots, config.slots * sizes.slot_words()).map_err(&failed)?;
    let blocks = section.words(at.blocks, sizes.blocks * sizes.block_words()).map_err(&failed)?;
    let occupancy = section.place::<Occupancy>(OCCUPANCY).map_err(&failed)?;
    let fences = if config.wait.sleeps() {
        Some(agree(&occupancy, region).ok_or_else(|| damaged("its fences are not granted to this process"))?)
    } else {
        None
    };
    let ring = Ring {
        laps: Laps::new(config.slots),
        tail: section.place(TAIL).map_err(&failed)?,
        senders: section.slice(LINES, config.senders).map_err(&failed)?,
        readers: section.slice(at.readers, config.readers).map_err(&failed)?,
        data_wake: wake_word(&section, DATA_WAKE, region, fences).map_err(&failed)?,
        room_wake: wake_word(&section, ROOM_WAKE, region, fences).map_err(&failed)?,
        owners: Owners::within(region.clone()),
        slots: ByteSlots::new(sizes, Words::within(slots), Words::within(blocks), false),
        occupancy,
        config,
    };
    crate::mcast::reap::reap(&ring);
    Ok(Arc::new(ring))
}

/// The fences of all users of the channel: the choice of the first one.
fn agree(occupancy: &Occupancy, region: &SharedRegion) -> Option<Fences> {
    let mine = Fences::of(region.wake_scope()) as u32;
    // ORDERING: Relaxed, the number is all there is to know
    match occupancy.fences.compare_exchange(0, mine, Ordering::Relaxed, Ordering::Relaxed) {
        Ok(_) => Fences::joined(mine),
        Err(theirs) => Fences::joined(theirs),
    }
}

fn wake_word(
    section: &Section,
    offset: usize,
    region: &SharedRegion,
    fences: Option<Fences>,
) -> Result<WakeWord, SectionError> {
    Ok(WakeWord::within(section.place::<CacheLine<WakeCell>>(offset)?, region.parkers(), region.me().index, fences))
}

/// The error where the channel has all ends of one kind, with a holder of one.
fn taken(ring: &Ring<ByteSlots>, name: &str, end: &'static str) -> OpenChannelError {
    let holders: Vec<_> = match end {
        "sender" => ring.senders.iter().map(|line| look(&line.ctl)).collect(),
        _ => ring.readers.iter().map(|line| look(&line.ctl)).collect(),
    };
    let held = holders.into_iter().find(|ctl| ctl.state() != State::Free);
    let by = held.and_then(|ctl| Owners::participant(ctl.owner())).unwrap_or_else(|| ring.owners.me());
    OpenChannelError::Taken { name: name.to_owned(), end, by }
}

fn encode(config: &Config) -> [u64; 6] {
    let wake_cost =
        config.wake_cost.map_or(0, |cost| u64::try_from(cost.as_nanos()).map_or(0, |ns| ns.saturating_add(1)));
    let wait = Wait::ALL.iter().position(|&wait| wait == config.wait).expect("all policies are listed");
    [
        config.slots as u64 | (config.readers as u64) << 32,
        config.senders as u64 | (config.inline as u64) << 32,
        config.block_bytes as u64,
        config.delivery as u64 | (config.zero_readers as u64) << 8 | (wait as u64) << 16,
        wake_cost,
        0,
    ]
}

/// The configuration in the words, if it is one.
pub(super) fn decode(words: [u64; 6]) -> Option<Config> {
    let [sizes, more_sizes, block_bytes, choices, wake_cost, rest] = words;
    let low = |word: u64| (word & 0xFFFF_FFFF) as usize;
    let config = Config {
        slots: low(sizes),
        readers: low(sizes >> 32),
        senders: low(more_sizes),
        inline: low(more_sizes >> 32),
        block_bytes: usize::try_from(block_bytes).ok()?,
        delivery: *[Delivery::Gated, Delivery::Overwrite].get((choices & 0xFF) as usize)?,
        zero_readers: *[ZeroReaders::Discard, ZeroReaders::Block].get((choices >> 8 & 0xFF) as usize)?,
        wait: *Wait::ALL.get((choices >> 16) as usize)?,
        wake_cost: wake_cost.checked_sub(1).map(Duration::from_nanos),
    };
    let is_in_range = (2..=MAX_SLOTS).contains(&config.slots)
        && (1..=MAX_READERS).contains(&config.readers)
        && (1..=MAX_SENDERS).contains(&config.senders)
        && config.max_len() <= MAX_BYTES
        && rest == 0;
    (is_in_range && config.clone().rounded() == config).then_some(config)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_base::region::RegionPlan;

    #[test]
    fn slices_are_had_for_a_promise() {
        let config = Config { block_bytes: 300, ..Config::default() };
        let plan = spec(config).declare(RegionPlan::new(), "news").expect("a plan");
        let region = SharedRegion::heap(&plan).expect("a region");
        for is_honest in [false, true] {
            let mut tx = sender(&region, "news").expect("a sender");
            let mut rx = receiver(&region, "news", Policy::Reliable).expect("a reader");
            if is_honest {
                // SAFETY: nobody but these ends reaches the region.
                let honest = unsafe { region.assume_honest() };
                (tx, rx) = (tx.with_honest(&honest), rx.with_honest(&honest));
            }
            let mut loan = tx.reserve(300).expect("room");
            assert_eq!(loan.bytes().as_mut_slice().is_some(), is_honest);
            loan.bytes().copy_from(&[7; 300]);
            loan.commit().expect("sent");
            let message = rx.recv().expect("sent");
            assert_eq!(message.bytes().as_slice(), is_honest.then_some(&[7; 300][..]));
        }
    }

    #[test]
    fn a_configuration_comes_back_from_its_words() {
        let config = Config {
            slots: 100,
            senders: 3,
            block_bytes: 5000,
            delivery: Delivery::Overwrite,
            zero_readers: ZeroReaders::Block,
            wait: Wait::Park,
            wake_cost: Some(Duration::from_micros(12)),
            ..Config::default()
        };
        let spec = spec(config.clone());
        assert_eq!(decode(spec.config), Some(config.rounded()));
        for word in 0..6 {
            let mut words = spec.config;
            words[word] = u64::MAX;
            assert!(decode(words).is_none() || word == 4, "word {word}");
        }
    }
}
