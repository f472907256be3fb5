//! The state that a node begins with which joins later: a member gives it, in parts over the channels.
//!
//! The taker asks for a run of parts at a time, so that a large state neither fills the memory of the giver's channels
//! nor is in the way of its other messages for long, and asks again for what does not come. The giver keeps a copy as
//! long as it is asked.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use corecast_base::Clock;
use corecast_base::wait::Waiter;

use super::driver::Driver;
use super::inner::Inner;
use super::table::NodeTable;
use super::transport::Transport;
use super::wire::StateMessage;
use crate::crash_point;
use crate::crc32c::Crc32c;
use crate::error::OpenError;
use crate::runtime::GroupState;
use crate::runtime::state_bytes::{self, Restore};
use crate::{Index, NodeId, StateMachine};

/// The bytes of a part, and the parts of a run.
const PART: usize = 32 << 10;
const RUN: usize = 8;
/// A copy that nobody asked for during this time is dropped.
const KEPT: Duration = Duration::from_secs(10);
/// The time without a part after which a run is asked for once more; it doubles up to the longest.
const AGAIN: Duration = Duration::from_millis(50);
const LONGEST_AGAIN: Duration = Duration::from_millis(400);
/// A giver that shows no sign of life for this long is passed over. The time doubles each time, as writing a large state takes
/// longer.
const SILENCE: Duration = Duration::from_millis(500);
const LONGEST_SILENCE: Duration = Duration::from_secs(8);
/// The time between two signs of life of a node that takes a state.
const BEAT: Duration = Duration::from_millis(1);

/// The states that a node gives at the moment, by taker.
#[derive(Debug, Default)]
pub(super) struct Given(HashMap<NodeId, Copy>);

#[derive(Debug)]
struct Copy {
    number: u32,
    bytes: Vec<u8>,
    crc: u32,
    /// When a part was asked for last, in ticks.
    asked: u64,
}

impl Copy {
    /// The parts of the run that begins at this byte.
    fn run(&self, offset: usize) -> impl Iterator<Item = StateMessage> + '_ {
        let (len, crc, number) = (self.bytes.len() as u64, self.crc, self.number);
        let run = self.bytes.get(offset..).unwrap_or_default().chunks(PART).take(RUN).enumerate();
        run.map(move |(at, part)| {
            let offset = (offset + at * PART) as u64;
            StateMessage::Part { number, offset, len, crc, bytes: part.to_vec() }
        })
    }
}

impl Given {
    /// Drops the copies that nobody asks for any more.
    pub(super) fn expire(&mut self, now: u64) {
        if !self.0.is_empty() {
            self.0.retain(|_, copy| Clock::get().duration(now.saturating_sub(copy.asked)) < KEPT);
        }
    }
}

impl<S: StateMachine> Driver<S> {
    /// Answers a node that asks for the state of this one.
    pub(super) fn give(&mut self, inner: &Inner<S>, taker: NodeId, number: u32, offset: u64) {
        let is_known = self.joining.given.0.get(&taker).is_some_and(|copy| copy.number == number);
        if !is_known && offset > 0 {
            return;
        }
        let now = Clock::get().ticks();
        if !is_known {
            let Some(bytes) = self.state_as_bytes(inner) else {
                let none = StateMessage::Part { number, offset: 0, len: 0, crc: 0, bytes: Vec::new() };
                self.transport.send_state(taker, &none);
                return;
            };
            let crc = crc_of(&bytes);
            self.joining.given.0.insert(taker, Copy { number, bytes, crc, asked: now });
        }
        let Some(copy) = self.joining.given.0.get_mut(&taker) else { return };
        copy.asked = now;
        let offset = usize::try_from(offset).unwrap_or(usize::MAX);
        if offset >= copy.bytes.len() {
            // It has everything.
            self.joining.given.0.remove(&taker);
            return;
        }
        for part in copy.run(offset) {
            self.transport.send_state(taker, &part);
            crash_point::here("net-part-given");
        }
    }

    /// The state, if this node has one to give.
    fn state_as_bytes(&self, inner: &Inner<S>) -> Option<Vec<u8>> {
        if !self.is_member() || self.panicked_at.is_some() {
            return None;
        }
        let mut bytes = Vec::new();
        state_bytes::write(&self.system, &inner.state.read().machine, &mut bytes).ok()?;
        Some(bytes)
    }
}

