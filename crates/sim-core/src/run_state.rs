//! The state of a run: the clocks of CPUs, their store buffers, the lines, and the rules by which lines move.

use crate::costs::{Access, LineState, Ticks, units};
use crate::events::{Events, Happening};
use crate::lines::{Line, Lines, Request};
use crate::machine::Machine;
use crate::poll::{Poll, Sleep};
use crate::report::Counts;
use crate::sleepers::Sleepers;
use crate::store_buffer::{Pending, Stage, StoreBuffer};

/// The state of a run.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) machine: Machine,
    pub(crate) events: Events,
    pub(crate) lines: Lines,
    pub(crate) cpus: Vec<Cpu>,
    /// The time at which the home of each node is free.
    homes: Vec<Ticks>,
    sleepers: Sleepers,
    pub(crate) counts: Counts,
    /// True once the run has ended: threads that are left unwind, and access memory without cost.
    pub(crate) is_over: bool,
}

/// A CPU, and the thread on it.
#[derive(Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) clock: Ticks,
    /// The number of the thread's next turn. A turn that was announced with another number is void.
    pub(crate) turn: u32,
    pub(crate) wait: Wait,
    pub(crate) buffer: StoreBuffer,
    pub(crate) poll: Poll,
    sleep: Sleep,
}

/// The reason for which a thread does not run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Wait {
    /// There is none: it runs, or its turn is announced.
    #[default]
    No,
    /// It waits for a line.
    Line,
    /// It sleeps until a line that it polls changes.
    Poll,
    /// It sleeps until it is woken.
    Wake,
    /// It waits until its store buffer is empty.
    Stores,
    /// It waits for room in its store buffer.
    Room,
    /// It has ended, or none was started.
    Ended,
}

impl RunState {
    pub(crate) fn new(machine: &Machine) -> Self {
        let cpus = || Cpu { wait: Wait::Ended, ..Cpu::default() };
        Self {
            events: Events::default(),
            lines: Lines::new(machine.cpus()),
            cpus: (0..machine.cpus()).map(|_| cpus()).collect(),
            homes: vec![0; machine.nodes()],
            sleepers: Sleepers::default(),
            counts: Counts::default(),
            is_over: false,
            machine: machine.clone(),
        }
    }

    /// Announces that the thread of a CPU goes on at its clock.
    pub(crate) fn announce_turn(&mut self, cpu: usize) {
        let Cpu { clock, turn, .. } = self.cpus[cpu];
        self.events.announce(clock, Happening::Turn { cpu, turn });
    }

    /// True if nothing is left to happen, as a thread has gone on since its turn was announced.
    pub(crate) fn is_void(&self, happening: Happening) -> bool {
        matches!(happening, Happening::Turn { cpu, turn } if self.cpus[cpu].turn != turn)
    }

    /// True if the thread of this CPU goes on now, in the turn with this number.
    pub(crate) fn take_turn(&mut self, cpu: usize, turn: u32, now: Ticks) -> bool {
        let own = &mut self.cpus[cpu];
        if own.turn != turn {
            return false;
        }
        own.turn += 1;
        own.clock = own.clock.max(now);
        if own.wait == Wait::Poll {
            own.poll.woken(now);
        }
        own.wait = Wait::No;
        true
    }

    /// The number of the line of this address.
    pub(crate) fn line_of(&mut self, address: usize, cpu: usize) -> usize {
        self.lines.number(address, self.machine.seat(cpu).node)
    }

    /// Asks for a line: the time until it has come, or `None` if the request waits.
    pub(crate) fn request(&mut self, number: usize, request: Request, now: Ticks) -> Option<Ticks> {
        let line = self.lines.line_mut(number);
        if line.busy <= now && line.queue.is_empty() {
            return Some(self.grant(number, request, now));
        }
        line.queue.push_back(request);
        if !line.is_announced {
            line.is_announced = true;
            self.events.announce(line.busy.max(now), Happening::Free { line: number });
        }
        None
    }

    /// Serves the oldest request that waits for a line. The CPU whose thread goes on now, if there is one.
    pub(crate) fn free(&mut self, number: usize, now: Ticks) -> Option<usize> {
        let line = self.lines.line_mut(number);
        line.is_announced = false;
        let request = line.queue.pop_front()?;
        let time = self.grant(number, request, now);
        let line = self.lines.line_mut(number);
        if !line.queue.is_empty() {
            line.is_announced = true;
            self.events.announce(line.busy, Happening::Free { line: number });
        }
        if request.access == Access::Store {
            if let Some(store) = self.cpus[request.cpu].buffer.get_mut(request.store) {
                store.stage = Stage::Come(now + time);
            }
            self.finish_stores(request.cpu, now);
            return None;
        }
        let own = &mut self.cpus[request.cpu];
        own.clock = now + time;
        own.wait = Wait::No;
        Some(request.cpu)
    }

