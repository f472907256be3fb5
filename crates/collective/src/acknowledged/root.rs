//! The root's end of an acknowledged broadcast.

use std::fmt;
use std::time::Duration;

use corecast_channel::Plain;

use super::config::AckConfig;
use super::engine::Outgoing;
use super::{AckError, Routes};
use crate::core::Core;
use crate::error::{Error, Loss};

/// Publishes events to all other members of a group, and learns how far they have got; see the [module](super).
///
/// [Close](Self::close) it: dropping it before makes the group fail, so that no member waits for more events in vain.
pub struct AckRoot<'m, T: Plain> {
    core: &'m mut Core,
    outgoing: Outgoing<T>,
    window: u64,
    published: u64,
    acked: u64,
    is_over: bool,
}

impl<'m, T: Plain> AckRoot<'m, T> {
    /// Lays out the root's end, as all others do theirs.
    pub(crate) fn open(core: &'m mut Core, routes: &Routes, config: &AckConfig) -> Result<Self, Error> {
        let (rank, route) = (core.rank, routes.of(config));
        let outgoing = core.lay_out(|arena| Outgoing::lay_out(arena, rank, config, &route))?;
        Ok(Self { core, outgoing, window: config.window as u64, published: 0, acked: 0, is_over: false })
    }

    /// Publishes an event as soon as the window has room for it; returns its number, from 1.
    ///
    /// # Errors
    /// [`AckError::Group`] if a member is lost.
    #[inline]
    pub fn publish(&mut self, event: &T) -> Result<u64, AckError> {
        if self.published - self.acked >= self.window {
            self.wait(self.published + 1 - self.window)?;
        }
        self.publish_next(std::slice::from_ref(event))
    }

    /// Publishes these events in their order, part by part as the window has room; returns the last one's number, or, if
    /// there are none, that of the last event before. Over [`Edges::Counters`](super::Edges::Counters) a part is announced
    /// with one store, where one call for each event takes one store for each.
    ///
    /// # Errors
    /// As for [`publish`](Self::publish). [`published`](Self::published) tells how many had been published by then.
    #[inline]
    pub fn publish_all(&mut self, mut events: &[T]) -> Result<u64, AckError> {
        while !events.is_empty() {
            if self.published - self.acked >= self.window {
                self.wait(self.published + 1 - self.window)?;
            }
            let room = self.window - (self.published - self.acked);
            let (part, rest) = events.split_at(events.len().min(room as usize));
            self.publish_next(part)?;
            events = rest;
        }
        Ok(self.published)
    }

    /// As [`publish`](Self::publish), without waiting.
    ///
    /// # Errors
    /// [`AckError::WindowFull`] if there is no room; otherwise as for `publish`.
    #[inline]
    pub fn try_publish(&mut self, event: &T) -> Result<u64, AckError> {
        if self.published - self.acked >= self.window && self.published - self.acked()? >= self.window {
            return Err(AckError::WindowFull { window: self.window as usize });
        }
        self.publish_next(std::slice::from_ref(event))
    }

    /// The last event up to which all other members have acknowledged all events; 0 for none.
    ///
    /// # Errors
    /// [`AckError::Group`] if a member is lost.
    #[inline]
    pub fn acked(&mut self) -> Result<u64, AckError> {
        self.core.table.fault().map_or(Ok(()), Err)?;
        self.look()?;
        if self.acked < self.published {
            self.core.look_around()?;
        }
        Ok(self.acked)
    }

    /// The last event published; 0 for none.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.published
    }

    /// Returns when all other members have acknowledged the event of this number.
    ///
    /// # Errors
    /// [`AckError::Group`] if a member is lost.
    ///
    /// # Panics
    /// If it has not been published.
    #[track_caller]
    pub fn wait(&mut self, number: u64) -> Result<(), AckError> {
        self.wait_while(number, |_| None)
    }

    /// As [`wait`](Self::wait), for at most `longest`.
    ///
    /// # Errors
    /// [`AckError::Timeout`] if that was too short; otherwise as for `wait`.
    ///
    /// # Panics
    /// If it has not been published.
    #[track_caller]
    pub fn wait_timeout(&mut self, number: u64, longest: Duration) -> Result<(), AckError> {
        let outcome = self.wait_while(number, |waited| Some(longest.saturating_sub(waited)));
        match outcome {
            Err(AckError::Timeout { .. }) => {
                self.core.look_around()?;
                Err(AckError::Timeout { acked: self.acked })
            }
            other => other,
        }
    }

    /// Waits until all other members have acknowledged all events, and ends the broadcast: they learn that no event
    /// follows.
    ///
    /// # Errors
    /// [`AckError::Group`] if a member is lost.
    pub fn close(mut self) -> Result<(), AckError> {
        self.core.table.fault().map_or(Ok(()), Err)?;
        self.published += 1;
        self.outgoing.end(self.published, &self.core.table);
        self.wait(self.published)?;
        self.is_over = true;
        Ok(())
    }

    #[inline]
    fn publish_next(&mut self, events: &[T]) -> Result<u64, AckError> {
        self.core.table.fault().map_or(Ok(()), Err)?;
        self.outgoing.publish(self.published + 1, events, &self.core.table);
        self.published += events.len() as u64;
        Ok(self.published)
    }

    #[inline]
    fn look(&mut self) -> Result<(), AckError> {
        let found = self.outgoing.acknowledged(&self.core.table)?.min(self.published);
        self.acked = self.acked.max(found);
        Ok(())
    }

    /// Waits for an acknowledgement as long as `left` allows, given the time waited so far.
    #[track_caller]
    fn wait_while(&mut self, number: u64, left: impl Fn(Duration) -> Option<Duration>) -> Result<(), AckError> {
        assert!(number <= self.published, "event {number} is waited for, and only {} are published", self.published);
        if number <= self.acked {
            return Ok(());
        }
        let Self { core, outgoing, published, acked, .. } = self;
        let Core { rank, operation, waiter, table, .. } = &mut **core;
        let poll = || match outgoing.acknowledged(table) {
            Err(error) => Some(Err(error)),
            Ok(found) => {
                *acked = found.min(*published).max(*acked);
                (*acked >= number).then_some(Ok(()))
            }
        };
        waiter.until(table.wake_word(*rank), poll, |waited| {
            let nap = table.check(*rank, *operation, waited)?;
            match left(waited) {
                Some(Duration::ZERO) => Err(AckError::Timeout { acked: 0 }),
                Some(left) => Ok(nap.min(left)),
                None => Ok(nap),
            }
        })?
    }
}

impl<T: Plain> Drop for AckRoot<'_, T> {
    fn drop(&mut self) {
        if !self.is_over {
            abandon(self.core);
        }
    }
}

impl<T: Plain> fmt::Debug for AckRoot<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { core, window, published, acked, .. } = self;
        let (rank, members) = (core.rank, core.members);
        write!(f, "AckRoot(member {rank} of {members}, {published} published, {acked} acknowledged, window {window})")
    }
}

/// Makes the group fail as a member gives up an end that others rely on.
pub(super) fn abandon(core: &Core) {
    let loss = if std::thread::panicking() { Loss::Panicked } else { Loss::Left };
    let _ = core.table.report(core.rank, loss);
}
