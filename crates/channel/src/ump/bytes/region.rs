//! A ring of bytes in a region, for threads or processes.
//!
//! | offset | content of the channel's section; each line as [`Control`] says |
//! |---|---|
//! | 0 | acknowledged slots; the ends that are gone; sender; receiver: 128 B each |
//! | 0x200 | the wake word of the receiver, the wake word of the sender: 128 B each |
//! | 0x300 | slots, 64 B each |
//!
//! The directory's configuration: slots, credit, wait policy, wake cost in ns and one (0: not measured), fences (0: no end
//! ever sleeps).

use std::mem::offset_of;

use corecast_base::region::{Entry, Honest, KIND_UMP, Section, SharedRegion};
use corecast_base::sync::AtomicU64;
use corecast_base::wait::WakeCell;
use corecast_base::{CacheLine, LINE_BYTES, Place};

use super::receiver::Receiver;
use super::sender::Sender;
use crate::open::{OpenChannelError, Spec, find};
use crate::peer::{Claim, Peer, claim};
use crate::slots::SlotRing;
use crate::ump::recv_end::RecvEnd;
use crate::ump::send_end::SendEnd;
use crate::ump::shared::{Control, RECEIVER_GONE, SENDER_GONE, Shared};
use crate::ump::{Config, Credit, MAX_SLOTS, MIN_SLOTS, ring_slots};
use crate::waiting::Waiting;

const DATA_WAKE_AT: usize = size_of::<Control>();
const ROOM_WAKE_AT: usize = DATA_WAKE_AT + size_of::<CacheLine<WakeCell>>();
pub(super) const SLOTS_AT: usize = ROOM_WAKE_AT + size_of::<CacheLine<WakeCell>>();
const SENDER_AT: usize = offset_of!(Control, sender);
const RECEIVER_AT: usize = offset_of!(Control, receiver);

const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";

/// The contents of a region that a channel of bytes with this configuration needs.
///
/// # Panics
/// If the ring would have more than [`MAX_SLOTS`] slots.
#[track_caller]
#[must_use]
pub fn spec(config: Config) -> Spec {
    let slots = ring_slots(config.slots, 1);
    let credit = u64::from(config.credit == Credit::SlotClear);
    let [wait, wake_cost, fences] = Waiting::new(config.wait, config.wake_cost).to_words();
    let config = [slots as u64, credit, wait, wake_cost, fences, 0];
    Spec { kind: KIND_UMP, config, bytes: (SLOTS_AT + slots * LINE_BYTES) as u64 }
}

/// Opens the sending end of the channel with this name. If the last sender's process is gone without a goodbye, this one
/// goes on behind the last message that was sent.
///
/// # Errors
/// [`OpenChannelError`].
pub fn sender(region: &SharedRegion, name: &str) -> Result<Sender, OpenChannelError> {
    let ring = Ring::open(region, name)?;
    let peer = Peer::new(region, ring.word(RECEIVER_AT)?);
    let waiter = ring.waiting.waiter(region);
    let end = match ring.claim(region, &ring.shared.control.sender, SENDER, SENDER_GONE | RECEIVER_GONE)? {
        Claim::First => SendEnd::new(ring.shared, 0),
        Claim::Succession => SendEnd::succeed(ring.shared).map_err(|why| damaged(name, why))?,
    };
    Ok(Sender { end, waiter, peer: Some(peer), owns_loans: false })
}

/// Opens the receiving end of the channel with this name. A channel has one in its life.
///
/// # Errors
/// [`OpenChannelError`].
pub fn receiver(region: &SharedRegion, name: &str) -> Result<Receiver, OpenChannelError> {
    let ring = Ring::open(region, name)?;
    let peer = Peer::new(region, ring.word(SENDER_AT)?);
    let waiter = ring.waiting.waiter(region);
    match ring.claim(region, &ring.shared.control.receiver, RECEIVER, RECEIVER_GONE)? {
        Claim::First => {
            let end = RecvEnd::new(ring.shared, 0);
            Ok(Receiver { end, waiter, peer: Some(peer), gives_slices: false })
        }
        // The sender may have been told already, and messages that were read and not acknowledged would be read again.
        Claim::Succession => Err(OpenChannelError::Died { name: name.to_owned(), end: RECEIVER }),
    }
}

