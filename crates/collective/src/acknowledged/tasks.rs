//! Edges that are tasks: a message is a task of its receiver, which runs it when its scheduler picks it.
//!
//! ```text
//! the first task of an event    begin it: pass it on early, give it out for processing
//! done, and all tasks there     pass it on late; at the root: it is acknowledged
//! ordered                       begin it only after the one before; until then it waits in its place of the window
//! ```
//! With tasks that are run last in, first out, events overtake each other, so each has a record of its own. A task that
//! finds the inbox full is kept and sent again later, in order, so that no member waits within a send.

use std::collections::VecDeque;

use corecast_channel::Plain;

use super::config::{AckConfig, AckOn, Variant};
use super::lines::{Lines, Slots};
use super::route::{Edge, Neighbours};
use super::scheduler::Scheduler;
use super::{AckError, Event};
use crate::membership::MemberTable;

/// One member, the root or another.
#[derive(Debug)]
pub(super) struct Tasks<T> {
    own: Neighbours,
    lines: Lines,
    /// The contents of tasks: one ring for each edge of the broadcast.
    slots: Slots,
    scheduler: Scheduler,
    ack_on: AckOn,
    is_ordered: bool,
    /// One for each event of a window.
    records: Vec<Record<T>>,
    /// Receiver and task in the order of sending, beginning with the first that found no room.
    unsent: VecDeque<(usize, u32)>,
    /// Events begun, if they are begun in order.
    begun: u64,
    /// The event handed out for processing.
    given: Option<u64>,
    /// Events begun before the user asked for one.
    ready: VecDeque<Event<T>>,
    /// Events, and the end, that this member is done with.
    done: u64,
    /// Events, and the end, passed on late, in any order; at the root those acknowledged, in order.
    passed: u64,
    end: Option<u64>,
}

/// The state of an event.
#[derive(Debug)]
struct Record<T> {
    /// The event; 0 for none yet.
    number: u64,
    /// Neighbours that have sent their task.
    arrived: usize,
    is_done: bool,
    /// The event itself, while it waits for the one before.
    waiting: Option<T>,
}

/// The contents of a task.
struct Arrival {
    number: u64,
    index: usize,
    edge: Edge,
    is_first: bool,
}

impl<T: Plain> Tasks<T> {
    pub(super) fn new(config: &AckConfig, own: Neighbours, lines: Lines, slots: Slots, scheduler: Scheduler) -> Self {
        let is_ordered = config.tuning.choice().0 == Variant::OrderedRing;
        let blank = || Record { number: 0, arrived: 0, is_done: false, waiting: None };
        let records = std::iter::repeat_with(blank).take(slots.per_ring()).collect();
        Self {
            own,
            lines,
            slots,
            scheduler,
            ack_on: config.tuning.ack_on,
            is_ordered,
            records,
            unsent: VecDeque::new(),
            begun: 0,
            given: None,
            ready: VecDeque::new(),
            done: 0,
            passed: 0,
            end: None,
        }
    }

    /// The next event to process, if there is one.
    pub(super) fn take(&mut self, table: &MemberTable) -> Result<Option<Event<T>>, AckError> {
        loop {
            let ready = self.next_in_order().or_else(|| self.ready.pop_front());
            let next = match ready {
                Some(event) => Some(event),
                None => match self.next_task(table) {
                    Some(task) => self.run(task, table)?,
                    None => return Ok(None),
                },
            };
            if let Some(event) = next {
                self.given = Some(event.number);
                return Ok(Some(event));
            }
        }
    }

    /// Passes on as much as possible, for which it runs the tasks that have come; true if that was all that has been
    /// processed, or if an event has to be processed first. That event may have been acknowledged already, and the window
    /// may then allow another in its place, so no task is run before this member has taken its copy.
    pub(super) fn flush(&mut self, table: &MemberTable) -> Result<bool, AckError> {
        self.push_unsent(table);
        while self.passed < self.done {
            if self.ack_on == AckOn::Received && self.has_begun() {
                return Ok(true);
            }
            let Some(task) = self.next_task(table) else { return Ok(false) };
            let begun = self.run(task, table)?;
            self.ready.extend(begun);
        }
        Ok(self.unsent.is_empty())
    }

    /// Marks the event handed out as processed.
    pub(super) fn finish_given(&mut self, table: &MemberTable) {
        let Some(number) = self.given.take() else { return };
        let index = self.slots.index(number);
        // It was acknowledged on receipt, so its record may be another event's by now.
        if self.ack_on == AckOn::Processed {
            self.records[index].is_done = true;
            self.done += 1;
            self.pass_on_if_complete(index, table);
        }
    }

    /// Sends again the tasks that found no room.
    pub(super) fn push_unsent(&mut self, table: &MemberTable) {
        while let Some(&(peer, task)) = self.unsent.front() {
            if self.scheduler.inboxes().push(peer, task).is_err() {
                self.make_room(table);
                return;
            }
            self.unsent.pop_front();
            table.wake_word(peer).notify();
        }
    }

    /// Whether there is something to run or to send.
    pub(super) fn has_work(&self) -> bool {
        let can_send = |&(peer, _): &(usize, u32)| self.scheduler.inboxes().has_room(peer);
        self.has_begun() || self.scheduler.has_tasks() || self.unsent.front().is_some_and(can_send)
    }

