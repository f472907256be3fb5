//! Edges that are tasks: a message is a task of its receiver, which runs it when its scheduler says so.
//!
//! ```text
//! the first task of an event    begin it: pass it on early, give it out for processing
//! done, and all tasks there     pass it on late; at the root: it is acknowledged
//! ordered                       begin it only after the one before; until then it waits in its place of the window
//! ```
//! With tasks that are run last in, first out, events overtake each other, so each has a record of its own. What a full inbox
//! does not take is kept and tried again, in order, so that nobody waits within a send.

use std::collections::VecDeque;

use corecast_channel::Plain;

use super::config::{AckConfig, AckOn, Variant};
use super::lines::{Lines, Slots};
use super::route::{Edge, Neighbours};
use super::scheduler::Scheduler;
use super::{AckError, Event};
use crate::roll::Roll;

/// One member, the root or another.
#[derive(Debug)]
pub(super) struct Tasks<T> {
    own: Neighbours,
    lines: Lines,
    /// What tasks carry: one ring for each edge of the broadcast.
    slots: Slots,
    scheduler: Scheduler,
    ack_on: AckOn,
    is_ordered: bool,
    /// One for each event of a window.
    records: Vec<Record<T>>,
    /// Receiver and task, in the order of sending, from the first one that found no room on.
    unsent: VecDeque<(usize, u32)>,
    /// Events begun, where they are begun in order.
    begun: u64,
    /// The event given out for processing.
    given: Option<u64>,
    /// Events, and the end, passed on late, in whatever order; at the root those acknowledged, in order.
    passed: u64,
    end: Option<u64>,
}

/// How far an event is.
#[derive(Debug)]
struct Record<T> {
    /// The event; 0 for none yet.
    number: u64,
    /// Neighbours that have sent their task.
    arrived: usize,
    is_done: bool,
    /// The event itself, as long as it waits for the one before.
    waiting: Option<T>,
}

/// What a task brought.
struct Arrival {
    number: u64,
    index: usize,
    edge: Edge,
    is_first: bool,
}

impl<T: Plain> Tasks<T> {
    pub(super) fn new(config: &AckConfig, own: Neighbours, lines: Lines, slots: Slots, scheduler: Scheduler) -> Self {
        let is_ordered = config.choice().0 == Variant::OrderedRing;
        let blank = || Record { number: 0, arrived: 0, is_done: false, waiting: None };
        let records = std::iter::repeat_with(blank).take(slots.per_ring()).collect();
        let (unsent, ack_on) = (VecDeque::new(), config.ack_on);
        let (begun, given, passed, end) = (0, None, 0, None);
        Self { own, lines, slots, scheduler, ack_on, is_ordered, records, unsent, begun, given, passed, end }
    }

    /// The next event to process, if there is one.
    pub(super) fn take(&mut self, roll: &Roll) -> Result<Option<Event<T>>, AckError> {
        loop {
            let in_turn = self.next_in_order();
            if in_turn.is_some() {
                return Ok(in_turn);
            }
            let Some(task) = self.next_task(roll) else { return Ok(None) };
            if let Some(event) = self.run(task, roll)? {
                self.given = Some(event.number);
                return Ok(Some(event));
            }
        }
    }

    /// Says that the event given out is processed.
    pub(super) fn finish_given(&mut self, roll: &Roll) {
        let Some(number) = self.given.take() else { return };
        let index = self.slots.index(number);
        // Acknowledged on receipt, its record may be another event's by now.
        if self.ack_on == AckOn::Processed {
            self.records[index].is_done = true;
            self.pass_on_if_complete(index, roll);
        }
    }

    /// Tries again what found no room.
    pub(super) fn flush(&mut self, roll: &Roll) {
        while let Some(&(peer, task)) = self.unsent.front() {
            if self.scheduler.inboxes().push(peer, task).is_err() {
                self.make_room(roll);
                return;
            }
            self.unsent.pop_front();
            roll.bell(peer).notify();
        }
    }

    /// Whether there is something to run or to send.
    pub(super) fn has_work(&self) -> bool {
        let can_send = |&(peer, _): &(usize, u32)| self.scheduler.inboxes().has_room(peer);
        self.scheduler.has_tasks() || self.unsent.front().is_some_and(can_send) || self.is_next_waiting()
    }

    /// Whether the end, and all before it, have been passed on.
    pub(super) fn is_over(&self) -> bool {
        self.end == Some(self.passed) && self.unsent.is_empty()
    }

    /// Publishes an event, or the end; for the root.
    pub(super) fn publish(&mut self, number: u64, event: Option<&T>, roll: &Roll) {
        self.send(false, number, event, roll);
    }

    /// Runs what has come to the root; the newest event up to which all are acknowledged, any if there is nobody else.
    pub(super) fn acknowledged(&mut self, roll: &Roll) -> Result<u64, AckError> {
        self.flush(roll);
        while let Some(task) = self.next_task(roll) {
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

    fn next_task(&mut self, roll: &Roll) -> Option<u32> {
        if self.scheduler.is_idle() {
            self.make_room(roll);
        }
        self.scheduler.next()
    }

    /// Empties the inbox, and tells those who may wait for room.
    fn make_room(&mut self, roll: &Roll) {
        if self.scheduler.drain_inbox() > 0 {
            self.own.inlets.iter().for_each(|edge| roll.bell(edge.peer).notify());
        }
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
        self.given = Some(self.begun);
        let value = self.records[self.slots.index(self.begun)].waiting.take()?;
        Some(Event { number: self.begun, value })
    }

    /// Runs a task; the event, if it is to be begun.
    fn run(&mut self, task: u32, roll: &Roll) -> Result<Option<Event<T>>, AckError> {
        let Arrival { number, index, edge, is_first } = self.arrive(task)?;
        let mut begun = None;
        if is_first {
            let value: T = self.slots.read(edge.number, index);
            self.send(false, number, Some(&value), roll);
            let end = self.lines.end();
            self.end = self.end.or((number == end).then_some(end));
            let record = &mut self.records[index];
            record.is_done = number == end || self.ack_on == AckOn::Received;
            if number != end {
                if self.is_ordered { record.waiting = Some(value) } else { begun = Some(Event { number, value }) }
            }
        }
        self.pass_on_if_complete(index, roll);
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

    /// Passes an event on late if nothing is missing.
    fn pass_on_if_complete(&mut self, index: usize, roll: &Roll) {
        let Record { number, arrived, is_done, .. } = self.records[index];
        if !is_done || arrived != self.own.inlets.len() {
            return;
        }
        self.passed += 1;
        let carriers = self.own.carriers();
        // Complete: all of them have brought it, and none has been acknowledged.
        let value: Option<T> = carriers.first().map(|edge| self.slots.read(edge.number, index));
        self.send(true, number, value.as_ref(), roll);
    }

    /// Makes a task of an event for each of the edges, and pushes it.
    fn send(&mut self, is_late: bool, number: u64, event: Option<&T>, roll: &Roll) {
        let index = self.slots.index(number);
        for edge in self.own.out(is_late) {
            if let (true, Some(event)) = (edge.carries, event) {
                self.slots.write(edge.number, index, event);
            }
            self.slots.set_head(edge.number, index, number);
            let task = u32::try_from(edge.inlet * self.slots.per_ring() + index).expect("4096 inlets of 8192 slots");
            self.unsent.push_back((edge.peer, task));
        }
        self.flush(roll);
    }
}
