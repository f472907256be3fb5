//! The outcome of a run.

use crate::costs::Ticks;
use crate::trace::Trace;

/// The outcome of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The time at which the last thread ended.
    pub end: Ticks,
    /// Of each CPU, the time at which the last thread that was on it in the end has ended; 0 without one.
    pub ends: Vec<Ticks>,
    /// The accesses.
    pub counts: Counts,
    /// The number of times that a CPU went from one thread to another.
    pub switches: u64,
    /// The number of times that a thread came to another CPU than the one that it had been on.
    pub moves: u64,
    /// The number of times that a thread was taken off its CPU at an access, for no time or longer.
    pub stops: u64,
    /// The time of these stops together.
    pub stopped: Ticks,
    /// Of each thread, the accesses by whose numbers stops are planned: those that it began.
    pub begun: Vec<u64>,
    /// The threads that were killed.
    pub killed: Vec<usize>,
    /// The trace, if a thread asked for one.
    pub trace: Option<Trace>,
}

/// The accesses of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Loads, stores and read-modify-writes. Rounds of polling loops that were slept through are not among them.
    pub accesses: u64,
    /// Lines that came from another CPU or from a home that has copies elsewhere, by distance.
    pub transfers: Vec<u64>,
    /// Lines that came from memory.
    pub from_memory: u64,
}

impl Counts {
    /// Lines that came from other CPUs for each of this number of events, by distance.
    #[must_use]
    pub fn transfers_each(&self, events: u64) -> Vec<f64> {
        self.transfers.iter().map(|&number| number as f64 / events as f64).collect()
    }

    pub(crate) fn transfer(&mut self, distance: usize, is_from_memory: bool) {
        if is_from_memory {
            self.from_memory += 1;
            return;
        }
        if self.transfers.len() <= distance {
            self.transfers.resize(distance + 1, 0);
        }
        self.transfers[distance] += 1;
    }
}