    /// Gives a line to a request, which takes effect now. The time until the line has come.
    fn grant(&mut self, number: usize, request: Request, now: Ticks) -> Ticks {
        let Request { cpu, access, .. } = request;
        if self.is_hit(number, cpu, access) {
            return self.machine.costs().hit;
        }
        let time = self.time_of(number, request, now);
        let has_owned = self.machine.costs().protocol.has_owned;
        let line = self.lines.line_mut(number);
        match (access, line.state) {
            (Access::Load, LineState::Invalid) => (line.state, line.owner) = (LineState::Exclusive, cpu),
            (Access::Load, LineState::Modified) if has_owned => line.state = LineState::Owned,
            (Access::Load, LineState::Exclusive | LineState::Modified) => line.state = LineState::Shared,
            (Access::Load, LineState::Owned | LineState::Shared) => {}
            (Access::Store | Access::ReadModifyWrite, _) => (line.state, line.owner) = (LineState::Modified, cpu),
        }
        line.busy = now + self.machine.costs().occupied(access, time);
        if access == Access::Load {
            self.lines.add_copy(number, cpu);
        } else {
            self.lines.keep_only(number, cpu);
            self.wake_polls(number, now + time / 2);
        }
        time
    }

    /// True if the CPU needs no request for this access.
    pub(crate) fn is_hit(&self, number: usize, cpu: usize, access: Access) -> bool {
        match access {
            Access::Load => self.lines.has_copy(number, cpu),
            Access::Store | Access::ReadModifyWrite => self.lines.is_writable(number, cpu),
        }
    }

    /// The time of a request that is served now.
    fn time_of(&mut self, number: usize, request: Request, now: Ticks) -> Ticks {
        let Request { cpu, access, .. } = request;
        let (distance, from) = self.source(number, cpu, access);
        let line = self.lines.line(number);
        let costs = self.machine.costs();
        let base = match line.state {
            LineState::Invalid => costs.memory[distance],
            held => costs.of(access).of(held)[distance],
        };
        let is_directory = costs.protocol.has_directory;
        let detour = if is_directory && line.has_owner() { self.detour(line, cpu) } else { 0 };
        let leaves = self.machine.seat(from).package != self.machine.seat(cpu).package;
        let conflict = if !line.queue.is_empty() && leaves { (costs.conflict * base as f64) as Ticks } else { 0 };
        let (home, service) = (usize::from(line.home), costs.service);
        let mut waited = 0;
        if is_directory || leaves {
            waited = self.homes[home].saturating_sub(now);
            self.homes[home] = self.homes[home].max(now) + service;
        }
        self.counts.transfer(distance, line.state == LineState::Invalid);
        base + detour + conflict + waited
    }

    /// The distance that decides the time of an access, and the CPU at that distance.
    fn source(&self, number: usize, cpu: usize, access: Access) -> (usize, usize) {
        let (line, machine) = (self.lines.line(number), &self.machine);
        let of_home = || (machine.distance_of_node(line.home, cpu), machine.first_of(line.home));
        let of_owner = || (machine.distance(line.owner, cpu), line.owner);
        let others = self.lines.holders(number).filter(|&other| other != cpu);
        let others = others.map(|other| (machine.distance(other, cpu), other));
        match (line.state, access) {
            (LineState::Invalid, _) => of_home(),
            (LineState::Modified | LineState::Exclusive, _) | (LineState::Owned, Access::Load) => of_owner(),
            (LineState::Shared, Access::Load) if machine.costs().protocol.has_directory => of_home(),
            (LineState::Shared, Access::Load) => others.min().unwrap_or((0, cpu)),
            (LineState::Shared | LineState::Owned, _) => others.max().unwrap_or((0, cpu)),
        }
    }

    /// The time that a request takes longer as the home of the line is not on the way between its CPU and the owner.
    fn detour(&self, line: &Line, cpu: usize) -> Ticks {
        let machine = &self.machine;
        let times = &machine.costs().load.modified;
        let hop = |distance: usize| times[distance].saturating_sub(times[0]) / 2;
        let direct = hop(machine.distance(line.owner, cpu));
        let around =
            hop(machine.distance_of_node(line.home, cpu)) + hop(machine.distance_of_node(line.home, line.owner));
        (around + direct).saturating_sub(2 * direct)
    }

    /// Lets the threads that poll a line go on in their first round after their copy is gone.
    fn wake_polls(&mut self, number: usize, gone: Ticks) {
        let mut parked = std::mem::take(&mut self.lines.line_mut(number).parked);
        for (cpu, turn) in parked.drain(..) {
            let own = &mut self.cpus[cpu];
            if own.turn == turn && own.wait == Wait::Poll {
                own.turn += 1;
                let Cpu { turn, sleep, .. } = *own;
                self.events.announce(sleep.round_at(gone), Happening::Turn { cpu, turn });
            }
        }
        // Its room serves the next sleepers.
        self.lines.line_mut(number).parked = parked;
    }

