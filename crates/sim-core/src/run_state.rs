//! The state of a run: its threads, the CPUs that they are on, the lines, and the threads that sleep.

use std::ops::Range;

use crate::costs::Ticks;
use crate::cpu::Cpu;
use crate::error::{Reason, Waiting};
use crate::events::{Event, Events};
use crate::lines::Lines;
use crate::machine::Machine;
use crate::poll::{Poll, Sleep};
use crate::random::Random;
use crate::report::Counts;
use crate::sleepers::Sleepers;
use crate::stops::Stops;
use crate::trace::Recorder;
use crate::under_way::UnderWay;

/// The state of a run.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) machine: Machine,
    pub(crate) events: Events,
    pub(crate) lines: Lines,
    pub(crate) cpus: Vec<Cpu>,
    pub(crate) threads: Vec<ThreadState>,
    /// The CPUs of each set among which threads may move.
    pub(crate) sets: Vec<Vec<usize>>,
    /// The time at which the home of each node is free.
    pub(crate) homes: Vec<Ticks>,
    sleepers: Sleepers,
    pub(crate) counts: Counts,
    /// By how much switches differ.
    pub(crate) random: Random,
    /// Sleeps that are to last for this time at least end only by a wake-up.
    pub(crate) lasting: Ticks,
    /// Threads that were put on a CPU that had run another one.
    pub(crate) switches: u64,
    /// Threads that came to another CPU than the one that they had been on.
    pub(crate) moves: u64,
    /// Stops of threads, and their time together.
    pub(crate) stops: u64,
    pub(crate) stopped: Ticks,
    /// The trace that was asked for.
    pub(crate) recorder: Option<Box<Recorder>>,
    /// Threads that have not ended. Foreign load is not among them.
    pub(crate) alive: usize,
    /// True once the run has ended: threads that are left unwind, and access memory without cost.
    pub(crate) is_over: bool,
}

/// A thread.
#[derive(Debug, Default)]
pub(crate) struct ThreadState {
    /// Its CPU, also while another thread runs there; the last one where it may move.
    pub(crate) cpu: usize,
    /// Its time: it has done all that comes before.
    pub(crate) clock: Ticks,
    /// The time at which its last access is complete.
    pub(crate) comes: Ticks,
    /// Its accesses that are not complete.
    pub(crate) under_way: UnderWay,
    /// The number of its next turn. A turn that was announced with another number is void.
    pub(crate) turn: u32,
    pub(crate) wait: Wait,
    pub(crate) poll: Poll,
    pub(crate) sleep: Sleep,
    /// The accesses that it has begun.
    pub(crate) accesses: u64,
    /// The first access that may have a stop.
    pub(crate) watched: u64,
    pub(crate) stops: Stops,
    /// The line that it accessed last.
    pub(crate) line: Option<usize>,
    /// True if it has its CPU: always, on a CPU that it shares with no other thread and does not leave for another one.
    pub(crate) is_on_cpu: bool,
    /// True if it runs on its CPU by turns with others, or may move.
    pub(crate) is_sharing: bool,
    /// True if it only computes, and has no end.
    pub(crate) is_foreign: bool,
    /// The times that it left its CPU.
    pub(crate) switches: u64,
    /// The time that it has still to compute for once it is back on its CPU.
    pub(crate) left: Ticks,
    /// The time for which it has run, by which those that wait for a CPU take turns.
    pub(crate) ran: Ticks,
    /// The time since which it waits for a CPU.
    pub(crate) waits_since: Ticks,
    /// The last time for which it leaves its share of a core to other CPUs.
    pub(crate) quiet: Range<Ticks>,
}

/// The reason for which a thread does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wait {
    /// There is none: it runs, or its turn is announced.
    #[default]
    No,
    /// It waits for a line.
    Line,
    /// It sleeps until a line that it polls changes. For the system it runs.
    Poll,
    /// It sleeps until it is woken.
    Wake,
    /// It waits until its store buffer is empty.
    Stores,
    /// It waits for room in its store buffer.
    Room,
    /// It waits for its CPU, which another thread has.
    Cpu,
    /// It was taken off its CPU for some time.
    Stopped,
    /// It has ended.
    Ended,
    /// It was killed.
    Killed,
}

impl ThreadState {
    /// Waits until all its accesses are complete: its time then.
    pub(crate) fn settle(&mut self) -> Ticks {
        self.clock = self.under_way.settled(self.clock);
        self.clock
    }

    /// Waits until its read-modify-writes are complete: its time then. Loads may be under way still.
    pub(crate) fn order(&mut self) -> Ticks {
        self.clock = self.under_way.ordered(self.clock);
        self.clock
    }

    /// Goes on after an access that took effect now and comes at this time: after the time of a hit if accesses may overlap.
    pub(crate) fn go_on(&mut self, now: Ticks, comes: Ticks, hit: Ticks, ahead: usize) {
        self.comes = comes;
        if ahead == 0 {
            self.clock = comes;
            return;
        }
        self.under_way.add(comes);
        self.clock = comes.min(now + hit);
    }

