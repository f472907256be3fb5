//! The participants of a region. Each has a record that only it writes, and a lock on the record that proves that it lives.
//!
//! | offset | fields of one of 256 B; written by the participant, the state also by the process that takes note of its death |
//! |---|---|
//! | 0x00 | ctl u64: state u32 {FREE 0, ACTIVE 1, LEFT 2, DEAD 3}, generation u32 (the number of participants that have had this slot) |
//! | 0x08 | pid u32, flags u32 {bit 0: no lock could be had}; start time u64; number of its parker u32 |
//! | 0x80 | affinity \[u8; 128\]: a bit for each CPU below 1,024 that it may run on; a hint, which it may write again at any time |
//!
//! A process that joins takes the region's lock, and then the lock of a record whose lock was free. ACTIVE without the lock
//! is evidence of a death. The generation tells a handle of a dead participant from one of its successor in the slot.

use std::fs::File;
use std::io;

use super::directory::halves;
use super::mapping::Mapping;
use super::places::{PARKER_BYTES, PARTICIPANTS_AT, RECORD_BYTES};
use super::{lock, process};
use crate::liveness::Liveness;
use crate::sync::Ordering;
use crate::wait::{AFFINITY_WORDS, Affinity};

const PID: usize = 0x08;
const FLAGS: usize = 0x0c;
const START: usize = 0x10;
const PARKER: usize = 0x18;
const AFFINITY: usize = 0x80;

const FREE: u32 = 0;
const ACTIVE: u32 = 1;
const LEFT: u32 = 2;
const DEAD: u32 = 3;

/// The participant has no lock of its own, so that its death cannot be proven.
const WITHOUT_LOCK: u32 = 1;

/// A participant of a region: its slot, and its generation among the participants that have had the slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParticipantId {
    /// The number of its slot, from 0.
    pub index: u32,
    /// The number of participants that have had the slot, this one included; from 1.
    pub generation: u32,
}

impl ParticipantId {
    /// The participant as a word other than 0, to be kept in shared memory.
    #[must_use]
    pub fn to_word(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index)
    }

    /// The participant that the word stands for; `None` for 0 and for words that stand for none. The index is not checked:
    /// the region does that.
    #[must_use]
    pub fn from_word(word: u64) -> Option<Self> {
        let (index, generation) = halves(word);
        (generation != 0).then_some(Self { index, generation })
    }
}

/// The record of a participant, and its state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Participant {
    /// Its id.
    pub id: ParticipantId,
    /// Whether it is alive.
    pub liveness: Liveness,
    /// The number of its process in its own namespace, as it says.
    pub pid: u32,
    /// The start time of that process, as it says, in clock ticks since boot.
    pub start_time: u64,
    /// The CPUs that it may run on, as it says; a bit each, from CPU 0.
    pub affinity: [u64; AFFINITY_WORDS],
}

/// The table of a region's participants.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    pub(super) mapping: &'a Mapping,
    pub(super) count: u32,
    /// The open file to ask for locks; `None` if the region has none, as it belongs to this process alone.
    pub(super) file: Option<&'a File>,
    /// True if no other process has this open file: otherwise it can take no lock of its own and see no lock of the other.
    pub(super) has_own_file: bool,
}

/// The offset of a record, in bytes; also the byte that its participant locks.
fn record(index: u32) -> usize {
    PARTICIPANTS_AT + index as usize * RECORD_BYTES
}

