//! The memory and settings that all ends of a channel share.

use corecast_base::sync::{AtomicU32, AtomicU64, Ordering};
use corecast_base::wait::{Waiter, WakeWord};
use corecast_base::{CacheLine, Place, PlaceSlice, Shareable};

use super::config::{Config, Delivery, ZeroReaders};
use super::line::{Hold, Owner, ReaderLine, SenderLine, State, look, put, take};
use super::owners::Owners;
use super::presence::{Presence, PresenceState};
use super::word::{Laps, Word};

/// The memory of messages.
pub(super) trait Slots {
    /// The word of the slot with this index.
    fn word(&self, index: usize) -> &AtomicU64;

    /// Asks the CPU for the lines of a slot that will be written soon.
    fn prepare(&self, index: usize) {
        let _ = index;
    }

    /// Settles the state that a dead sender left besides its claim. Can be repeated.
    fn settle(ring: &Ring<Self>, sender: usize)
    where
        Self: Sized;
}

/// The open ends of the channel. Written when an end comes or goes.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub(super) struct Occupancy {
    pub(super) senders: Presence,
    pub(super) readers: Presence,
    /// Lines of readers above were never taken. Raised by readers that join, before they do.
    pub(super) reader_lines: AtomicU64,
    /// The fences of both wake words, by number, chosen by the first opener of the channel; 0 for none chosen.
    pub(super) fences: AtomicU32,
}

// SAFETY: atomic integers, laid out as C does, aligned to 128.
unsafe impl Shareable for Occupancy {}

/// A channel.
#[derive(Debug)]
pub(super) struct Ring<S> {
    pub(super) laps: Laps,
    pub(super) config: Config,
    /// The next ticket. Written by the sender, or by several senders by CAS; read by readers that join or were overrun.
    pub(super) tail: Place<CacheLine<AtomicU64>>,
    pub(super) occupancy: Place<Occupancy>,
    pub(super) senders: PlaceSlice<SenderLine>,
    pub(super) readers: PlaceSlice<ReaderLine>,
    /// Senders wake readers here after a message.
    pub(super) data_wake: WakeWord,
    /// Readers wake senders here after they moved their cursors or came, and senders after they evict.
    pub(super) room_wake: WakeWord,
    pub(super) owners: Owners,
    pub(super) slots: S,
}

impl<S: Slots> Ring<S> {
    /// A channel for the threads of this process. All lines and words are as in unwritten memory.
    pub(super) fn on_heap(config: Config, slots: S) -> Self {
        Self {
            laps: Laps::new(config.slots),
            tail: Place::new(CacheLine::new(AtomicU64::new(0))),
            occupancy: Place::new(Occupancy::default()),
            senders: PlaceSlice::new((0..config.senders).map(|_| SenderLine::default()).collect()),
            readers: PlaceSlice::new((0..config.readers).map(|_| ReaderLine::default()).collect()),
            data_wake: WakeWord::new(config.wait),
            room_wake: WakeWord::new(config.wait),
            owners: Owners::heap(),
            slots,
            config,
        }
    }

    /// The word of a ticket's slot.
    #[inline(always)]
    pub(super) fn word(&self, ticket: u64) -> &AtomicU64 {
        self.slots.word(self.laps.index(ticket))
    }

    /// The word of a ticket's slot as it is now, and what was written before it.
    #[inline(always)]
    pub(super) fn look_at(&self, ticket: u64) -> Word {
        // ORDERING: Acquire, pairs with the Release in SendEnd::publish: the message is there, and a sender that reuses
        // the slot may drop what the one before left [slot-full]
        Word(self.word(ticket).load(Ordering::Acquire))
    }

    #[inline(always)]
    pub(super) fn is_multi(&self) -> bool {
        self.config.senders > 1
    }

    #[inline(always)]
    pub(super) fn overwrites(&self) -> bool {
        self.config.delivery == Delivery::Overwrite
    }

    pub(super) fn waits_for_readers(&self) -> bool {
        self.config.zero_readers == ZeroReaders::Block
    }

    /// The next ticket. The words of the slots order what it counts, and fences order it against joins.
    pub(super) fn tail(&self) -> u64 {
        // ORDERING: Relaxed, it is only a number: a reader that starts there polls the word of the slot, a sender claims it
        self.tail.load(Ordering::Relaxed)
    }

    /// The lines that readers may hold.
    pub(super) fn reader_lines(&self) -> &[ReaderLine] {
        // ORDERING: Relaxed, a reader that takes a line raises it before the fence of its join [join]
        let lines = self.occupancy.reader_lines.load(Ordering::Relaxed);
        &self.readers[..self.readers.len().min(lines as usize)]
    }

    /// Wakes the readers that sleep.
    #[inline(always)]
    pub(super) fn wake_readers(&self) {
        self.data_wake.notify_all(Forwards(self));
    }

    /// Gives back a sender's line.
    pub(super) fn release_sender(&self, ctl: &AtomicU64, how: PresenceState) {
        put(ctl, look(ctl).with(State::Free));
        self.say_sender_left(how);
    }

    /// Tells receivers, if the sender that gave its line back was the last one.
    pub(super) fn say_sender_left(&self, how: PresenceState) {
        self.occupancy.senders.depart(how, || self.senders.iter().all(|sender| is_free(&sender.ctl)));
        self.wake_readers();
    }

    /// Gives back a reader's line.
    pub(super) fn release_reader(&self, ctl: &AtomicU64, how: PresenceState) {
        put(ctl, look(ctl).with(State::Free));
        self.say_reader_left(how);
    }

    /// Tells senders that a reader gave its line back.
    pub(super) fn say_reader_left(&self, how: PresenceState) {
        self.occupancy.readers.depart(how, || self.reader_lines().iter().all(|reader| is_free(&reader.ctl)));
        self.room_wake.notify();
    }

    /// Takes a line for a sender, and returns its index.
    pub(super) fn take_sender_line(&self, owner: Owner) -> Option<usize> {
        let index = self.senders.iter().position(|line| take(&line.ctl, owner, Hold::Always).is_some())?;
        self.occupancy.senders.arrive();
        Some(index)
    }

    /// A waiter for one end.
    pub(super) fn waiter(&self) -> Waiter {
        let ends = self.config.senders + 1;
        Waiter::new(self.config.wait, self.owners.cpu_sharing(ends), self.config.wake_cost)
    }
}

/// The words that name the parkers of sleeping readers, collected only if a reader sleeps.
struct Forwards<'a, S>(&'a Ring<S>);

impl<'a, S: Slots> IntoIterator for Forwards<'a, S> {
    type Item = &'a AtomicU32;
    type IntoIter = std::iter::Map<std::slice::Iter<'a, ReaderLine>, fn(&'a ReaderLine) -> &'a AtomicU32>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.reader_lines().iter().map(|line| &line.forward)
    }
}

fn is_free(ctl: &AtomicU64) -> bool {
    look(ctl).state() == State::Free
}
