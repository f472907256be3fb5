//! The operating system's side of CPUs: which of its threads a CPU runs, and for how long.
//!
//! A CPU with one thread knows no scheduler. One that has several runs them in turns: the next is the one that has run for the
//! least time, where a thread that slept counts as if it had run for half a slice less than the others. A thread leaves its CPU
//! when it sleeps, gives way or ends, after a slice, or after a shorter one if another was woken meanwhile. The system does not
//! see that a thread polls. Before another thread comes, the stores of the one that leaves take effect.
//!
//! Source: the completely fair scheduler of Linux, of which this has the rules that its documentation names
//! (`sched-design-CFS`), without weights and groups. Threads that may move between CPUs are in [`moves`](crate::moves).

use crate::costs::{Costs, Ticks};
use crate::events::Event;
use crate::random::Random;
use crate::run_state::{RunState, ThreadState, Wait};
use crate::stops::{LastStores, Stop};

impl RunState {
    /// Adds a thread that begins at this time.
    pub(crate) fn add_thread(&mut self, cpu: usize, begin: Ticks, is_foreign: bool) {
        let thread = self.threads.len();
        let own = &mut self.cpus[cpu];
        own.threads += 1;
        let is_sharing = own.threads > 1 || is_foreign || own.set.is_some();
        own.running = (!is_sharing).then_some(thread);
        let fresh = ThreadState { cpu, clock: begin, quiet: 0..begin, is_foreign, ..ThreadState::default() };
        self.threads.push(ThreadState { is_sharing, is_on_cpu: !is_sharing, watched: u64::MAX, ..fresh });
        // A third thread finds that the others share already.
        if is_sharing && own.threads <= 2 {
            let others = self.threads.iter_mut().filter(|other| other.cpu == cpu);
            others.for_each(|other| (other.is_sharing, other.is_on_cpu) = (true, false));
        }
        self.alive += usize::from(!is_foreign);
        self.announce_turn(thread);
    }

    /// A thread that has slept, or begins, waits for its CPU from now on.
    pub(crate) fn ready(&mut self, thread: usize, now: Ticks) {
        let system = self.machine.costs().system;
        let own = &mut self.threads[thread];
        let cpu = own.cpu;
        let on = &mut self.cpus[cpu];
        own.wait = Wait::Cpu;
        own.waits_since = now;
        own.ran = own.ran.max(on.ran.saturating_sub(system.slice / 2));
        on.ready.push(thread);
        let Some(running) = on.running else {
            if !on.is_draining {
                self.dispatch(cpu, now, 0);
            }
            return;
        };
        // One that is idle takes it.
        if self.idle_near(cpu).is_some_and(|idle| self.dispatch(idle, now, 0)) {
            return;
        }
        let on = &self.cpus[cpu];
        let mut end = (on.since + system.least_slice).max(now);
        let running = &self.threads[running];
        if running.wait == Wait::Poll && running.sleep.gives_way {
            end = end.min(running.sleep.round_at(now));
        }
        self.announce_slice(cpu, end);
    }

    fn announce_slice(&mut self, cpu: usize, end: Ticks) {
        let on = &mut self.cpus[cpu];
        on.slice += 1;
        self.events.announce(end, Event::Slice { cpu, number: on.slice });
    }

    /// Puts the next thread on a CPU that runs none, which takes `switch` if it is another one than before. True if there was
    /// one.
    pub(crate) fn dispatch(&mut self, cpu: usize, now: Ticks, switch: Ticks) -> bool {
        let earliest = if self.cpus[cpu].ready.is_empty() { self.pull(cpu).unwrap_or(0) } else { 0 };
        let Self { cpus, threads, .. } = self;
        let on = &mut cpus[cpu];
        let order = |&(place, &thread): &(usize, &usize)| (threads[thread].ran, place);
        let Some((place, _)) = on.ready.iter().enumerate().min_by_key(order) else { return false };
        let thread = on.ready.remove(place);
        let is_switch = on.last.is_some_and(|last| last != thread);
        self.switches += u64::from(is_switch);
        let switch = if is_switch && switch > 0 { spread(switch, self.machine.costs(), &mut self.random) } else { 0 };
        on.running = Some(thread);
        on.last = Some(thread);
        on.since = now.max(on.idle_since).max(earliest) + switch;
        let (begin, end) = (threads[thread].waits_since, on.since);
        self.trace_wait(thread, Wait::Cpu, begin..end);
        let Self { cpus, threads, .. } = self;
        let (on, own) = (&mut cpus[cpu], &mut threads[thread]);
        on.ran = on.ran.max(own.ran);
        own.is_on_cpu = true;
        own.wait = Wait::No;
        own.clock = on.since + std::mem::take(&mut own.left);
        own.poll.back_on_cpu(own.clock);
        let end = on.since + self.machine.costs().system.slice;
        if !on.ready.is_empty() {
            self.announce_slice(cpu, end);
        }
        if !self.threads[thread].is_foreign {
            self.announce_turn(thread);
        }
        true
    }

    /// A thread has come to its end.
    pub(crate) fn end(&mut self, thread: usize) {
        self.threads[thread].wait = Wait::Ended;
        self.alive -= 1;
        self.leave_cpu(thread);
    }

