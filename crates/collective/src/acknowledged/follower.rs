//! The end of an acknowledged broadcast at every member but the root.

use std::fmt;

use corecast_channel::Plain;

use super::config::AckConfig;
use super::engine::Incoming;
use super::root::abandon;
use super::{AckError, Event, Routes};
use crate::core::Core;
use crate::error::Error;

/// The number of events processed before they are passed on: a long batch of slow events is passed on in parts, so that the
/// members further on need not wait for all of it, while a quick batch costs one store for many events.
const PART: usize = 16;

/// Receives the root's events, passes them on and acknowledges them; see the [module](super).
///
/// All this happens within its calls, so others wait for a member that does not call. Use it until the broadcast is over:
/// dropping it before makes the group fail.
pub struct AckFollower<'m, T: Plain> {
    core: &'m mut Core,
    incoming: Incoming<T>,
    window: usize,
}

impl<'m, T: Plain> AckFollower<'m, T> {
    /// Lays out this member's end, as all others do theirs.
    pub(crate) fn open(core: &'m mut Core, routes: &Routes, config: &AckConfig) -> Result<Self, Error> {
        let (rank, route) = (core.rank, routes.of(config));
        let incoming = core.lay_out(|arena| Incoming::lay_out(arena, rank, config, &route))?;
        Ok(Self { core, incoming, window: config.window })
    }

    /// Waits for events and processes all that are there; returns their number, 0 if the broadcast is over.
    ///
    /// # Errors
    /// [`AckError::Group`] if a member is lost.
    #[inline]
    pub fn drain(&mut self, mut process: impl FnMut(Event<T>)) -> Result<usize, AckError> {
        loop {
            let count = self.drain_now(&mut process)?;
            if count > 0 || self.is_over() {
                return Ok(count);
            }
            self.wait_for_work()?;
        }
    }

    /// Processes all events that are there, at most a window of them, without waiting; returns their number.
    ///
    /// # Errors
    /// As for [`drain`](Self::drain).
    #[inline]
    pub fn try_drain(&mut self, process: impl FnMut(Event<T>)) -> Result<usize, AckError> {
        let count = self.drain_now(process)?;
        if count == 0 {
            self.core.look_around()?;
        }
        Ok(count)
    }

    #[inline]
    fn drain_now(&mut self, mut process: impl FnMut(Event<T>)) -> Result<usize, AckError> {
        let Self { core, incoming, window } = self;
        let table = &core.table;
        table.fault().map_or(Ok(()), Err)?;
        // Finishes the last event that was received by itself.
        incoming.finish_given(table);
        let mut count = 0;
        while count < *window {
            let Some(event) = incoming.take(table)? else { break };
            process(event);
            incoming.finish_given(table);
            count += 1;
            if count % PART == 0 {
                incoming.pass_on(table);
            }
        }
        incoming.pass_on(table);
        Ok(count)
    }

    /// Waits for the next event; `None` if the broadcast is over. It counts as processed when the member calls again.
    ///
    /// # Errors
    /// As for [`drain`](Self::drain).
    #[inline]
    pub fn recv(&mut self) -> Result<Option<Event<T>>, AckError> {
        loop {
            let next = self.recv_now()?;
            if next.is_some() || self.is_over() {
                return Ok(next);
            }
            self.wait_for_work()?;
        }
    }

    /// As [`recv`](Self::recv), without waiting: also `None` if there is no event yet.
    ///
    /// # Errors
    /// As for [`drain`](Self::drain).
    #[inline]
    pub fn try_recv(&mut self) -> Result<Option<Event<T>>, AckError> {
        let next = self.recv_now()?;
        if next.is_none() {
            self.core.look_around()?;
        }
        Ok(next)
    }

    #[inline]
    fn recv_now(&mut self) -> Result<Option<Event<T>>, AckError> {
        let Self { core, incoming, .. } = self;
        let table = &core.table;
        table.fault().map_or(Ok(()), Err)?;
        incoming.finish_given(table);
        incoming.pass_on(table);
        let next = incoming.take(table)?;
        if next.is_none() {
            // The end may have been among the messages taken in.
            incoming.pass_on(table);
        }
        Ok(next)
    }

    /// Processes all events until the broadcast is over; returns their number.
    ///
    /// # Errors
    /// As for [`drain`](Self::drain).
    pub fn serve(&mut self, mut process: impl FnMut(Event<T>)) -> Result<u64, AckError> {
        let mut count = 0;
        loop {
            match self.drain(&mut process)? {
                0 => return Ok(count),
                some => count += some as u64,
            }
        }
    }

    /// Waits until this member has passed on all events that it has processed. Call it before a longer pause, so that
    /// others need not wait meanwhile. Over tasks that are acknowledged on receipt it also returns when there is an event
    /// to process.
    ///
    /// # Errors
    /// As for [`drain`](Self::drain).
    pub fn flush(&mut self) -> Result<(), AckError> {
        let Self { core, incoming, .. } = self;
        let Core { rank, operation, waiter, table, .. } = &mut **core;
        incoming.finish_given(table);
        let poll = || match incoming.flush(table) {
            Ok(is_done) => is_done.then_some(Ok(())),
            Err(error) => Some(Err(error)),
        };
        waiter.until(table.wake_word(*rank), poll, |waited| table.check(*rank, *operation, waited))?
    }

    /// True once all events are processed and passed on, and none will follow.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.incoming.is_over()
    }

    fn wait_for_work(&mut self) -> Result<(), AckError> {
        let Self { core, incoming, .. } = self;
        Ok(core.wait_at_own_word(|| incoming.has_work().then_some(()))?)
    }
}

impl<T: Plain> Drop for AckFollower<'_, T> {
    fn drop(&mut self) {
        if !self.is_over() {
            abandon(self.core);
        }
    }
}

impl<T: Plain> fmt::Debug for AckFollower<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (rank, members) = (self.core.rank, self.core.members);
        write!(f, "AckFollower(member {rank} of {members}, window {})", self.window)
    }
}
