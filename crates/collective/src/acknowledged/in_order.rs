//! A member's way through the events in the order of their numbers, over edges that keep it.
//!
//! ```text
//! newest   = the newest event that some neighbour has brought; passed on early at once
//! done     = the newest event that was processed, or copied if that is all that acknowledging takes
//! late     = min(the newest event that all neighbours have brought, done); passed on late when it has grown
//! ```
//! The end is an event of its own, which carries nothing and is done once all before it are. So a member that passes it on
//! late has passed on everything, and for it the broadcast is over.

use std::collections::VecDeque;

use corecast_channel::Plain;

use super::config::{AckConfig, AckOn};
use super::lines::Lines;
use super::wires::Wires;
use super::{AckError, Event};
use crate::membership::MemberTable;

/// One member that is not the root.
#[derive(Debug)]
pub(super) struct InOrder<T, W> {
    wires: W,
    lines: Lines,
    ack_on: AckOn,
    window: u64,
    /// The newest event, or the end, that a neighbour has brought.
    newest: u64,
    /// The newest event that a neighbour has brought.
    brought: u64,
    /// Events handed out for processing.
    given: u64,
    /// Events processed.
    processed: u64,
    /// Events, and the end, passed on late.
    passed: u64,
    /// The end's number, once it has been brought.
    end: Option<u64>,
    /// Copies of events brought and not yet handed out, where copying is enough to acknowledge.
    copies: VecDeque<T>,
}

impl<T: Plain, W: Wires> InOrder<T, W> {
    pub(super) fn new(config: &AckConfig, lines: Lines, wires: W) -> Self {
        let (ack_on, window) = (config.tuning.ack_on, config.window as u64);
        let copies = VecDeque::with_capacity(if ack_on == AckOn::Received { config.window } else { 0 });
        Self {
            wires,
            lines,
            ack_on,
            window,
            newest: 0,
            brought: 0,
            given: 0,
            processed: 0,
            passed: 0,
            end: None,
            copies,
        }
    }

    /// The next event to process, if it is there.
    #[inline]
    pub(super) fn take(&mut self, table: &MemberTable) -> Result<Option<Event<T>>, AckError> {
        if self.given == self.brought {
            self.look(table)?;
        }
        if self.given == self.brought {
            return Ok(None);
        }
        self.given += 1;
        let value = match self.ack_on {
            AckOn::Processed => self.wires.read(self.given),
            AckOn::Received => self.copies.pop_front().expect("all events that were brought have been copied"),
        };
        Ok(Some(Event { number: self.given, value }))
    }

    /// Marks all events handed out as processed.
    #[inline]
    pub(super) fn finish_given(&mut self) {
        self.processed = self.given;
    }

    /// Passes on late as much as possible.
    #[inline]
    pub(super) fn pass_on(&mut self, table: &MemberTable) {
        let late = self.late();
        if late > self.passed {
            self.wires.pass_on::<T>(true, self.passed, late, table);
            self.passed = late;
        }
    }

    /// Whether there is something to process, or to pass on.
    #[inline]
    pub(super) fn has_work(&mut self) -> bool {
        self.given < self.brought || self.wires.newest() > self.newest || self.late() > self.passed
    }

    /// Passes on late as much as possible; true if that was all that has been processed.
    pub(super) fn flush(&mut self, table: &MemberTable) -> Result<bool, AckError> {
        self.pass_on(table);
        Ok(self.passed >= self.processed)
    }

    /// Whether the end has been passed on.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.passed)
    }

    /// The newest event, or the end, that may be passed on late.
    #[inline]
    fn late(&mut self) -> u64 {
        let done = match self.ack_on {
            AckOn::Processed => self.processed,
            AckOn::Received => self.brought,
        };
        let done = if self.end == Some(done + 1) { done + 1 } else { done };
        if done == self.passed { done } else { done.min(self.wires.complete()) }
    }

    /// Looks for new events.
    #[inline]
    fn look(&mut self, table: &MemberTable) -> Result<(), AckError> {
        let (old, newest) = (self.newest, self.wires.newest());
        if newest == old {
            return Ok(());
        }
        // The window's events and the end, counted from the last one that this member has passed on.
        let most = self.passed + self.window + 1;
        let end = self.lines.end();
        if newest < old || newest > most || (end != 0 && newest > end) {
            return Err(AckError::Corrupt { found: newest, most });
        }
        self.newest = newest;
        self.end = (end == newest).then_some(end);
        self.brought = newest - u64::from(self.end.is_some());
        if self.ack_on == AckOn::Received {
            let wires = &self.wires;
            self.copies.extend((self.given + 1..=self.brought).map(|number| wires.read::<T>(number)));
        }
        self.wires.pass_on::<T>(false, old, newest, table);
        if self.ack_on == AckOn::Received {
            self.pass_on(table);
        }
        Ok(())
    }
}
