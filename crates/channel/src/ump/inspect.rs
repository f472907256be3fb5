//! A ring of bytes as somebody sees it who only looks.

use std::mem::offset_of;

use corecast_base::LINE_BYTES;

use super::Credit;
use super::header::{Header, Kind};
use super::region::{SLOTS_AT, read_ring};
use super::shared::{Control, RECEIVER_GONE, SENDER_GONE};
use crate::inspect::{ChannelView, Look, ReceiverView, Unit};
use crate::mcast::Policy;
use crate::open::OpenError;
use crate::slots::slots_for;

/// How often to go on while the receiver overtakes.
const TRIES: usize = 8;

/// Looks at it.
///
/// # Errors
/// [`OpenError`] if it is damaged, or this process is a forked child.
pub(crate) fn inspect(look: &Look<'_>) -> Result<ChannelView, OpenError> {
    let ring = read_ring(look.entry);
    let (slots, credit) = ring.ok_or_else(|| look.damaged("its configuration is none of ump".to_owned()))?;
    let ring = Ring { look, slots: slots as u64 };
    let (cursor, sent) = match credit {
        Credit::AckLine => ring.acknowledged()?,
        Credit::SlotClear => ring.cleared()?,
    };
    let gone = offset_of!(Control, gone);
    let sender = look.end(offset_of!(Control, sender), gone, SENDER_GONE)?;
    let receiver = look.end(offset_of!(Control, receiver), gone, RECEIVER_GONE)?;
    let receiver = receiver.map(|end| ReceiverView {
        end,
        policy: Policy::Reliable,
        cursor: Some(cursor),
        behind: sent.checked_sub(cursor),
    });
    Ok(ChannelView {
        kind: "ump",
        unit: Unit::Slots,
        slots: ring.slots,
        sent: Some(sent),
        senders: Vec::from_iter(sender),
        receivers: Vec::from_iter(receiver),
    })
}

struct Ring<'a> {
    look: &'a Look<'a>,
    slots: u64,
}

impl Ring<'_> {
    fn header(&self, n: u64) -> Result<Header, OpenError> {
        let index = (n & (self.slots - 1)) as usize;
        Ok(Header::from_word(self.look.word(SLOTS_AT + index * LINE_BYTES)?))
    }

    /// What the receiver has acknowledged.
    fn ack(&self) -> Result<u64, OpenError> {
        let ack = self.look.word(offset_of!(Control, ack))?;
        // Beyond what can have been sent; also, nothing below overflows.
        if ack > u64::MAX / 2 {
            Err(self.look.damaged("more was received than can be sent".to_owned()))
        } else {
            Ok(ack)
        }
    }

    /// How far receiver and sender are: follows the messages from the last acknowledged one on, as the receiver does.
    fn acknowledged(&self) -> Result<(u64, u64), OpenError> {
        let mut ack = self.ack()?;
        let mut sent = ack;
        for _ in 0..TRIES {
            sent = self.follow(sent.max(ack))?;
            let now = self.ack()?;
            if now <= sent {
                return Ok((now, sent));
            }
            // What was followed may have been written over meanwhile.
            ack = now;
        }
        Ok((ack, ack))
    }

    fn follow(&self, from: u64) -> Result<u64, OpenError> {
        let mut next = from;
        loop {
            let header = self.header(next)?;
            let step = if header.kind() == Kind::PAD { header.len() } else { slots_for(header.len()) } as u64;
            if !header.is_at(next) || step == 0 || next + step > from + self.slots {
                return Ok(next);
            }
            next += step;
        }
    }

    /// The same where every message takes one slot, which tells its last message also when that was read.
    fn cleared(&self) -> Result<(u64, u64), OpenError> {
        let ack = self.ack()?;
        let (mut cursor, mut sent) = (ack, ack);
        // The receiver may have read some slots more than it acknowledged, and the sender be ahead of it by a lap.
        for next in ack..ack + 2 * self.slots {
            let header = self.header(next)?;
            if header.is_at(next) {
                sent = next + 1;
                cursor = if header.is_cleared() { sent } else { cursor };
            }
        }
        Ok((cursor, sent))
    }
}
