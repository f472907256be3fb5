//! All kinds of edges as one type: the kind is chosen when a broadcast is set up, so that no event asks again.

use corecast_base::{Arena, ArenaError};
use corecast_channel::Plain;

use super::config::{AckConfig, Edges};
use super::counters::Counters;
use super::in_order::InOrder;
use super::lines::{Lines, Slots};
use super::messages::Messages;
use super::route::Route;
use super::scheduler::{Inboxes, Scheduler};
use super::tasks::Tasks;
use super::wires::Wires;
use super::{AckError, Event};
use crate::membership::MemberTable;

/// One member's edges.
#[derive(Debug)]
enum Edged<T> {
    Counters(Counters),
    Messages(Messages),
    /// Boxed, as it is by far the largest.
    Tasks(Box<Tasks<T>>),
}

/// The root's side.
#[derive(Debug)]
pub(super) struct Outgoing<T> {
    edges: Edged<T>,
    lines: Lines,
}

/// Another member's side.
#[derive(Debug)]
pub(super) enum Incoming<T> {
    Counters(InOrder<T, Counters>),
    Messages(InOrder<T, Messages>),
    /// Boxed, as it is by far the largest.
    Tasks(Box<Tasks<T>>),
}

/// Calls `$body` with the contents of either variant.
macro_rules! each {
    ($of:expr, $inner:ident => $body:expr) => {
        match $of {
            Self::Counters($inner) => $body,
            Self::Messages($inner) => $body,
            Self::Tasks($inner) => $body,
        }
    };
}

impl<T: Plain> Edged<T> {
    /// Lays out the broadcast's memory, as all members do, and takes this member's edges in it.
    fn lay_out(arena: &mut Arena, rank: usize, config: &AckConfig, route: &Route) -> Result<(Self, Lines), ArenaError> {
        let (members, own) = (route.members.len(), route.members[rank].clone());
        let lines = Lines::lay_out(arena, members)?;
        // Room for the window's events and the end.
        let slots = config.window + 1;
        let edges = match config.tuning.edges {
            Edges::Counters => {
                let events = Slots::without_heads::<T>(arena, config.window)?;
                Self::Counters(Counters { rank, own, lines: lines.clone(), events })
            }
            Edges::Messages => Self::Messages(Messages::new(own, Slots::with_heads::<T>(arena, route.edges, slots)?)),
            Edges::Tasks(discipline) => {
                let slots = Slots::with_heads::<T>(arena, route.edges, slots)?;
                let most = own.inlets.len() * slots.per_ring();
                let scheduler = Scheduler::new(Inboxes::lay_out(arena, members)?, rank, discipline, most);
                Self::Tasks(Box::new(Tasks::new(config, own, lines.clone(), slots, scheduler)))
            }
        };
        Ok((edges, lines))
    }
}

impl<T: Plain> Outgoing<T> {
    pub(super) fn lay_out(
        arena: &mut Arena,
        rank: usize,
        config: &AckConfig,
        route: &Route,
    ) -> Result<Self, ArenaError> {
        let (edges, lines) = Edged::lay_out(arena, rank, config, route)?;
        Ok(Self { edges, lines })
    }

    /// Publishes events, one at least, with numbers from `first` on.
    #[inline]
    pub(super) fn publish(&mut self, first: u64, events: &[T], table: &MemberTable) {
        match &mut self.edges {
            Edged::Counters(counters) => counters.publish(first, events, table),
            Edged::Messages(messages) => messages.publish(first, events, table),
            Edged::Tasks(tasks) => tasks.publish(first, events, table),
        }
    }

    /// Publishes the end, which has this number.
    pub(super) fn end(&mut self, number: u64, table: &MemberTable) {
        self.lines.set_end(number);
        match &mut self.edges {
            Edged::Counters(counters) => counters.end::<T>(number, table),
            Edged::Messages(messages) => messages.end::<T>(number, table),
            Edged::Tasks(tasks) => tasks.end(number, table),
        }
    }

    /// The newest event up to which all are acknowledged; any number if the root is alone.
    #[inline]
    pub(super) fn acknowledged(&mut self, table: &MemberTable) -> Result<u64, AckError> {
        match &mut self.edges {
            Edged::Counters(counters) => Ok(counters.complete()),
            Edged::Messages(messages) => Ok(messages.complete()),
            Edged::Tasks(tasks) => tasks.acknowledged(table),
        }
    }
}

impl<T: Plain> Incoming<T> {
    pub(super) fn lay_out(
        arena: &mut Arena,
        rank: usize,
        config: &AckConfig,
        route: &Route,
    ) -> Result<Self, ArenaError> {
        let (edges, lines) = Edged::lay_out(arena, rank, config, route)?;
        Ok(match edges {
            Edged::Counters(counters) => Self::Counters(InOrder::new(config, lines, counters)),
            Edged::Messages(messages) => Self::Messages(InOrder::new(config, lines, messages)),
            Edged::Tasks(tasks) => Self::Tasks(tasks),
        })
    }

    /// The next event to process, if it is there.
    #[inline]
    pub(super) fn take(&mut self, table: &MemberTable) -> Result<Option<Event<T>>, AckError> {
        each!(self, member => member.take(table))
    }

    /// Marks the event taken last as processed.
    #[inline]
    pub(super) fn finish_given(&mut self, table: &MemberTable) {
        match self {
            Self::Counters(member) => member.finish_given(),
            Self::Messages(member) => member.finish_given(),
            Self::Tasks(member) => member.finish_given(table),
        }
    }

    /// Passes on as much as possible; true if that was all that has been processed.
    pub(super) fn flush(&mut self, table: &MemberTable) -> Result<bool, AckError> {
        each!(self, member => member.flush(table))
    }

    /// Passes on as much as possible.
    #[inline]
    pub(super) fn pass_on(&mut self, table: &MemberTable) {
        match self {
            Self::Counters(member) => member.pass_on(table),
            Self::Messages(member) => member.pass_on(table),
            Self::Tasks(member) => member.push_unsent(table),
        }
    }

    /// Whether there is something to process or to pass on.
    #[inline]
    pub(super) fn has_work(&mut self) -> bool {
        each!(self, member => member.has_work())
    }

    /// Whether this member has passed on the end.
    pub(super) fn is_over(&self) -> bool {
        each!(self, member => member.is_over())
    }
}