    /// Puts the thread of a CPU to sleep until a line that it polls changes. False if one has changed already.
    pub(crate) fn park(&mut self, cpu: usize, sleep: Sleep) -> bool {
        let Self { cpus, lines, events, .. } = self;
        let own = &mut cpus[cpu];
        let polled = own.poll.lines();
        if !own.buffer.is_empty() || polled.iter().any(|&line| !lines.has_copy(line, cpu)) {
            return false;
        }
        polled.iter().for_each(|&line| lines.line_mut(line).parked.push((cpu, own.turn)));
        own.wait = Wait::Poll;
        own.sleep = sleep;
        if let Some(longest) = sleep.longest {
            let turn = Happening::Turn { cpu, turn: own.turn };
            events.announce(sleep.round_at(sleep.from + longest), turn);
        }
        true
    }

    /// Puts the thread of a CPU to sleep on the word at this address, for at most this time.
    pub(crate) fn sleep(&mut self, cpu: usize, address: usize, longest: Ticks) {
        let own = &mut self.cpus[cpu];
        own.wait = Wait::Wake;
        self.sleepers.push(address, cpu, own.turn);
        let turn = Happening::Turn { cpu, turn: own.turn };
        self.events.announce(own.clock.saturating_add(longest), turn);
    }

    /// Wakes at most this number of the threads that sleep on the word at this address, for the thread of a CPU.
    pub(crate) fn wake(&mut self, waker: usize, address: usize, at_most: u32) {
        let system = self.machine.costs().system.clone();
        self.cpus[waker].clock += system.wake;
        for _ in 0..at_most {
            let sleeps = |cpu: usize, turn: u32| self.cpus[cpu].turn == turn && self.cpus[cpu].wait == Wait::Wake;
            let Some(cpu) = self.sleepers.pop(address, sleeps) else { return };
            let time = self.cpus[waker].clock + system.woken;
            let own = &mut self.cpus[cpu];
            own.turn += 1;
            let turn = Happening::Turn { cpu, turn: own.turn };
            self.events.announce(time, turn);
        }
    }

    /// Puts a store into the buffer of its CPU, which has room.
    pub(crate) fn push_store(&mut self, cpu: usize, store: Pending) {
        let is_next = self.events.are_later_than(self.cpus[cpu].clock);
        let own = &mut self.cpus[cpu];
        let now = own.clock;
        own.clock += units(1);
        own.buffer.push(store);
        if own.buffer.is_announced {
            return;
        }
        own.buffer.is_announced = true;
        let time = now.max(own.buffer.next_request);
        if is_next && time == now {
            self.drain(cpu, now);
        } else {
            self.events.announce(time, Happening::Drain { cpu });
        }
    }

    /// Asks for the line of the next store.
    pub(crate) fn drain(&mut self, cpu: usize, now: Ticks) {
        self.cpus[cpu].buffer.is_announced = false;
        let Some((number, store)) = self.cpus[cpu].buffer.next_new() else { return };
        let line = store.line;
        let (mut stage, mut gap) = (Stage::Come(now), units(1));
        if !self.lines.is_writable(line, cpu) {
            let (distance, _) = self.source(line, cpu, Access::Store);
            gap = self.machine.costs().gap[distance];
            let time = self.request(line, Request { cpu, access: Access::Store, store: number }, now);
            stage = time.map_or(Stage::Asked, |time| Stage::Come(now + time));
        }
        let buffer = &mut self.cpus[cpu].buffer;
        buffer.get_mut(number).expect("it is in the buffer").stage = stage;
        buffer.next_request = now + gap;
        if buffer.next_new().is_some() {
            buffer.is_announced = true;
            self.events.announce(now + gap, Happening::Drain { cpu });
        }
        self.finish_stores(cpu, now);
    }

    /// Lets the oldest stores whose lines have come take effect.
    fn finish_stores(&mut self, cpu: usize, now: Ticks) {
        while let Some((number, store)) = self.cpus[cpu].buffer.head() {
            let Stage::Come(until) = store.stage else { break };
            if !self.lines.is_writable(store.line, cpu) {
                // Another CPU took the line away while stores in front had none.
                let time = self.request(store.line, Request { cpu, access: Access::Store, store: number }, now);
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
        let most = self.machine.costs().store_buffer;
        let own = &mut self.cpus[cpu];
        let time = match own.wait {
            Wait::Stores if own.buffer.is_empty() => own.buffer.done.max(now),
            Wait::Room if own.buffer.len() < most => now,
            _ => return,
        };
        own.wait = Wait::No;
        own.clock = own.clock.max(time);
        self.announce_turn(cpu);
    }
}
