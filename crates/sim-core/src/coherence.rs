//! The rules by which lines move: whom a request waits for, what it takes, and the state in which it leaves the line.

use crate::costs::{Access, Costs, LineState, Ticks};
use crate::events::Event;
use crate::lines::{Line, Request};
use crate::run_state::{RunState, ThreadState, Wait};
use crate::store_buffer::Stage;
use crate::trace::{Answerer, Granted, Source};

impl RunState {
    /// Asks for a line: the time until it has come, or `None` if the request waits.
    pub(crate) fn request(&mut self, number: usize, request: Request, now: Ticks) -> Option<Ticks> {
        let line = self.lines.line_mut(number);
        if line.busy <= now && line.queue.is_empty() {
            return Some(self.grant(number, request, now));
        }
        line.queue.push_back(request);
        if !line.is_announced {
            line.is_announced = true;
            self.events.announce(line.busy.max(now), Event::Free { line: number });
        }
        None
    }

    /// Serves the oldest request that waits for a line. The thread that goes on now, if there is one.
    pub(crate) fn free(&mut self, number: usize, now: Ticks) -> Option<usize> {
        let line = self.lines.line_mut(number);
        line.is_announced = false;
        let request = line.queue.pop_front()?;
        let time = self.grant(number, request, now);
        let line = self.lines.line_mut(number);
        if !line.queue.is_empty() {
            line.is_announced = true;
            self.events.announce(line.busy, Event::Free { line: number });
        }
        if request.access == Access::Store {
            if let Some(store) = self.cpus[request.cpu].buffer.get_mut(request.store) {
                store.stage = Stage::Come(now + time);
            }
            self.finish_stores(request.cpu, now);
            return None;
        }
        self.comes(request.thread, request.access, now, time);
        let own = &mut self.threads[request.thread];
        own.wait = Wait::No;
        if own.is_sharing {
            self.catch_up(request.thread);
        }
        Some(request.thread)
    }

    /// The line of a thread's access comes after this time.
    pub(crate) fn comes(&mut self, thread: usize, access: Access, now: Ticks, time: Ticks) {
        let Costs { hit, ahead, read_modify_write_hit, .. } = *self.machine.costs();
        let own = &mut self.threads[thread];
        let is_poll = access == Access::Load && own.under_way.look();
        let mut comes = now + time;
        if access == Access::ReadModifyWrite {
            comes = comes.max(own.under_way.settled(now) + read_modify_write_hit);
        }
        own.go_on(now, comes, hit, ahead);
        if access == Access::ReadModifyWrite {
            own.under_way.order();
        }
        if is_poll {
            own.settle();
        }
    }

    /// Gives a line to a request, which takes effect now. The time until the line has come.
    fn grant(&mut self, number: usize, request: Request, now: Ticks) -> Ticks {
        let Request { cpu, access, .. } = request;
        let before = self.traced_holding(number);
        let granted = |time, source| before.map(|before| Granted { served: now, time, source, before });
        if self.is_hit(number, cpu, access) {
            let time = self.machine.costs().hit;
            if let Some(granted) = granted(time, None) {
                self.record_request(number, request, granted);
            }
            return time;
        }
        let (time, source) = self.time_of(number, request, now);
        self.counts.transfer(source.distance, source.answerer == Answerer::Memory);
        let has_owned = self.machine.costs().protocol.has_owned;
        let moves = access == Access::Load && self.migrates(number, cpu);
        let line = self.lines.line_mut(number);
        match (access, line.state) {
            (Access::Load, LineState::Invalid) => (line.state, line.owner) = (LineState::Exclusive, cpu),
            (Access::Load, LineState::Modified) if moves => (line.state, line.owner) = (LineState::Exclusive, cpu),
            (Access::Load, LineState::Modified) if has_owned => line.state = LineState::Owned,
            (Access::Load, LineState::Exclusive | LineState::Modified) => line.state = LineState::Shared,
            (Access::Load, LineState::Owned | LineState::Shared) => {}
            (Access::Store | Access::ReadModifyWrite, _) => (line.state, line.owner) = (LineState::Modified, cpu),
        }
        line.arrives = now + time;
        // A line that changes hands is busy until it has come, as for a store.
        let access = if moves { Access::Store } else { access };
        line.busy = now + self.machine.costs().occupied(access, time);
        if access == Access::Load {
            self.lines.add_copy(number, cpu);
        } else {
            self.lines.keep_only(number, cpu);
            self.wake_polls(number, now + time / 2);
        }
        if let Some(granted) = granted(time, Some(source)) {
            self.record_request(number, request, granted);
        }
        time
    }

    /// The time at which a line comes that was granted to this CPU alone; 0 for all others.
    pub(crate) fn arrives(&self, number: usize, cpu: usize) -> Ticks {
        let is_overlapping = self.machine.costs().ahead > 0;
        if is_overlapping && self.lines.is_writable(number, cpu) { self.lines.line(number).arrives } else { 0 }
    }