fn crc_of(bytes: &[u8]) -> u32 {
    Crc32c::new().and(bytes).value()
}

/// A node that takes a state before it takes part.
pub(super) struct Taker<'a> {
    pub(super) me: NodeId,
    pub(super) transport: &'a mut Transport,
    pub(super) table: &'a NodeTable,
    pub(super) waiter: Waiter,
    /// True when it gives up.
    pub(super) is_over: &'a dyn Fn() -> bool,
    /// The number of times that it has asked anybody.
    asked: u32,
    /// The time without a sign of life after which a giver is passed over.
    silence: Duration,
}

/// The way an attempt ended without a state.
enum Failed {
    /// The giver has no state to give, is gone, or shows no sign of life.
    Silent,
    /// The bytes that came are no state.
    Damaged(io::Error),
}

impl<'a> Taker<'a> {
    pub(super) fn new(
        me: NodeId,
        transport: &'a mut Transport,
        table: &'a NodeTable,
        waiter: Waiter,
        is_over: &'a dyn Fn() -> bool,
    ) -> Self {
        Self { me, transport, table, waiter, is_over, asked: 0, silence: SILENCE }
    }

    /// Takes the state of a living node, asking one after another. The second part of the result is the giver.
    ///
    /// # Errors
    /// [`OpenError::Lost`] if nobody else lives, `NotTakenIn` without a limit's time left, `State` if no state could be read.
    pub(super) fn take<S>(&mut self, restore: Restore<'_, S>) -> Result<((GroupState, S), NodeId), OpenError> {
        let (clock, mut damaged) = (Clock::get(), None);
        let began = clock.ticks();
        loop {
            self.transport.refresh_peers();
            let givers = self.givers();
            if givers.is_empty() {
                return Err(OpenError::Lost);
            }
            for giver in givers {
                match self.take_from(giver, restore) {
                    Ok(taken) => return Ok((taken, giver)),
                    Err(Failed::Silent) => {}
                    Err(Failed::Damaged(error)) => damaged = Some(error),
                }
                if (self.is_over)() {
                    return Err(
                        damaged.map_or(OpenError::NotTakenIn(clock.duration(clock.ticks() - began)), OpenError::State)
                    );
                }
            }
            // Those that have none, as they are about to join themselves, say so at once.
            self.rest(BEAT);
        }
    }

    /// Waits for this long, whatever comes.
    pub(super) fn rest(&mut self, time: Duration) {
        let check = |waited: Duration| time.checked_sub(waited).filter(|left| !left.is_zero()).ok_or(());
        let _ = self.waiter.until(self.table.wake_word(usize::from(self.me.slot)), || None::<()>, check);
    }

    fn givers(&self) -> Vec<NodeId> {
        let others = (0..self.table.len()).filter_map(|slot| self.transport.peer(slot));
        others.filter(|&node| self.table.has_come(node) && !self.table.is_gone(node)).collect()
    }

    fn take_from<S>(&mut self, giver: NodeId, restore: Restore<'_, S>) -> Result<(GroupState, S), Failed> {
        self.asked += 1;
        let (bytes, crc) = self.bytes_from(giver)?;
        if bytes.is_empty() {
            return Err(Failed::Silent);
        }
        let damaged = |what: &str| Failed::Damaged(io::Error::new(io::ErrorKind::InvalidData, what.to_owned()));
        if crc_of(&bytes) != crc {
            return Err(damaged("a state that was damaged"));
        }
        let taken = state_bytes::read(&mut &bytes[..], restore).map_err(Failed::Damaged)?;
        // The giver's copy is not needed any more.
        self.ask(giver, bytes.len());
        Ok(taken)
    }

    fn ask(&mut self, giver: NodeId, offset: usize) {
        self.transport.send_state(giver, &StateMessage::Take { number: self.asked, offset: offset as u64 });
        self.transport.flush();
    }