    /// The slice of a CPU's thread has ended.
    pub(crate) fn end_slice(&mut self, cpu: usize, number: u32, now: Ticks) {
        let on = &mut self.cpus[cpu];
        let Some(thread) = on.running else { return };
        if !on.is_slice(number) || on.ready.is_empty() || self.alive == 0 {
            return;
        }
        let own = &mut self.threads[thread];
        match own.wait {
            Wait::No if own.is_foreign => {}
            Wait::No => {
                own.left = own.clock.saturating_sub(now);
                own.poll.broken();
            }
            Wait::Poll => own.left = own.sleep.from.saturating_sub(now),
            _ => {
                on.is_late = true;
                return;
            }
        }
        let wait = own.wait;
        let begin = std::mem::replace(&mut own.clock, now);
        self.trace_wait(thread, wait, begin..now);
        self.give_back(thread);
    }

    /// A thread whose access is done leaves its CPU if its slice has ended meanwhile.
    pub(crate) fn catch_up(&mut self, thread: usize) {
        let ThreadState { cpu, clock, .. } = self.threads[thread];
        if std::mem::take(&mut self.cpus[cpu].is_late) {
            self.announce_slice(cpu, clock);
        }
    }

    /// True if other threads wait for the CPU of this one.
    pub(crate) fn is_in_the_way(&self, thread: usize) -> bool {
        !self.cpus[self.threads[thread].cpu].ready.is_empty()
    }

    /// A thread leaves its CPU to one that waits for it.
    pub(crate) fn give_way(&mut self, thread: usize) {
        let ready = &self.cpus[self.threads[thread].cpu].ready;
        let next = ready.iter().map(|&other| self.threads[other].ran).min().unwrap_or(0);
        let own = &mut self.threads[thread];
        // Whatever it has run for, another one comes before it.
        own.ran = own.ran.max(next + 1);
        self.give_back(thread);
    }

    /// A thread leaves its CPU, and waits for it again.
    fn give_back(&mut self, thread: usize) {
        let own = &mut self.threads[thread];
        own.turn += 1;
        own.wait = Wait::Cpu;
        own.waits_since = own.clock;
        self.cpus[own.cpu].ready.push(thread);
        self.leave_cpu(thread);
    }

    /// A thread leaves its CPU at its clock: another one comes once the stores have taken effect.
    pub(crate) fn leave_cpu(&mut self, thread: usize) {
        let own = &mut self.threads[thread];
        let (cpu, now) = (own.cpu, own.clock);
        own.switches += 1;
        let on = &mut self.cpus[cpu];
        on.idle_since = now;
        if !own.is_sharing {
            return;
        }
        own.is_on_cpu = false;
        own.ran += now.saturating_sub(on.since);
        on.running = None;
        on.slice += 1;
        on.is_late = false;
        on.is_draining = !on.buffer.is_empty();
        if !on.is_draining {
            on.idle_since = now.max(on.buffer.done);
            self.dispatch(cpu, now, self.machine.costs().system.switch);
            self.fill_idle(cpu, now);
        }
    }

    /// The stores of a CPU have taken effect: a thread comes that waits for that.
    pub(crate) fn drained(&mut self, cpu: usize, now: Ticks) {
        let on = &mut self.cpus[cpu];
        if std::mem::take(&mut on.is_draining) {
            on.idle_since = on.idle_since.max(on.buffer.done).max(now);
            self.dispatch(cpu, now, self.machine.costs().system.switch);
            self.fill_idle(cpu, now);
        }
    }

    /// The time from the call that wakes a thread until it runs, or waits for its CPU.
    pub(crate) fn waking_time(&self, thread: usize, now: Ticks) -> Ticks {
        let (on, is_sharing) = (&self.cpus[self.place_of_woken(thread)], self.threads[thread].is_sharing);
        let system = self.machine.costs().system;
        if is_sharing && on.running.is_some() {
            0
        } else if now.saturating_sub(on.idle_since) < system.short_idle {
            system.woken / 2
        } else {
            system.woken
        }
    }

    /// True if a thread may be stopped before its next access, which begins now.
    pub(crate) fn is_watched(&mut self, thread: usize) -> bool {
        let is_over = self.is_over;
        let own = &mut self.threads[thread];
        own.accesses += 1;
        // Threads that unwind are not stopped any more.
        own.accesses > own.watched && !is_over
    }

    /// The stop of a thread before the access that begins.
    pub(crate) fn stop(&mut self, thread: usize) -> Option<Stop> {
        let own = &mut self.threads[thread];
        own.stops.before(own.accesses - 1)
    }

    /// Takes a thread off its CPU for this time. True if it has to wait for its turn.
    pub(crate) fn take_off(&mut self, thread: usize, time: Ticks) -> bool {
        self.stops += 1;
        self.stopped += time;
        let own = &mut self.threads[thread];
        own.poll.broken();
        if !own.is_sharing {
            let stop = own.clock..own.clock + time;
            (own.quiet, own.clock) = (stop.clone(), stop.end);
            self.trace_wait(thread, Wait::Stopped, stop);
            return false;
        }
        own.wait = Wait::Stopped;
        let ThreadState { clock, turn, .. } = *own;
        self.events.announce(clock + time, Event::Turn { thread, turn });
        self.leave_cpu(thread);
        true
    }

    /// Ends a thread where it is.
    pub(crate) fn kill(&mut self, thread: usize, stores: LastStores) {
        let cpu = self.threads[thread].cpu;
        if stores == LastStores::Lost {
            self.cpus[cpu].buffer.clear();
        }
        self.end(thread);
        self.threads[thread].wait = Wait::Killed;
    }
}

/// The time of a switch, which differs by chance on some machines.
fn spread(switch: Ticks, costs: &Costs, random: &mut Random) -> Ticks {
    match costs.system.switch_spread {
        0 => switch,
        spread => (switch + random.below(2 * spread + 1)).saturating_sub(spread),
    }
}