    /// The reason for which it waits or has waited; it has this number.
    pub(crate) fn waiting(&self, thread: usize, wait: Wait) -> Waiting {
        let reason = match wait {
            Wait::No | Wait::Ended => Reason::Runs,
            Wait::Line => Reason::Line,
            Wait::Poll => Reason::Polls,
            Wait::Wake => Reason::Sleeps,
            Wait::Stores | Wait::Room => Reason::Stores,
            Wait::Cpu => Reason::Cpu,
            Wait::Stopped => Reason::Stopped,
            Wait::Killed => Reason::Killed,
        };
        let lines = if reason == Reason::Polls { self.poll.lines().to_vec() } else { self.line.into_iter().collect() };
        Waiting { thread, cpu: self.cpu, reason, lines }
    }
}

impl RunState {
    pub(crate) fn new(machine: &Machine) -> Self {
        Self {
            events: Events::default(),
            lines: Lines::new(machine.cpus()),
            cpus: (0..machine.cpus()).map(|_| Cpu::default()).collect(),
            threads: Vec::new(),
            sets: Vec::new(),
            homes: vec![0; machine.nodes()],
            sleepers: Sleepers::default(),
            counts: Counts::default(),
            random: Random::new(0, 0),
            lasting: Ticks::MAX,
            switches: 0,
            moves: 0,
            stops: 0,
            stopped: 0,
            recorder: None,
            alive: 0,
            is_over: false,
            machine: machine.clone(),
        }
    }

    /// Announces that a thread goes on at its clock.
    pub(crate) fn announce_turn(&mut self, thread: usize) {
        let ThreadState { clock, turn, .. } = self.threads[thread];
        self.events.announce(clock, Event::Turn { thread, turn });
    }

    /// True if nothing is left to happen, as a thread has gone on since its turn was announced, or its slice has ended.
    pub(crate) fn is_void(&self, event: Event) -> bool {
        match event {
            Event::Turn { thread, turn } => self.threads[thread].turn != turn,
            Event::Slice { cpu, number } => self.alive == 0 || !self.cpus[cpu].is_slice(number),
            Event::Drain { .. } | Event::Free { .. } => false,
        }
    }

    /// True if this thread goes on now, in the turn with this number.
    pub(crate) fn take_turn(&mut self, thread: usize, turn: u32, now: Ticks) -> bool {
        let own = &mut self.threads[thread];
        if own.turn != turn {
            return false;
        }
        own.turn += 1;
        let (wait, begin) = (own.wait, own.clock);
        own.clock = own.clock.max(now);
        self.trace_wait(thread, wait, begin..now);
        let own = &mut self.threads[thread];
        if !own.is_on_cpu {
            self.ready(thread, now);
            return false;
        }
        if own.wait == Wait::Poll {
            own.poll.woken(now);
        }
        own.wait = Wait::No;
        true
    }

    /// The number of the line of this address.
    pub(crate) fn line_of(&mut self, address: usize, cpu: usize) -> usize {
        self.lines.number(address, self.machine.location(cpu).node)
    }

    /// Puts a thread to sleep until a line that it polls changes. False if one has changed already.
    pub(crate) fn park(&mut self, thread: usize, sleep: Sleep) -> bool {
        let Self { threads, cpus, lines, events, .. } = self;
        let own = &mut threads[thread];
        let polled = own.poll.lines();
        if !cpus[own.cpu].buffer.is_empty() || polled.iter().any(|&line| !lines.has_copy(line, own.cpu)) {
            return false;
        }
        polled.iter().for_each(|&line| lines.line_mut(line).parked.push((thread, own.turn)));
        own.wait = Wait::Poll;
        own.sleep = sleep;
        if let Some(longest) = sleep.longest {
            let turn = Event::Turn { thread, turn: own.turn };
            events.announce(sleep.round_at(sleep.from + longest), turn);
        }
        true
    }

    /// Puts a thread to sleep on the word at this address, for at most this time, or until it is woken if that is long.
    pub(crate) fn sleep(&mut self, thread: usize, address: usize, longest: Ticks) {
        let own = &mut self.threads[thread];
        own.wait = Wait::Wake;
        self.sleepers.push(address, thread, own.turn);
        if longest < self.lasting {
            let turn = Event::Turn { thread, turn: own.turn };
            self.events.announce(own.clock.saturating_add(longest), turn);
        }
        self.leave_cpu(thread);
    }

    /// Puts a thread to sleep until this time, or for a moment if it has come.
    pub(crate) fn sleep_until(&mut self, thread: usize, time: Ticks) {
        let own = &mut self.threads[thread];
        own.wait = Wait::Wake;
        let turn = Event::Turn { thread, turn: own.turn };
        self.events.announce(time.max(own.clock), turn);
        self.leave_cpu(thread);
    }

    /// Wakes at most this number of the threads that sleep on the word at this address, for another thread.
    pub(crate) fn wake(&mut self, waker: usize, address: usize, at_most: u32) {
        self.threads[waker].clock += self.machine.costs().system.wake;
        let now = self.threads[waker].clock;
        for _ in 0..at_most {
            let sleeps = |thread: usize, turn: u32| {
                let own = &self.threads[thread];
                own.turn == turn && own.wait == Wait::Wake
            };
            let Some(thread) = self.sleepers.pop(address, sleeps) else { return };
            let time = now + self.waking_time(thread, now);
            let own = &mut self.threads[thread];
            own.turn += 1;
            let turn = Event::Turn { thread, turn: own.turn };
            self.events.announce(time, turn);
        }
    }
}