impl Sender {
    /// Lets loans be written as slices.
    ///
    /// # Panics
    /// If the promise is about another region.
    #[track_caller]
    #[must_use]
    pub fn with_honest(mut self, honest: &Honest<'_>) -> Self {
        check_promise(self.peer.as_ref(), honest);
        self.owns_loans = true;
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
        check_promise(self.peer.as_ref(), honest);
        self.gives_slices = true;
        self
    }
}

#[track_caller]
fn check_promise(peer: Option<&Peer>, honest: &Honest<'_>) {
    let is_ours = peer.is_none_or(|peer| peer.is_in(honest.region()));
    assert!(is_ours, "a promise about one region says nothing about the channels of another");
}

/// A channel of a region, opened and checked.
struct Ring<'a> {
    name: &'a str,
    section: Section,
    shared: Shared,
    waiting: Waiting,
}

impl<'a> Ring<'a> {
    fn open(region: &SharedRegion, name: &'a str) -> Result<Self, OpenChannelError> {
        let entry = find(region, name, KIND_UMP)?;
        let (slots, credit, waiting) =
            read_config(&entry).ok_or_else(|| damaged(name, "its configuration is none of ump"))?;
        let section = region.section(&entry);
        let words = section.words(SLOTS_AT, slots * LINE_BYTES / size_of::<u64>());
        let words = words.map_err(OpenChannelError::section(name))?;
        let slots = SlotRing::within(&words).ok_or_else(|| damaged(name, "its slots are not aligned to lines"))?;
        let control = section.place(0).map_err(OpenChannelError::section(name))?;
        let wake_word = |at| waiting.wake_word(region, &section, at, name);
        let (data_wake, room_wake) = (wake_word(DATA_WAKE_AT)?, wake_word(ROOM_WAKE_AT)?);
        let shared = Shared { slots, control, credit, data_wake, room_wake };
        Ok(Self { name, section, shared, waiting })
    }

    /// Claims an end, unless one of `needed` has left. A participant that leaves marks its end before its slot is free, so
    /// the second look sees the goodbye of one whose slot was taken.
    fn claim(
        &self,
        region: &SharedRegion,
        word: &AtomicU64,
        end: &'static str,
        needed: u32,
    ) -> Result<Claim, OpenChannelError> {
        self.refuse_closed(needed)?;
        let claim = claim(region, word, self.name, end)?;
        self.refuse_closed(needed)?;
        Ok(claim)
    }

    fn refuse_closed(&self, ends: u32) -> Result<(), OpenChannelError> {
        let gone = [(SENDER_GONE, SENDER), (RECEIVER_GONE, RECEIVER)];
        match gone.into_iter().find(|&(end, _)| ends & end != 0 && self.shared.is_gone(end)) {
            Some((_, end)) => Err(OpenChannelError::Closed { name: self.name.to_owned(), end }),
            None => Ok(()),
        }
    }

    /// The word that names the participant that has the end.
    fn word(&self, at: usize) -> Result<Place<CacheLine<AtomicU64>>, OpenChannelError> {
        self.section.place(at).map_err(OpenChannelError::section(self.name))
    }
}

/// Slots and credit in the directory; `None` if no `spec` writes them.
pub(super) fn read_ring(entry: &Entry) -> Option<(usize, Credit)> {
    let [slots, credit, ..] = entry.config;
    let slots = usize::try_from(slots).ok()?;
    let credit = *[Credit::AckLine, Credit::SlotClear].get(usize::try_from(credit).ok()?)?;
    let is_ring = slots.is_power_of_two() && (MIN_SLOTS..=MAX_SLOTS).contains(&slots);
    is_ring.then_some((slots, credit))
}

/// The whole configuration in the directory.
fn read_config(entry: &Entry) -> Option<(usize, Credit, Waiting)> {
    let [_, _, wait, wake_cost, fences, _] = entry.config;
    let (slots, credit) = read_ring(entry)?;
    Some((slots, credit, Waiting::from_words([wait, wake_cost, fences])?))
}

fn damaged(name: &str, why: &str) -> OpenChannelError {
    OpenChannelError::Layout { name: name.to_owned(), why: why.to_owned() }
}

const _: () = assert!(SENDER_AT == 0x100 && RECEIVER_AT == 0x180 && DATA_WAKE_AT == 0x200 && SLOTS_AT == 0x300);
