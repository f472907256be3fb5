//! Wires: they carry events from member to member in the order of their numbers.
//!
//! Lines that count and rings of messages tell the same two things: the newest event that some neighbour has brought, and
//! the newest that all of them have brought. A slot is written anew only after all members have acknowledged the event in
//! it. The window ensures this; nothing else guards it.

use corecast_channel::Plain;

use crate::membership::MemberTable;

/// One member's edges.
pub(super) trait Wires {
    /// The newest event that a neighbour has brought; 0 for none.
    fn newest(&mut self) -> u64;

    /// The newest event that all neighbours have brought, or told of; any if there are no neighbours.
    fn complete(&mut self) -> u64;

    /// An event that a neighbour has brought and this member has not passed on late.
    fn read<T: Plain>(&self, number: u64) -> T;

    /// Publishes events with numbers from `first` on; for the root.
    fn publish<T: Plain>(&mut self, first: u64, events: &[T], table: &MemberTable);

    /// Publishes the end, which takes this number and carries nothing; for the root.
    fn end<T: Plain>(&mut self, number: u64, table: &MemberTable);

    /// Passes the events after `from` up to `to` on along the early edges, or the late ones.
    fn pass_on<T: Plain>(&mut self, is_late: bool, from: u64, to: u64, table: &MemberTable);
}
