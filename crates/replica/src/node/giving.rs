//! Giving the state to nodes that join, and taking it.

use std::io::{self, BufReader, BufWriter};
use std::time::{Duration, Instant};

use corecast_base::region::GrowingFile;

use super::driver::Driver;
use super::gift::{GiftReader, GiftWriter};
use super::inner::Inner;
use crate::crash_point;
use crate::runtime::state_bytes::{self, GroupState, Restore};
use crate::segment::{Gift, NodeState};
use crate::shm::Shm;
use crate::{NodeId, StateMachine};

/// The state that a node has given last.
#[derive(Debug, Default)]
pub(super) struct Given {
    file: Option<GrowingFile>,
    /// Since when nobody asks for it.
    unasked: Option<Instant>,
    /// The number of gifts so far.
    count: u64,
    /// The last asking of each node that was answered.
    answered: std::collections::HashMap<NodeId, u32>,
}

impl Given {
    /// Closes the file when nobody has asked for it for a while: to give back 64 MiB takes 15 ms, for which the node that has
    /// read them would else wait, as its `Join` has to be ordered.
    fn forget(&mut self, is_asked: bool) {
        if is_asked || self.file.is_none() {
            self.unasked = None;
        } else if self.unasked.get_or_insert_with(Instant::now).elapsed() >= KEPT_FOR {
            self.file = None;
        }
    }
}

impl<S: StateMachine> Driver<S> {
    /// Answers nodes that ask this one for its state.
    pub(super) fn give(&mut self, inner: &Inner<S>) {
        let me = self.shm.me;
        let asks: Vec<_> =
            self.shm.peers.iter().filter_map(|peer| Some((peer.segment.node(), peer.segment.asks()?))).collect();
        let is_new = |&(node, (number, giver)): &(NodeId, (u32, NodeId))| {
            giver == me && self.given.answered.get(&node).is_none_or(|&last| last < number)
        };
        let new: Vec<_> = asks.iter().copied().filter(is_new).collect();
        if new.is_empty() {
            return self.given.forget(asks.iter().any(|(_, (_, giver))| *giver == me));
        }
        if self.write_gift(inner).is_ok() {
            self.given.answered.extend(new.iter().map(|&(node, (number, _))| (node, number)));
            new.iter().for_each(|&(node, _)| self.shm.peers.wake(node));
        }
    }

    fn write_gift(&mut self, inner: &Inner<S>) -> io::Result<()> {
        let file = GrowingFile::create().map_err(io::Error::other)?;
        let (at, number) = (file.announcement(), self.given.count + 1);
        self.given.count = number;
        let index = self.system.applied();
        let mut gift = Gift { number, index, bytes: Gift::OPEN, crc: 0, fd: at.fd, identity: at.identity };
        self.shm.writer.set_gift(&gift);
        crash_point::here("gift-begun");
        let written = self.write_state(inner, file);
        let (file, bytes, crc) = written.inspect_err(|_| self.shm.writer.set_gift(&Gift { bytes: 0, ..gift }))?;
        (gift.bytes, gift.crc) = (bytes, crc);
        crash_point::here("gift-filled");
        self.shm.writer.set_gift(&gift);
        self.given.file = Some(file);
        Ok(())
    }

    fn write_state(&self, inner: &Inner<S>, file: GrowingFile) -> io::Result<(GrowingFile, u64, u64)> {
        let mut to = BufWriter::with_capacity(BUFFER_BYTES, GiftWriter::new(file));
        let state = inner.state.read();
        state_bytes::write(&self.system, &state.machine, &mut to)?;
        drop(state);
        Ok(to.into_inner()?.finish())
    }
}

/// How long a file that nobody asks for is kept.
const KEPT_FOR: Duration = Duration::from_millis(100);

/// A buffer, for states that are written and read a few bytes at a time.
const BUFFER_BYTES: usize = 1 << 16;

/// A member that shows no sign of life for this long, and gives nothing, is passed over. The time doubles each time, as writing a
/// large state may take longer.
const SILENCE: Duration = Duration::from_millis(500);
const LONGEST_SILENCE: Duration = Duration::from_secs(8);

/// Takes the state from a living member, asking one after another. While the asking stands, users wait for this node: the caller
/// takes it back once others see that the node is about to join.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if nobody gave a state that can be read until then, or nobody has one any more.
pub(super) fn take<S>(
    shm: &mut Shm,
    until: Instant,
    asked: &mut u32,
    restore: Restore<'_, S>,
) -> io::Result<(GroupState, S)> {
    let (mut last, mut silence) = (io::Error::from(io::ErrorKind::TimedOut), SILENCE);
    while Instant::now() < until {
        shm.refresh_peers();
        if !shm.peers.has_source(shm.me) {
            break;
        }
        for giver in givers(shm) {
            match ask(shm, giver, (until, silence), asked, restore) {
                Ok(taken) => return Ok(taken),
                Err(error) => {
                    if error.kind() == io::ErrorKind::TimedOut {
                        silence = (silence * 2).min(LONGEST_SILENCE);
                    }
                    last = error;
                }
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    shm.writer.ask(*asked, None);
    Err(last)
}

/// Living members, those without a role first.
fn givers(shm: &Shm) -> Vec<NodeId> {
    let me = shm.me;
    let is_member = |node: NodeId| shm.segment(node).is_some_and(|one| one.state() == Some(NodeState::Member));
    let mut givers: Vec<_> = shm.peers.iter().map(|peer| peer.segment.node()).collect();
    givers.retain(|&node| node != me && is_member(node) && !shm.peers.is_dead(node));
    let leader = shm.control.configuration().node();
    givers.sort_by_key(|&node| Some(node) == leader);
    givers
}

/// Asks one member, and reads what it gives.
fn ask<S>(
    shm: &mut Shm,
    giver: NodeId,
    (until, silence): (Instant, Duration),
    asked: &mut u32,
    restore: Restore<'_, S>,
) -> io::Result<(GroupState, S)> {
    *asked += 1;
    let gift = await_gift(shm, giver, (until, silence), *asked)?;
    let reader = GiftReader::open(shm, (giver, &gift), (until, silence))?;
    let mut reader = BufReader::with_capacity(BUFFER_BYTES, reader);
    let taken = state_bytes::read(&mut reader, restore)?;
    reader.into_inner().finish()?;
    Ok(taken)
}

/// Asks a member for its state, and waits until it says where that lies, or is about to.
fn await_gift(shm: &mut Shm, giver: NodeId, (until, silence): (Instant, Duration), number: u32) -> io::Result<Gift> {
    let before = shm.segment(giver).and_then(|one| one.gift()).map_or(0, |gift| gift.number);
    shm.writer.ask(number, Some(giver));
    shm.peers.wake(giver);
    let mut sign = (None, Instant::now());
    loop {
        let found = shm.segment(giver).and_then(|one| one.gift()).filter(|gift| gift.number > before);
        if let Some(gift) = found {
            return Ok(gift);
        }
        let beat = shm.segment(giver).map(|one| one.beat());
        if beat != sign.0 {
            sign = (beat, Instant::now());
        }
        let is_stuck = sign.1.elapsed() >= silence;
        if Instant::now() >= until || is_stuck || shm.peers.is_dead(giver) {
            return Err(io::ErrorKind::TimedOut.into());
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}
