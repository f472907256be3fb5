//! A multicast channel as an observer sees it.

use std::mem::offset_of;
use std::time::Duration;

use super::region::{LINES, Offsets, TAIL, decode};
use crate::mcast::line::{Ctl, Hold, ReaderLine, SenderLine, State};
use crate::mcast::owners::Owners;
use crate::open::OpenChannelError;
use crate::policy::Policy;
use crate::view::{ChannelView, ChannelWords, EndState, EndView, ReceiverView, Unit};

/// Looks at the channel.
///
/// # Errors
/// [`OpenChannelError`] if it is damaged, or this process is a forked child.
pub(crate) fn inspect(words: &ChannelWords<'_>) -> Result<ChannelView, OpenChannelError> {
    let config = decode(words.entry.config);
    let config = config.ok_or_else(|| words.damaged("no channel has its sizes".to_owned()))?;
    let readers_at = Offsets::of(&config).readers;
    let ctl = |at| words.word(at).map(Ctl);
    let mut senders = Vec::new();
    for at in (LINES..readers_at).step_by(size_of::<SenderLine>()) {
        let ctl = ctl(at + offset_of!(SenderLine, ctl))?;
        if ctl.state() != State::Free {
            senders.push(EndView { participant: Owners::participant(ctl.owner()), state: EndState::Open });
        }
    }
    let mut receivers = Vec::new();
    for at in (readers_at..).step_by(size_of::<ReaderLine>()).take(config.readers) {
        let ctl = ctl(at + offset_of!(ReaderLine, ctl))?;
        if ctl.state() != State::Free {
            let state = if ctl.state() == State::Lagged { EndState::GivenUp } else { EndState::Open };
            receivers.push(ReceiverView {
                end: EndView { participant: Owners::participant(ctl.owner()), state },
                policy: policy(ctl.hold(), words.word(at + offset_of!(ReaderLine, deadline_ns))?),
                cursor: Some(words.word(at + offset_of!(ReaderLine, cursor))?),
                behind: None,
            });
        }
    }
    // The tail is read after the cursors, so that none is beyond it.
    let sent = words.word(TAIL)?;
    for receiver in &mut receivers {
        receiver.behind = receiver.cursor.and_then(|cursor| sent.checked_sub(cursor));
    }
    let slots = config.slots as u64;
    Ok(ChannelView { kind: "mcast", unit: Unit::Messages, slots, sent: Some(sent), senders, receivers })
}

fn policy(hold: Hold, deadline_ns: u64) -> Policy {
    match hold {
        Hold::Always => Policy::Reliable,
        Hold::UntilDeadline => Policy::Deadline(Duration::from_nanos(deadline_ns)),
        Hold::Never => Policy::Lossy,
    }
}
