//! A word channel as an observer sees it.

use std::mem::offset_of;

use super::cells::{Control, RECEIVER_GONE, SENDER_GONE};
use super::region::{CELLS_AT, read_config};
use crate::open::OpenChannelError;
use crate::policy::Policy;
use crate::view::{ChannelView, ChannelWords, ReceiverView, Unit};

/// Looks at the channel. The ends do not write down how far they are; the words in the cells are those that the receiver is
/// behind.
///
/// # Errors
/// [`OpenChannelError`] if it is damaged, or this process is a forked child.
pub(crate) fn inspect(words: &ChannelWords<'_>) -> Result<ChannelView, OpenChannelError> {
    let config = read_config(words.entry);
    let (cells, ..) = config.ok_or_else(|| words.damaged("its configuration is none of ff".to_owned()))?;
    let gone = offset_of!(Control, gone);
    let sender = words.end(offset_of!(Control, sender), gone, SENDER_GONE)?;
    let receiver = words.end(offset_of!(Control, receiver), gone, RECEIVER_GONE)?;
    let mut behind = 0;
    for cell in 0..cells {
        behind += u64::from(words.word(CELLS_AT + cell * size_of::<u64>())? != 0);
    }
    let receiver =
        receiver.map(|end| ReceiverView { end, policy: Policy::Reliable, cursor: None, behind: Some(behind) });
    Ok(ChannelView {
        kind: "ff",
        unit: Unit::Words,
        slots: cells as u64,
        sent: None,
        senders: Vec::from_iter(sender),
        receivers: Vec::from_iter(receiver),
    })
}