impl Table<'_> {
    fn ctl(&self, index: u32) -> (u32, u32) {
        // ORDERING: Acquire, pairs with the Release in set_ctl [participant]
        halves(self.mapping.word(record(index)).load(Ordering::Acquire))
    }

    fn set_ctl(&self, index: u32, state: u32, generation: u32) {
        let word = u64::from(state) | u64::from(generation) << 32;
        // ORDERING: Release, pairs with the Acquire in ctl [participant]
        self.mapping.word(record(index)).store(word, Ordering::Release);
    }

    /// Takes a slot, with the region's lock held; `None` if there is none. Slots that no participant has had come first,
    /// then those of participants that left, then those of the dead, so that handles of the dead say so for as long as
    /// possible.
    pub(super) fn join(&self) -> io::Result<Option<ParticipantId>> {
        for wanted in [FREE, LEFT, DEAD, ACTIVE] {
            for index in 0..self.count {
                let (state, generation) = self.ctl(index);
                // A state that a stranger invented counts as that of a dead participant.
                let state = if state > DEAD { ACTIVE } else { state };
                let is_free = state == wanted && (state != ACTIVE || !self.is_held(index)?);
                if !is_free || !self.take_lock(index)? {
                    continue;
                }
                let generation = generation.wrapping_add(1).max(1);
                self.write_own_record(index);
                self.set_ctl(index, ACTIVE, generation);
                return Ok(Some(ParticipantId { index, generation }));
            }
        }
        Ok(None)
    }

    /// True if the ACTIVE participant in this slot is alive or cannot be proven dead.
    fn is_held(&self, index: u32) -> io::Result<bool> {
        let Some(file) = self.file else { return Ok(false) };
        // ORDERING: Relaxed, written before the state
        let flags = self.mapping.half_word(record(index) + FLAGS).load(Ordering::Relaxed);
        let at = record(index) as u64;
        Ok(!self.has_own_file || flags & WITHOUT_LOCK != 0 || lock::is_locked_by_another(file, &(at..at + 1))?)
    }

    fn take_lock(&self, index: u32) -> io::Result<bool> {
        match self.file.filter(|_| self.has_own_file) {
            Some(file) => lock::try_lock(file, record(index) as u64),
            None => Ok(true),
        }
    }

    /// Writes the facts about this process that others may want to know.
    fn write_own_record(&self, index: u32) {
        let at = record(index);
        let flags = if self.has_own_file { 0 } else { WITHOUT_LOCK };
        // ORDERING: Relaxed, released by the state
        self.mapping.half_word(at + PID).store(std::process::id(), Ordering::Relaxed);
        // ORDERING: Relaxed, released by the state
        self.mapping.half_word(at + FLAGS).store(flags, Ordering::Relaxed);
        self.mapping.write(at + START, &[process::own_start_time().unwrap_or(0)]);
        // ORDERING: Relaxed, released by the state
        self.mapping.half_word(at + PARKER).store(index, Ordering::Relaxed);
        self.mapping.write(at + AFFINITY, &Affinity::of_this_thread().0);
    }

    /// Writes the CPUs on which this thread may run in the place of those of the thread that joined. Others may read at the same
    /// time, and nothing publishes the words: a reader may find a mask of which some words are of before. That is harmless, as
    /// the mask is a hint for how to wait, and a waiter looks at it again after a second.
    pub(super) fn renew_affinity(&self, me: ParticipantId) {
        self.mapping.write(record(me.index) + AFFINITY, &Affinity::of_this_thread().0);
    }

    /// Says goodbye, and frees the slot at once. Closing the file alone would not do that while a child is being forked or
    /// spawned.
    pub(super) fn leave(&self, me: ParticipantId) {
        self.set_ctl(me.index, LEFT, me.generation);
        if let Some(file) = self.file.filter(|_| self.has_own_file) {
            // Freeing a lock that we hold cannot fail; if it does, closing the file frees it.
            let _ = lock::unlock(file, record(me.index) as u64);
        }
    }

    /// Takes note of a death, with the region's lock held.
    pub(super) fn mark_dead(&self, dead: ParticipantId) {
        self.set_ctl(dead.index, DEAD, dead.generation);
    }

    /// Whether `who` is alive, as seen by `me`.
    pub(super) fn liveness(&self, who: ParticipantId, me: Option<ParticipantId>) -> Liveness {
        if Some(who) == me {
            return Liveness::Alive;
        }
        if who.index >= self.count {
            return Liveness::Dead;
        }
        match self.recorded(who) {
            Some(recorded) => recorded,
            // A question that fails is no evidence.
            None if self.is_held(who.index).unwrap_or(true) => Liveness::Alive,
            // It may have left between the look at its state and the look at its lock.
            None => self.recorded(who).unwrap_or(Liveness::Dead),
        }
    }

    /// The state by the record alone; `None` if the record says that the participant is there.
    fn recorded(&self, who: ParticipantId) -> Option<Liveness> {
        match self.ctl(who.index) {
            (ACTIVE, generation) if generation == who.generation => None,
            (LEFT, generation) if generation == who.generation => Some(Liveness::Left),
            _ => Some(Liveness::Dead),
        }
    }

    /// All participants that have not left, dead or alive.
    pub(super) fn present(&self) -> impl Iterator<Item = ParticipantId> + '_ {
        (0..self.count).filter_map(|index| self.present_at(index))
    }

    /// The participant in the slot with this number; `None` if it is free or does not exist.
    pub(super) fn present_at(&self, index: u32) -> Option<ParticipantId> {
        let (state, generation) = (index < self.count).then(|| self.ctl(index))?;
        (state == ACTIVE).then_some(ParticipantId { index, generation })
    }

    /// The record of a participant.
    pub(super) fn describe(&self, id: ParticipantId, me: Option<ParticipantId>) -> Participant {
        let at = record(id.index);
        let affinity = self.affinity(id).0;
        // ORDERING: Relaxed, written before the state, or by a stranger
        let pid = self.mapping.half_word(at + PID).load(Ordering::Relaxed);
        let start_time = self.mapping.copy(at + START, 1)[0];
        Participant { id, liveness: self.liveness(id, me), pid, start_time, affinity }
    }

    /// The CPUs on which `who` may run, as it said last.
    pub(super) fn affinity(&self, who: ParticipantId) -> Affinity {
        let words = self.mapping.copy(record(who.index) + AFFINITY, AFFINITY_WORDS);
        Affinity(words.try_into().expect("as many words as were asked for"))
    }
}

const _: () = assert!(PARKER_BYTES == 128 && RECORD_BYTES % 128 == 0);
