//! Edges that are counts: each member's line counts the events it has passed on, and its successors look there.
//!
//! The events lie in one ring of slots, which only the root writes and all read. So a member passes on any number of events
//! with one store, and copies nothing.

use corecast_channel::Plain;

use super::lines::{Lines, Slots};
use super::route::{Edge, Neighbours};
use super::wires::Wires;
use crate::membership::MemberTable;

/// One member's edges.
#[derive(Debug)]
pub(super) struct Counters {
    pub(super) rank: usize,
    pub(super) own: Neighbours,
    pub(super) lines: Lines,
    /// The root's ring.
    pub(super) events: Slots,
}

impl Counters {
    #[inline(always)]
    fn counts<'a>(&'a self, inlets: &'a [Edge]) -> impl Iterator<Item = u64> + 'a {
        inlets.iter().map(|edge| self.lines.at(Lines::of(edge.peer, edge.is_late)))
    }
}

impl Wires for Counters {
    #[inline]
    fn newest(&mut self) -> u64 {
        self.counts(self.own.carriers()).max().unwrap_or(0)
    }

    #[inline]
    fn complete(&mut self) -> u64 {
        self.counts(&self.own.inlets).min().unwrap_or(u64::MAX)
    }

    #[inline]
    fn read<T: Plain>(&self, number: u64) -> T {
        self.events.read(0, self.events.index(number))
    }

    #[inline]
    fn publish<T: Plain>(&mut self, first: u64, events: &[T], table: &MemberTable) {
        let last = first + events.len() as u64 - 1;
        for (number, event) in (first..).zip(events) {
            self.events.write(0, self.events.index(number), event);
        }
        self.pass_on::<T>(false, first - 1, last, table);
    }

    fn end<T: Plain>(&mut self, number: u64, table: &MemberTable) {
        self.pass_on::<T>(false, number - 1, number, table);
    }

    #[inline]
    fn pass_on<T: Plain>(&mut self, is_late: bool, _from: u64, to: u64, table: &MemberTable) {
        let edges = self.own.out(is_late);
        if !edges.is_empty() {
            self.lines.raise(Lines::of(self.rank, is_late), to);
            edges.iter().for_each(|edge| table.wake_word(edge.peer).notify());
        }
    }
}