    /// Whether the end, and all before it, have been passed on.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.passed) && self.unsent.is_empty()
    }

    /// Publishes events with numbers from `first` on; for the root.
    pub(super) fn publish(&mut self, first: u64, events: &[T], table: &MemberTable) {
        (first..).zip(events).for_each(|(number, event)| self.send(false, number, Some(event), table));
    }

    /// Publishes the end; for the root.
    pub(super) fn end(&mut self, number: u64, table: &MemberTable) {
        self.send(false, number, None, table);
    }

    /// Runs the tasks that have come to the root; returns the newest event up to which all are acknowledged, any number if
    /// it is alone.
    pub(super) fn acknowledged(&mut self, table: &MemberTable) -> Result<u64, AckError> {
        self.push_unsent(table);
        while let Some(task) = self.next_task(table) {
            self.arrive(task)?;
        }
        let inlets = self.own.inlets.len();
        if inlets == 0 {
            return Ok(u64::MAX);
        }
        loop {
            let record = &self.records[self.slots.index(self.passed + 1)];
            if record.number != self.passed + 1 || record.arrived != inlets {
                return Ok(self.passed);
            }
            self.passed += 1;
        }
    }

    fn next_task(&mut self, table: &MemberTable) -> Option<u32> {
        if self.scheduler.is_idle() {
            self.make_room(table);
        }
        self.scheduler.next()
    }

    /// Empties the inbox, and wakes the members that may wait for room.
    fn make_room(&mut self, table: &MemberTable) {
        if self.scheduler.drain_inbox() > 0 {
            self.own.inlets.iter().for_each(|edge| table.wake_word(edge.peer).notify());
        }
    }

    /// Whether there is an event to process already.
    fn has_begun(&self) -> bool {
        !self.ready.is_empty() || self.is_next_waiting()
    }

    fn is_next_waiting(&self) -> bool {
        let record = &self.records[self.slots.index(self.begun + 1)];
        self.is_ordered && record.number == self.begun + 1 && record.waiting.is_some()
    }

    fn next_in_order(&mut self) -> Option<Event<T>> {
        if !self.is_next_waiting() {
            return None;
        }
        self.begun += 1;
        let value = self.records[self.slots.index(self.begun)].waiting.take()?;
        Some(Event { number: self.begun, value })
    }

    /// Runs a task; the event, if it is to be begun.
    fn run(&mut self, task: u32, table: &MemberTable) -> Result<Option<Event<T>>, AckError> {
        let Arrival { number, index, edge, is_first } = self.arrive(task)?;
        let mut begun = None;
        if is_first {
            let value: T = self.slots.read(edge.number, index);
            self.send(false, number, Some(&value), table);
            let end = self.lines.end();
            self.end = self.end.or((number == end).then_some(end));
            let record = &mut self.records[index];
            record.is_done = number == end || self.ack_on == AckOn::Received;
            self.done += u64::from(record.is_done);
            if number != end {
                if self.is_ordered { record.waiting = Some(value) } else { begun = Some(Event { number, value }) }
            }
        }
        self.pass_on_if_complete(index, table);
        Ok(begun)
    }

    /// Notes that a neighbour has sent its task of an event.
    fn arrive(&mut self, task: u32) -> Result<Arrival, AckError> {
        let per_ring = self.slots.per_ring();
        let (inlet, index) = (task as usize / per_ring, task as usize % per_ring);
        let most = (self.own.inlets.len() * per_ring) as u64;
        let edge = *self.own.inlets.get(inlet).ok_or(AckError::Corrupt { found: task.into(), most })?;
        let number = self.slots.head(edge.number, index);
        let record = &mut self.records[index];
        if number == 0 || number & (per_ring as u64 - 1) != index as u64 || number < record.number {
            return Err(AckError::Corrupt { found: number, most: record.number + per_ring as u64 });
        }
        let is_first = record.number != number;
        if is_first {
            *record = Record { number, arrived: 0, is_done: false, waiting: None };
        }
        record.arrived += 1;
        Ok(Arrival { number, index, edge, is_first })
    }

    /// Passes an event on late if it is complete.
    fn pass_on_if_complete(&mut self, index: usize, table: &MemberTable) {
        let Record { number, arrived, is_done, .. } = self.records[index];
        if !is_done || arrived != self.own.inlets.len() {
            return;
        }
        self.passed += 1;
        let carriers = self.own.carriers();
        // Complete: all of them have brought it, and none has been acknowledged.
        let value: Option<T> = carriers.first().map(|edge| self.slots.read(edge.number, index));
        self.send(true, number, value.as_ref(), table);
    }

    /// Makes a task of an event for each of the edges, and pushes it.
    fn send(&mut self, is_late: bool, number: u64, event: Option<&T>, table: &MemberTable) {
        let index = self.slots.index(number);
        for edge in self.own.out(is_late) {
            if let (true, Some(event)) = (edge.carries, event) {
                self.slots.write(edge.number, index, event);
            }
            self.slots.set_head(edge.number, index, number);
            let task = u32::try_from(edge.inlet * self.slots.per_ring() + index).expect("4096 inlets of 8192 slots");
            self.unsent.push_back((edge.peer, task));
        }
        self.push_unsent(table);
    }
}