    /// True if a load by this CPU takes a line away from its owner, with the right to write it.
    fn migrates(&self, number: usize, cpu: usize) -> bool {
        let (line, machine) = (self.lines.line(number), &self.machine);
        let is_modified = line.state == LineState::Modified && !machine.costs().protocol.has_owned;
        is_modified && machine.location(line.owner).package == machine.location(cpu).package
    }

    /// True if the CPU needs no request for this access.
    pub(crate) fn is_hit(&self, number: usize, cpu: usize, access: Access) -> bool {
        match access {
            Access::Load => self.lines.has_copy(number, cpu),
            Access::Store | Access::ReadModifyWrite => self.lines.is_writable(number, cpu),
        }
    }

    /// The time of a request that is served now, and the answer.
    fn time_of(&mut self, number: usize, request: Request, now: Ticks) -> (Ticks, Source) {
        let Request { cpu, access, .. } = request;
        if let Some(served) = self.time_within_core(number, cpu, access) {
            return served;
        }
        let source = self.source(number, cpu, access);
        let Source { distance, cpu: from, .. } = source;
        let line = self.lines.line(number);
        let costs = self.machine.costs();
        let base = match line.state {
            LineState::Invalid => costs.memory[distance],
            held => costs.of(access).of(held)[distance],
        };
        let is_directory = costs.protocol.has_directory;
        let detour = if is_directory && line.has_owner() { self.detour(line, cpu) } else { 0 };
        let leaves = self.machine.location(from).package != self.machine.location(cpu).package;
        let conflict = if !line.queue.is_empty() && leaves { (costs.kappa * base as f64) as Ticks } else { 0 };
        let (home, service) = (usize::from(line.home), costs.service);
        let mut waited = 0;
        if is_directory || leaves {
            waited = self.homes[home].saturating_sub(now);
            self.homes[home] = self.homes[home].max(now) + service;
        }
        (base + detour + conflict + waited, source)
    }

    /// The distance that decides the time of an access, and the CPU at that distance.
    pub(crate) fn source(&self, number: usize, cpu: usize, access: Access) -> Source {
        let (line, machine) = (self.lines.line(number), &self.machine);
        let of_home = |answerer| {
            let distance = machine.distance_of_node(line.home, cpu);
            Source { distance, cpu: machine.first_of(line.home), answerer }
        };
        let of_holder = |(distance, cpu)| Source { distance, cpu, answerer: Answerer::Holder };
        let of_owner = || of_holder((machine.distance(line.owner, cpu), line.owner));
        match (line.state, access) {
            (LineState::Invalid, _) => of_home(Answerer::Memory),
            (LineState::Modified | LineState::Exclusive, _) | (LineState::Owned, Access::Load) => of_owner(),
            (LineState::Shared, Access::Load) if machine.costs().protocol.has_directory => of_home(Answerer::Home),
            (LineState::Shared, Access::Load) => of_holder(self.nearest(number, cpu).unwrap_or((0, cpu))),
            (LineState::Shared | LineState::Owned, _) => of_holder(self.farthest(number, cpu).unwrap_or((0, cpu))),
        }
    }

    /// The nearest other CPU that has a copy of a line; of equally near ones the first.
    fn nearest(&self, number: usize, cpu: usize) -> Option<(usize, usize)> {
        let mut nearest: Option<(usize, usize)> = None;
        for other in self.lines.holders(number).filter(|&other| other != cpu) {
            let distance = self.machine.distance(other, cpu);
            if nearest.is_none_or(|(least, _)| distance < least) {
                nearest = Some((distance, other));
            }
            if distance == 0 {
                break;
            }
        }
        nearest
    }

    /// The farthest other CPU that has a copy of a line; of equally far ones the last.
    fn farthest(&self, number: usize, cpu: usize) -> Option<(usize, usize)> {
        let mut farthest: Option<(usize, usize)> = None;
        for other in self.lines.holders_from_last(number).filter(|&other| other != cpu) {
            let distance = self.machine.distance(other, cpu);
            if farthest.is_none_or(|(most, _)| distance > most) {
                farthest = Some((distance, other));
            }
            if distance == self.machine.farthest() {
                break;
            }
        }
        farthest
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
        for (thread, turn) in parked.drain(..) {
            let own = &mut self.threads[thread];
            if own.turn == turn && own.wait == Wait::Poll {
                own.turn += 1;
                let ThreadState { turn, sleep, .. } = *own;
                self.events.announce(sleep.round_at(gone), Event::Turn { thread, turn });
            }
        }
        // Its room serves the next sleepers.
        self.lines.line_mut(number).parked = parked;
    }
}
