//! A ring of bytes as an observer sees it.

use std::mem::offset_of;

use corecast_base::LINE_BYTES;

use super::region::{SLOTS_AT, read_ring};
use crate::open::OpenChannelError;
use crate::policy::Policy;
use crate::slots::slots_for;
use crate::ump::Credit;
use crate::ump::header::{Header, Kind};
use crate::ump::shared::{Control, RECEIVER_GONE, SENDER_GONE};
use crate::view::{ChannelView, ChannelWords, ReceiverView, Unit};

/// The number of further looks while the receiver overtakes.
const TRIES: usize = 8;

/// Looks at the channel.
///
/// # Errors
/// [`OpenChannelError`] if it is damaged, or this process is a forked child.
pub(crate) fn inspect(words: &ChannelWords<'_>) -> Result<ChannelView, OpenChannelError> {
    let ring = read_ring(words.entry);
    let (slots, credit) = ring.ok_or_else(|| words.damaged("its configuration is none of ump".to_owned()))?;
    let ring = Ring { words, slots: slots as u64 };
    let (cursor, sent) = match credit {
        Credit::AckLine => ring.acknowledged()?,
        Credit::SlotClear => ring.cleared()?,
    };
    let gone = offset_of!(Control, gone);
    let sender = words.end(offset_of!(Control, sender), gone, SENDER_GONE)?;
    let receiver = words.end(offset_of!(Control, receiver), gone, RECEIVER_GONE)?;
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
    words: &'a ChannelWords<'a>,
    slots: u64,
}

impl Ring<'_> {
    fn header(&self, n: u64) -> Result<Header, OpenChannelError> {
        let index = (n & (self.slots - 1)) as usize;
        Ok(Header::from_word(self.words.word(SLOTS_AT + index * LINE_BYTES)?))
    }

    /// The acknowledged slots.
    fn ack(&self) -> Result<u64, OpenChannelError> {
        let ack = self.words.word(offset_of!(Control, ack))?;
        // More than can have been sent; also, nothing below overflows.
        if ack > u64::MAX / 2 {
            Err(self.words.damaged("more was received than can be sent".to_owned()))
        } else {
            Ok(ack)
        }
    }

    /// The positions of receiver and sender: follows the messages from the last acknowledged one on, as the receiver does.
    fn acknowledged(&self) -> Result<(u64, u64), OpenChannelError> {
        let mut ack = self.ack()?;
        let mut sent = ack;
        for _ in 0..TRIES {
            sent = self.follow(sent.max(ack))?;
            let now = self.ack()?;
            if now <= sent {
                return Ok((now, sent));
            }
            // The messages that were followed may have been written over meanwhile.
            ack = now;
        }
        Ok((ack, ack))
    }

    fn follow(&self, from: u64) -> Result<u64, OpenChannelError> {
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

    /// The same where every message takes one slot, which shows its last message also when that was read.
    fn cleared(&self) -> Result<(u64, u64), OpenChannelError> {
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
