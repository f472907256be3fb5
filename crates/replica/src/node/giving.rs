//! Giving the state to nodes that join, and taking it.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use corecast_base::PlaceSlice;
use corecast_base::region::{Announcement, SealedMemory, SealedReader, SealedWords};
use corecast_base::sync::{AtomicU64, Ordering};

use super::driver::Driver;
use super::inner::Inner;
use crate::crash_point;
use crate::runtime::state_bytes::{self, GroupState, Restore};
use crate::segment::{Gift, NodeState};
use crate::shm::Shm;
use crate::{NodeId, StateMachine};

/// The state that a node has given last.
#[derive(Debug, Default)]
pub(super) struct Given {
    gift: Option<(Gift, SealedMemory)>,
    /// The number of gifts so far.
    count: u64,
    /// The last asking of each node that was answered.
    answered: std::collections::HashMap<NodeId, u32>,
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
            if asks.iter().all(|(_, (_, giver))| *giver != me) {
                self.given.gift = None;
            }
            return;
        }
        if self.write_gift(inner).is_ok() {
            self.given.answered.extend(new.iter().map(|&(node, (number, _))| (node, number)));
            new.iter().for_each(|&(node, _)| self.shm.peers.wake(node));
        }
    }

    fn write_gift(&mut self, inner: &Inner<S>) -> io::Result<()> {
        let state = inner.state.read();
        let mut bytes = Vec::new();
        state_bytes::write(&self.system, &state.machine, &mut bytes)?;
        drop(state);
        let memory = SealedMemory::create(bytes.len().max(8)).map_err(io::Error::other)?;
        let crc = fill(&memory.words().map_err(io::Error::other)?, &bytes);
        let at = memory.announcement();
        let number = self.given.count + 1;
        self.given.count = number;
        let (index, bytes) = (self.system.applied(), bytes.len() as u64);
        let gift = Gift { number, index, bytes, crc, fd: at.fd, identity: at.identity };
        crash_point::here("gift-filled");
        self.shm.writer.set_gift(&gift);
        self.given.gift = Some((gift, memory));
        Ok(())
    }
}

/// Writes bytes into words, and returns their checksum.
fn fill(words: &PlaceSlice<AtomicU64>, bytes: &[u8]) -> u64 {
    let mut sum = Sum::default();
    for (word, chunk) in words.iter().zip(bytes.chunks(8)) {
        let mut padded = [0; 8];
        padded[..chunk.len()].copy_from_slice(chunk);
        let value = u64::from_le_bytes(padded);
        sum.add(value);
        // ORDERING: Relaxed, released by the record that names the memory
        word.store(value, Ordering::Relaxed);
    }
    sum.0
}

/// A checksum of words.
#[derive(Debug, Default)]
struct Sum(u64);

impl Sum {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// Reads the bytes of a gift.
struct GiftReader {
    words: SealedWords,
    at: u64,
    len: u64,
    sum: Sum,
}

impl Read for GiftReader {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < to.len() && self.at < self.len {
            let word = self.words.load((self.at / 8) as usize);
            if self.at % 8 == 0 {
                self.sum.add(word);
            }
            let from = (self.at % 8) as usize;
            let room = (8 - from).min(to.len() - count).min((self.len - self.at) as usize);
            to[count..count + room].copy_from_slice(&word.to_le_bytes()[from..from + room]);
            count += room;
            self.at += room as u64;
        }
        Ok(count)
    }
}

/// A member that shows no sign of life for this long, and gives nothing, is passed over. The time doubles each time, as writing a
/// large state may take longer.
const SILENCE: Duration = Duration::from_millis(500);
const LONGEST_SILENCE: Duration = Duration::from_secs(8);

/// Takes the state from a living member, asking one after another. While the asking stands, users wait for this node: the caller
/// takes it back once others see that the node is about to join.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] if nobody gave a state that can be read until then.
pub(super) fn take<S>(
    shm: &mut Shm,
    until: Instant,
    asked: &mut u32,
    restore: Restore<'_, S>,
) -> io::Result<(GroupState, S)> {
    let (mut last, mut silence) = (io::Error::from(io::ErrorKind::TimedOut), SILENCE);
    while Instant::now() < until {
        shm.refresh_peers();
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
    let pid = shm.peers.get(giver).map_or(0, |peer| peer.record.pid);
    let memory = SealedReader::open_announced(Announcement { pid, fd: gift.fd, identity: gift.identity });
    let words = memory.map_err(io::Error::other)?.words().map_err(io::Error::other)?;
    if gift.bytes.div_ceil(8) > words.len() as u64 {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a state that is longer than its memory"));
    }
    let mut reader = GiftReader { words, at: 0, len: gift.bytes, sum: Sum::default() };
    let taken = state_bytes::read(&mut reader, restore)?;
    io::copy(&mut reader, &mut io::sink())?;
    if reader.sum.0 != gift.crc {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a state that was damaged"));
    }
    Ok(taken)
}

/// Asks a member for its state, and waits until it says where that lies.
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
