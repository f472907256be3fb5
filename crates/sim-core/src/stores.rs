//! The way of stores from the buffers of their CPUs to memory.

use crate::costs::{Access, LineState, Ticks, units};
use crate::events::Event;
use crate::lines::Request;
use crate::run_state::{RunState, ThreadState, Wait};
use crate::store_buffer::{Pending, Stage};

impl RunState {
    /// Puts a store of a thread into the buffer of its CPU, which has room.
    pub(crate) fn push_store(&mut self, thread: usize, store: Pending) {
        let ThreadState { cpu, clock: now, .. } = self.threads[thread];
        let is_next = self.events.are_later_than(now);
        self.threads[thread].clock += units(1);
        let own = &mut self.cpus[cpu];
        own.buffer.push(store);
        if own.buffer.announced.is_some() {
            return;
        }
        let time = store.made.max(own.buffer.next_request);
        own.buffer.announced = Some(time);
        if is_next && time == now {
            self.drain(cpu, now);
        } else {
            self.events.announce(time, Event::Drain { cpu });
        }
    }

    /// Asks for the line of the next store, if it is time, and lets those take effect that can.
    pub(crate) fn drain(&mut self, cpu: usize, now: Ticks) {
        let buffer = &mut self.cpus[cpu].buffer;
        if buffer.announced == Some(now) {
            buffer.announced = None;
            self.ask_for_next(cpu, now);
        }
        self.finish_stores(cpu, now);
    }

    fn ask_for_next(&mut self, cpu: usize, now: Ticks) {
        let Some((number, store)) = self.cpus[cpu].buffer.next_new() else { return };
        let (line, address) = (store.line, store.address());
        let (mut stage, mut gap) = (Stage::Come(now), units(1));
        if !self.lines.is_writable(line, cpu) {
            let source = self.source(line, cpu, Access::Store);
            gap = self.machine.costs().gap[source.distance];
            let time = self.request(line, Request::store(cpu, number, address, now), now);
            stage = time.map_or(Stage::Asked, |time| Stage::Come(now + time));
        }
        let buffer = &mut self.cpus[cpu].buffer;
        buffer.get_mut(number).expect("it is in the buffer").stage = stage;
        buffer.next_request = now + gap;
        // The thread may be ahead: a store that it has yet to make at this time waits until then.
        if let Some(time) = buffer.next_new().map(|(_, store)| store.made.max(now + gap)) {
            buffer.announced = Some(time);
            self.events.announce(time, Event::Drain { cpu });
        }
    }

    /// Lets the oldest stores whose lines have come take effect.
    pub(crate) fn finish_stores(&mut self, cpu: usize, now: Ticks) {
        while let Some((number, store)) = self.cpus[cpu].buffer.head() {
            let Stage::Come(until) = store.stage else { break };
            if store.ready > now {
                // Others may take the line away meanwhile.
                let buffer = &mut self.cpus[cpu].buffer;
                if buffer.finishes < store.ready {
                    buffer.finishes = store.ready;
                    self.events.announce(store.ready, Event::Drain { cpu });
                }
                break;
            }
            if !self.lines.is_writable(store.line, cpu) {
                // Another CPU took the line away while stores in front had none.
                let time = self.request(store.line, Request::store(cpu, number, store.address(), now), now);
                let stage = time.map_or(Stage::Asked, |time| Stage::Come(now + time));
                self.cpus[cpu].buffer.get_mut(number).expect("it is the oldest").stage = stage;
                continue;
            }
            self.lines.line_mut(store.line).state = LineState::Modified;
            if let Some((word, value)) = store.value {
                word.write(value);
            }
            let buffer = &mut self.cpus[cpu].buffer;
            buffer.done = buffer.done.max(until);
            buffer.pop();
        }
        self.wake_writer(cpu, now);
    }

    /// Lets a thread go on that waited for its store buffer.
    fn wake_writer(&mut self, cpu: usize, now: Ticks) {
        let on = &self.cpus[cpu];
        let Some(thread) = on.running else {
            if on.buffer.is_empty() {
                self.drained(cpu, now);
            }
            return;
        };
        let own = &mut self.threads[thread];
        let time = match own.wait {
            Wait::Stores if on.buffer.is_empty() => on.buffer.done.max(now),
            Wait::Room if on.buffer.len() < self.machine.costs().store_buffer => now,
            _ => return,
        };
        let (wait, begin) = (std::mem::take(&mut own.wait), own.clock);
        own.clock = own.clock.max(time);
        if own.is_sharing {
            self.catch_up(thread);
        }
        self.trace_wait(thread, wait, begin..time);
        self.announce_turn(thread);
    }
}
