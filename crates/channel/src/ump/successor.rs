//! The way in which a new sender finds where a dead one stopped.
//!
//! The published messages of the dead sender stand in the headers; the message that it was writing when it died is
//! invisible and is written over. A sender relies on nothing that the dead one kept to itself.

use corecast_base::sync::Ordering;

use super::Credit;
use super::header::{Header, Kind};
use super::send_end::{SendEnd, SendPosition};
use super::shared::Shared;
use crate::slots::slots_for;

impl SendEnd {
    /// The sender that goes on where a dead one stopped. A ring has one at a time.
    ///
    /// # Errors
    /// The damage of the ring, in words.
    pub(super) fn succeed(shared: Shared) -> Result<Self, &'static str> {
        // ORDERING: Acquire, pairs with the Release in RecvPosition::acknowledge [ack]
        let acked = shared.control.ack.load(Ordering::Acquire);
        if acked > u64::MAX / 2 {
            return Err("more slots are acknowledged than can have been sent");
        }
        let head = match shared.credit {
            Credit::AckLine => behind_last_message(&shared, acked)?,
            Credit::SlotClear => behind_last_slot(&shared, acked)?,
        };
        // Bytes of an unpublished message may lie where a header is looked for; messages of one slot leave none there.
        let covers_headers = shared.credit == Credit::AckLine;
        Ok(Self { position: SendPosition { head, room_end: head, covers_headers }, shared })
    }
}

/// Follows the messages from the last acknowledged one on, as the receiver does.
fn behind_last_message(shared: &Shared, acked: u64) -> Result<u64, &'static str> {
    let slots = shared.slots.slots() as u64;
    let mut next = acked;
    loop {
        // ORDERING: Acquire, pairs with the Releases in SendPosition::publish and publish_batch [slot-full]
        let header = Header::from_word(shared.slots.header(next).load(Ordering::Acquire));
        if !header.is_at(next) {
            return Ok(next);
        }
        let step = if header.kind() == Kind::PAD { header.len() } else { slots_for(header.len()) } as u64;
        next += step;
        if step == 0 || next - acked > slots {
            return Err("its messages do not fit into the ring");
        }
    }
}

/// Follows the messages from the last acknowledged one on. Every slot shows the last message that it held, also when that
/// was read, and slots that were acknowledged late may have been written over one lap on. A batch may have written messages
/// behind its unpublished first one; they are erased, as the receiver would take them for sent.
fn behind_last_slot(shared: &Shared, acked: u64) -> Result<u64, &'static str> {
    let slots = shared.slots.slots() as u64;
    let last_in = |n: u64| {
        // ORDERING: Acquire, pairs with the Releases in SendPosition::publish and RecvPosition::advance [slot-full] [clear]
        Header::from_word(shared.slots.header(n).load(Ordering::Acquire))
    };
    let was_sent = |&n: &u64| last_in(n).is_at(n) || last_in(n).is_at(n + slots);
    let head = acked + (acked..=acked + 2 * slots).take_while(was_sent).count() as u64;
    if head - acked > 2 * slots {
        return Err("its messages do not fit into the ring");
    }
    for n in (head + 1..head + slots).filter(|&n| last_in(n).is_at(n)) {
        // ORDERING: Relaxed, made visible by the message before, which is published behind it
        shared.slots.header(n).store(Header::cleared(n.wrapping_sub(slots)).word(), Ordering::Relaxed);
    }
    Ok(head)
}