    /// All parts of a giver's state, and their checksum.
    fn bytes_from(&mut self, giver: NodeId) -> Result<(Vec<u8>, u32), Failed> {
        let mut taken = Taken { number: self.asked, bytes: Vec::new(), total: None };
        let clock = Clock::get();
        let (mut again, mut sign) = (AGAIN, ((0, 0), clock.ticks()));
        self.ask(giver, 0);
        loop {
            let goal = taken.bytes.len() + RUN * PART;
            let has_moved = self.await_run(giver, &mut taken, goal, again);
            if let Some((_, crc)) = taken.total.filter(|&(len, _)| taken.bytes.len() as u64 == len) {
                return Ok((taken.bytes, crc));
            }
            again = if has_moved { AGAIN } else { (again * 2).min(LONGEST_AGAIN) };
            let found = (taken.bytes.len(), self.table.sign(usize::from(giver.slot)));
            if found != sign.0 {
                sign = (found, clock.ticks());
            }
            let is_silent = clock.duration(clock.ticks().saturating_sub(sign.1)) >= self.silence;
            if is_silent {
                self.silence = (self.silence * 2).min(LONGEST_SILENCE);
            }
            if is_silent || (self.is_over)() || self.table.is_gone(giver) {
                return Err(Failed::Silent);
            }
            self.ask(giver, taken.bytes.len());
        }
    }

    /// Takes parts until there are as many bytes as this, or all, or nothing has come for so long. True if something has come.
    fn await_run(&mut self, giver: NodeId, taken: &mut Taken, goal: usize, longest: Duration) -> bool {
        let before = taken.bytes.len();
        let Self { me, transport, table, waiter, .. } = self;
        let slot = usize::from(me.slot);
        let poll = || {
            let mut inputs = Vec::new();
            // The node asks again for what the protocol says here, once it has a state.
            transport.gather(Index::MAX, &mut inputs);
            let states = transport.take_states();
            states.into_iter().filter(|(from, _)| *from == giver).for_each(|(_, message)| taken.add(message));
            transport.flush();
            taken.has(goal).then_some(())
        };
        let check = |waited: Duration| {
            table.beat(slot, 0);
            longest.checked_sub(waited).filter(|left| !left.is_zero()).map(|left| left.min(BEAT)).ok_or(())
        };
        let _ = waiter.until(table.wake_word(slot), poll, check);
        taken.bytes.len() > before
    }
}

/// The parts of a state that have come.
struct Taken {
    number: u32,
    bytes: Vec<u8>,
    /// The length of all, and their checksum.
    total: Option<(u64, u32)>,
}

impl Taken {
    /// Adds a part, if it is the next one.
    fn add(&mut self, message: StateMessage) {
        let StateMessage::Part { number, offset, len, crc, bytes } = message else { return };
        let end = offset.saturating_add(bytes.len() as u64);
        if number == self.number && offset == self.bytes.len() as u64 && end <= len {
            self.total = Some((len, crc));
            self.bytes.extend_from_slice(&bytes);
        }
    }

    fn has(&self, goal: usize) -> bool {
        let all = self.total.and_then(|(len, _)| usize::try_from(len).ok());
        self.bytes.len() >= all.map_or(goal, |all| all.min(goal))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_parts_are_the_state() {
        for len in [1, PART - 1, PART, PART * RUN, PART * RUN * 2 + 5] {
            let bytes = Vec::from_iter((0..len).map(|at| (at % 251) as u8));
            let copy = Copy { number: 3, crc: crc_of(&bytes), bytes: bytes.clone(), asked: 0 };
            let mut taken = Taken { number: 3, bytes: Vec::new(), total: None };
            let mut runs = 0;
            while !taken.has(len) {
                runs += 1;
                // A run that came twice adds nothing.
                let from = taken.bytes.len();
                copy.run(from).chain(copy.run(from)).for_each(|part| taken.add(part));
            }
            assert_eq!((taken.bytes, taken.total), (bytes, Some((len as u64, copy.crc))));
            assert_eq!(runs, len.div_ceil(PART * RUN));
        }
    }

    #[test]
    fn parts_of_other_states_and_beyond_the_end_are_left_out() {
        let part = |number, offset, len| StateMessage::Part { number, offset, len, crc: 0, bytes: vec![1; 4] };
        let mut taken = Taken { number: 3, bytes: Vec::new(), total: None };
        [part(2, 0, 8), part(3, 4, 8), part(3, 0, 3), part(3, u64::MAX, 8)]
            .into_iter()
            .for_each(|part| taken.add(part));
        assert!(taken.bytes.is_empty() && taken.total.is_none());
        taken.add(part(3, 0, 8));
        assert_eq!(taken.bytes.len(), 4);
    }
}
