//! A word channel in a region, for threads or processes.
//!
//! | offset | content of the channel's section; each line as [`Control`] says |
//! |---|---|
//! | 0 | the ends that are gone; flushed words; sender; receiver: 128 B each |
//! | 0x200 | the wake word of the receiver, the wake word of the sender: 128 B each |
//! | 0x300 | cells, 8 B each |
//!
//! The directory's configuration: cells; probe; the slip in ns and one (0: none); wait policy, wake cost, fences.

use std::mem::offset_of;
use std::time::Duration;

use corecast_base::region::{Entry, KIND_FF, SharedRegion};
use corecast_base::sync::{Arc, AtomicU64};
use corecast_base::wait::WakeCell;
use corecast_base::{CacheLine, LINE_BYTES};

use super::cells::{Control, RECEIVER_GONE, SENDER_GONE, Shared};
use super::recv_position::RecvPosition;
use super::send_position::SendPosition;
use super::{Config, LINE_CELLS, MAX_CELLS, MIN_CELLS, Probe, Receiver, Sender, Slip, cells};
use crate::open::{OpenChannelError, Spec, find};
use crate::peer::{Claim, Peer, claim};
use crate::waiting::Waiting;

const DATA_WAKE_AT: usize = size_of::<Control>();
const ROOM_WAKE_AT: usize = DATA_WAKE_AT + size_of::<CacheLine<WakeCell>>();
pub(super) const CELLS_AT: usize = ROOM_WAKE_AT + size_of::<CacheLine<WakeCell>>();

const SENDER: &str = "sender";
const RECEIVER: &str = "receiver";

/// The contents of a region that a word channel with this configuration needs.
///
/// # Panics
/// If it would have more than [`MAX_CELLS`] cells.
#[track_caller]
#[must_use]
pub fn spec(config: Config) -> Spec {
    let cells = cells(&config);
    let probe = u64::from(config.probe == Probe::Line);
    let slip = match config.slip {
        Slip::None => 0,
        Slip::Line(longest) => u64::try_from(longest.as_nanos()).unwrap_or(u64::MAX - 1) + 1,
    };
    let [wait, wake_cost, fences] = Waiting::new(config.wait, config.wake_cost).to_words();
    let config = [cells as u64, probe, slip, wait, wake_cost, fences];
    Spec { kind: KIND_FF, config, bytes: (CELLS_AT + cells / LINE_CELLS * LINE_BYTES) as u64 }
}

/// Opens the sending end of the channel with this name. A channel has one in its life: the cells do not show where a dead
/// sender stopped.
///
/// # Errors
/// [`OpenChannelError`].
pub fn sender(region: &SharedRegion, name: &str) -> Result<Sender, OpenChannelError> {
    let (shared, waiting, peer) = open(region, name, offset_of!(Control, receiver))?;
    let ends = [(SENDER_GONE, SENDER), (RECEIVER_GONE, RECEIVER)];
    take(region, &shared, &shared.control.sender, name, &ends)?;
    Ok(Sender { shared, position: SendPosition::default(), waiter: waiting.waiter(region), peer: Some(peer) })
}

/// Opens the receiving end of the channel with this name. A channel has one in its life.
///
/// # Errors
/// [`OpenChannelError`].
pub fn receiver(region: &SharedRegion, name: &str) -> Result<Receiver, OpenChannelError> {
    let (shared, waiting, peer) = open(region, name, offset_of!(Control, sender))?;
    take(region, &shared, &shared.control.receiver, name, &[(RECEIVER_GONE, RECEIVER)])?;
    Ok(Receiver { shared, position: RecvPosition::default(), waiter: waiting.waiter(region), peer: Some(peer) })
}

fn open(region: &SharedRegion, name: &str, peer_at: usize) -> Result<(Arc<Shared>, Waiting, Peer), OpenChannelError> {
    let entry = find(region, name, KIND_FF)?;
    let no_config =
        || OpenChannelError::Layout { name: name.to_owned(), why: "its configuration is none of ff".to_owned() };
    let (cells, probe, slip, waiting) = read_config(&entry).ok_or_else(no_config)?;
    let section = region.section(&entry);
    let in_section = OpenChannelError::section(name);
    let lines = section.slice(CELLS_AT, cells / LINE_CELLS).map_err(&in_section)?;
    let control = section.place(0).map_err(&in_section)?;
    let peer = Peer::new(region, section.place(peer_at).map_err(&in_section)?);
    let data_wake = waiting.wake_word(region, &section, DATA_WAKE_AT, name)?;
    let room_wake = waiting.wake_word(region, &section, ROOM_WAKE_AT, name)?;
    Ok((Arc::new(Shared { lines, control, slip, probe, data_wake, room_wake }), waiting, peer))
}

fn refuse_gone(shared: &Shared, ends: &[(u32, &'static str)], name: &str) -> Result<(), OpenChannelError> {
    match ends.iter().find(|&&(end, _)| shared.is_gone(end)) {
        Some(&(_, end)) => Err(OpenChannelError::Closed { name: name.to_owned(), end }),
        None => Ok(()),
    }
}

/// Claims the first of `needed` ends, which has no successor, unless one of them has left. A participant that leaves marks
/// its end before its slot is free, so the second look sees the goodbye of one whose slot was taken.
fn take(
    region: &SharedRegion,
    shared: &Shared,
    word: &AtomicU64,
    name: &str,
    needed: &[(u32, &'static str)],
) -> Result<(), OpenChannelError> {
    let end = needed[0].1;
    refuse_gone(shared, needed, name)?;
    let claim = claim(region, word, name, end)?;
    refuse_gone(shared, needed, name)?;
    match claim {
        Claim::First => Ok(()),
        Claim::Succession => Err(OpenChannelError::Died { name: name.to_owned(), end }),
    }
}

/// The configuration in the directory; `None` if no `spec` writes it.
pub(super) fn read_config(entry: &Entry) -> Option<(usize, Probe, Slip, Waiting)> {
    let [cells, probe, slip, waiting @ ..] = entry.config;
    let cells = usize::try_from(cells).ok()?;
    let probe = *[Probe::Cell, Probe::Line].get(usize::try_from(probe).ok()?)?;
    let slip = slip.checked_sub(1).map_or(Slip::None, |longest| Slip::Line(Duration::from_nanos(longest)));
    let is_channel = cells.is_power_of_two() && (MIN_CELLS..=MAX_CELLS).contains(&cells);
    is_channel.then_some((cells, probe, slip, Waiting::from_words(waiting)?))
}

const _: () = assert!(DATA_WAKE_AT == 0x200 && CELLS_AT == 0x300);
