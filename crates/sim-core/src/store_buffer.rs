//! The stores of a CPU that wait for their lines. They reach memory in their order, and their lines are asked for one after the
//! other without waiting for the one before.

use std::collections::VecDeque;
use std::ops::Range;

use crate::costs::Ticks;
use crate::word::Word;

/// A store under way.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending {
    /// Where, and the value; `None` if the bytes are written already, and only the line is to be had.
    pub(crate) value: Option<(Word, u64)>,
    pub(crate) line: usize,
    /// The time at which it was made: its line is not asked for before.
    pub(crate) made: Ticks,
    /// It takes effect at this time at the earliest, when all accesses before it are complete.
    pub(crate) ready: Ticks,
    pub(crate) stage: Stage,
}

impl Pending {
    /// The address that it writes; `None` where only the line is to be had.
    pub(crate) fn address(&self) -> Option<usize> {
        self.value.map(|(word, _)| word.address())
    }
}

/// How far a store has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Its line has not been asked for.
    New,
    /// Its line has been asked for.
    Asked,
    /// Its line has come, or comes until this time. It may be lost again before the stores in front are done.
    Come(Ticks),
}

/// The stores of a CPU, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct StoreBuffer {
    stores: VecDeque<Pending>,
    /// The number of the oldest one.
    first: u64,
    /// The time of the next request, if it is announced.
    pub(crate) announced: Option<Ticks>,
    /// The last time for which it is announced that the oldest store takes effect.
    pub(crate) finishes: Ticks,
    /// The time from which the next request may be made.
    pub(crate) next_request: Ticks,
    /// The time at which the last store that is done had its line.
    pub(crate) done: Ticks,
}

impl StoreBuffer {
    pub(crate) fn len(&self) -> usize {
        self.stores.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    pub(crate) fn push(&mut self, store: Pending) {
        self.stores.push_back(store);
    }

    /// The store with this number, unless it is done.
    pub(crate) fn get_mut(&mut self, number: u64) -> Option<&mut Pending> {
        self.stores.get_mut(usize::try_from(number.checked_sub(self.first)?).ok()?)
    }

    /// The oldest store whose line has not been asked for, with its number.
    pub(crate) fn next_new(&self) -> Option<(u64, &Pending)> {
        let place = self.stores.iter().position(|store| store.stage == Stage::New)?;
        Some((self.first + place as u64, &self.stores[place]))
    }

    /// The oldest store, with its number.
    pub(crate) fn head(&self) -> Option<(u64, Pending)> {
        self.stores.front().map(|&store| (self.first, store))
    }

    pub(crate) fn pop(&mut self) {
        self.stores.pop_front();
        self.first += 1;
    }

    /// Forgets all stores.
    pub(crate) fn clear(&mut self) {
        self.first += self.stores.len() as u64;
        self.stores.clear();
    }

    /// Writes the values of stores to these bytes, of which only the lines are still to be had.
    pub(crate) fn finish_in(&mut self, bytes: Range<usize>) {
        for store in &mut self.stores {
            if let Some((word, value)) = store.value.take_if(|(word, _)| bytes.contains(&word.address())) {
                word.write(value);
            }
        }
    }

    /// Writes the values of stores that were made until this time, of which only the lines are still to be had. Threads may have
    /// run ahead, and made others since.
    pub(crate) fn finish_until(&mut self, time: Ticks) {
        for store in self.stores.iter_mut().filter(|store| store.made <= time) {
            if let Some((word, value)) = store.value.take() {
                word.write(value);
            }
        }
    }

    /// The value that a load of this word finds here. `Err` if a store of other bytes overlaps it.
    pub(crate) fn forwarded(&self, word: Word) -> Result<Option<u64>, Overlap> {
        for store in self.stores.iter().rev() {
            match store.value {
                Some((written, value)) if written == word => return Ok(Some(value)),
                Some((written, _)) if written.overlaps(word) => return Err(Overlap),
                _ => {}
            }
        }
        Ok(None)
    }
}

/// Bytes of a load that lie in part in a store that waits.
#[derive(Debug)]
pub(crate) struct Overlap;
