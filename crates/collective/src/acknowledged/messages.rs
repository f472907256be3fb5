//! Edges that are rings of messages, one line or more for each event.
//!
//! The number at the head of a slot says that a message is there. Rings need no word for room: they hold a window of events
//! and the end, and a member that acknowledges an event has read it from all its neighbours.

use corecast_channel::Plain;

use super::lines::Slots;
use super::route::{Edge, Neighbours};
use super::wires::Wires;
use crate::membership::MemberTable;

/// One member's edges.
#[derive(Debug)]
pub(super) struct Messages {
    own: Neighbours,
    /// One ring for each edge of the broadcast.
    rings: Slots,
    /// The last message seen at each inlet.
    seen: Vec<u64>,
}

impl Messages {
    pub(super) fn new(own: Neighbours, rings: Slots) -> Self {
        let seen = vec![0; own.inlets.len()];
        Self { own, rings, seen }
    }

    /// The newest message of each of the first inlets.
    #[inline(always)]
    fn look(&mut self, inlets: usize) -> impl Iterator<Item = u64> + '_ {
        let rings = &self.rings;
        self.own.inlets[..inlets].iter().zip(&mut self.seen).map(|(edge, seen)| {
            while rings.head(edge.number, rings.index(*seen + 1)) == *seen + 1 {
                *seen += 1;
            }
            *seen
        })
    }
}

impl Wires for Messages {
    #[inline]
    fn newest(&mut self) -> u64 {
        self.look(self.own.carriers().len()).max().unwrap_or(0)
    }

    #[inline]
    fn complete(&mut self) -> u64 {
        self.look(self.own.inlets.len()).min().unwrap_or(u64::MAX)
    }

    #[inline]
    fn read<T: Plain>(&self, number: u64) -> T {
        let carriers = self.own.carriers().iter().zip(&self.seen);
        let (edge, _) = carriers.max_by_key(|(_, seen)| **seen).expect("a member that reads an event was brought one");
        self.rings.read(edge.number, self.rings.index(number))
    }

    #[inline]
    fn publish<T: Plain>(&mut self, first: u64, events: &[T], table: &MemberTable) {
        for (number, event) in (first..).zip(events) {
            self.own.early.iter().for_each(|edge| send(&self.rings, edge, number, Some(event)));
        }
        self.own.early.iter().for_each(|edge| table.wake_word(edge.peer).notify());
    }

    fn end<T: Plain>(&mut self, number: u64, table: &MemberTable) {
        self.own.early.iter().for_each(|edge| send::<T>(&self.rings, edge, number, None));
        self.own.early.iter().for_each(|edge| table.wake_word(edge.peer).notify());
    }

    #[inline]
    fn pass_on<T: Plain>(&mut self, is_late: bool, from: u64, to: u64, table: &MemberTable) {
        let edges = self.own.out(is_late);
        let carries = edges.iter().any(|edge| edge.carries);
        for number in from + 1..=to {
            let event: Option<T> = carries.then(|| self.read(number));
            edges.iter().for_each(|edge| send(&self.rings, edge, number, event.as_ref()));
        }
        edges.iter().for_each(|edge| table.wake_word(edge.peer).notify());
    }
}

#[inline]
fn send<T: Plain>(rings: &Slots, edge: &Edge, number: u64, event: Option<&T>) {
    let index = rings.index(number);
    if let (true, Some(event)) = (edge.carries, event) {
        rings.write(edge.number, index, event);
    }
    rings.set_head(edge.number, index, number);
}
