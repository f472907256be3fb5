//! The cleaning up after dead ends: lines without a holder, a claimed slot, a block between two owners, a tail that was not
//! moved.
//!
//! | dead end, and where it died | repair |
//! |---|---|
//! | one of several senders, before the claim | nothing was begun |
//! | the same, between claim and publication | its block is settled, the tail helped, the claim becomes SKIPPED |
//! | the only sender, before publication | no reader saw it; the next sender takes the same ticket |
//! | the only sender, between publication and tail | the tail is moved, else the next one would use the ticket again |
//! | a reader | its line is freed: it holds no sender back, and its pins are gone |
//!
//! In this order for a sender: the block, then the mark of the exchange in flight, the tail, the claim, the line. Every
//! step can be repeated if the participant that does it dies on the way. One participant at a time does it, and only on
//! evidence that the holder of a line is gone; a stopped one is not.

use corecast_base::sync::{AtomicU64, Ordering};

use super::line::{State, look};
use super::presence::{Presence, PresenceState};
use super::ring::{Ring, Slots};
use super::send_end::help;
use super::word::{Turn, Word};

/// Cleans up after all holders of lines that have died.
pub(super) fn reap<S: Slots>(ring: &Ring<S>) {
    let is_dead = |ctl: &AtomicU64| {
        let ctl = look(ctl);
        ctl.state() != State::Free && ring.owners.is_dead(ctl.owner())
    };
    let has_work = ring.senders.iter().any(|line| is_dead(&line.ctl))
        || ring.reader_lines().iter().any(|line| is_dead(&line.ctl))
        || is_out_of_date(&ring.occupancy.senders, ring.senders.iter().map(|line| &line.ctl))
        || is_out_of_date(&ring.occupancy.readers, ring.readers.iter().map(|line| &line.ctl));
    if !has_work {
        return;
    }
    ring.owners.exclusively(|| {
        for (sender, line) in ring.senders.iter().enumerate().filter(|(_, line)| is_dead(&line.ctl)) {
            settle_sender(ring, sender);
            ring.release_sender(&line.ctl, PresenceState::Died);
        }
        for line in ring.readers.iter().filter(|line| is_dead(&line.ctl)) {
            ring.release_reader(&line.ctl, PresenceState::Died);
        }
        // An end died after it gave its line back and before it said so.
        if is_out_of_date(&ring.occupancy.senders, ring.senders.iter().map(|line| &line.ctl)) {
            ring.say_sender_left(PresenceState::Died);
        }
        if is_out_of_date(&ring.occupancy.readers, ring.readers.iter().map(|line| &line.ctl)) {
            ring.say_reader_left(PresenceState::Died);
        }
    });
}

/// True if the word of a side says that an end is present although no line is held.
fn is_out_of_date<'a>(presence: &Presence, mut lines: impl Iterator<Item = &'a AtomicU64>) -> bool {
    presence.look() == PresenceState::Present && lines.all(|ctl| look(ctl).state() == State::Free)
}

fn settle_sender<S: Slots>(ring: &Ring<S>, sender: usize) {
    S::settle(ring, sender);
    if !ring.is_multi() {
        let tail = ring.tail();
        if ring.look_at(tail) == ring.laps.published(tail) {
            help(ring, tail);
        }
        return;
    }
    for index in 0..ring.config.slots {
        let word = ring.look_at(index as u64);
        if word.turn() == Turn::Claimed(sender as u8) {
            let ticket = ring.laps.ticket(word, index, ring.tail());
            help(ring, ticket);
            skip(ring.slots.word(index), word);
        }
    }
    // Readers wait for the ticket, and senders for its slot.
    ring.wake_readers();
    ring.room_wake.notify();
}

/// Lets readers pass over a ticket whose sender died.
fn skip(slot: &AtomicU64, claimed: Word) {
    // ORDERING: Release, pairs with the Acquire in Ring::look_at: the slot's block is settled; Relaxed on failure, as only
    // the dead sender could have changed it, before its death [slot-full]
    let _ = slot.compare_exchange(claimed.0, claimed.skipped().0, Ordering::Release, Ordering::Relaxed);
}
