//! Threads that move between CPUs: the operating system's balance, in its simple form.
//!
//! CPUs among which threads may move make a set. A thread that is woken goes to its CPU if that is idle, else to the nearest idle
//! one of the set (of those whose core is idle, too, if there are such), else back to its CPU, for which it waits. A CPU that has
//! nothing to run takes the thread that waits for the longest time at another CPU of the set. So no thread waits while a CPU of
//! its set is idle, but for the time in which the stores of its last CPU take effect. The lines of a thread that moves stay where
//! they are. Foreign load does not move.
//!
//! Threads that wait are not spread evenly while all CPUs are busy: of three threads on two CPUs one may have a CPU for itself.

use crate::costs::Ticks;
use crate::run_state::RunState;

impl RunState {
    /// Lets the threads of these CPUs move among them, those that were put there and those that will be.
    pub(crate) fn let_move(&mut self, cpus: &[usize]) {
        for &cpu in cpus {
            self.cpus[cpu].set = Some(self.sets.len());
            self.cpus[cpu].running = None;
        }
        for own in self.threads.iter_mut().filter(|own| cpus.contains(&own.cpu)) {
            (own.is_sharing, own.is_on_cpu) = (true, false);
        }
        self.sets.push(cpus.to_vec());
    }

    /// True if a thread has no CPU for itself: others are put on its CPU, or more threads on the CPUs of its set than these are.
    pub(crate) fn shares_cpu(&self, thread: usize) -> bool {
        let own = &self.threads[thread];
        match self.cpus[own.cpu].set.map(|set| &self.sets[set]) {
            Some(set) => set.iter().map(|&cpu| self.cpus[cpu].threads).sum::<usize>() > set.len(),
            None => own.is_sharing,
        }
    }

    /// The CPU to which a thread goes that is woken.
    pub(crate) fn place_of_woken(&self, thread: usize) -> usize {
        let own = &self.threads[thread];
        let is_free = self.cpus[own.cpu].running.is_none() || own.is_foreign;
        if is_free { own.cpu } else { self.idle_near(own.cpu).unwrap_or(own.cpu) }
    }

    /// Idle CPUs of the set of this CPU take threads that wait in it.
    pub(crate) fn fill_idle(&mut self, cpu: usize, now: Ticks) {
        while let Some(idle) = self.idle_near(cpu) {
            if !self.dispatch(idle, now, self.machine.costs().system.switch) {
                break;
            }
        }
    }

    /// The idle CPU of the set of this CPU that is nearest to it; one whose core is idle before one whose core is not.
    pub(crate) fn idle_near(&self, cpu: usize) -> Option<usize> {
        let set = &self.sets[self.cpus[cpu].set?];
        let idle = set.iter().copied().filter(|&other| self.cpus[other].is_idle());
        let busy = |other: usize| self.machine.siblings(other).iter().filter(|&&cpu| !self.cpus[cpu].is_idle()).count();
        idle.min_by_key(|&other| (busy(other), self.machine.distance(cpu, other), other))
    }

    /// Takes the thread that waits for the longest time at another CPU of the set, if one does, to this CPU, which it waits for
    /// from then on. The time before which it cannot run.
    pub(crate) fn pull(&mut self, cpu: usize) -> Option<Ticks> {
        let set = &self.sets[self.cpus[cpu].set?];
        let others = set.iter().copied().filter(|&other| other != cpu && !self.cpus[other].is_draining);
        let waiting = others.flat_map(|other| self.cpus[other].ready.iter().copied());
        let movable = waiting.filter(|&thread| !self.threads[thread].is_foreign);
        let thread = movable.min_by_key(|&thread| (self.threads[thread].waits_since, thread))?;
        let half = self.machine.costs().system.slice / 2;
        let own = &mut self.threads[thread];
        let from = std::mem::replace(&mut own.cpu, cpu);
        let ran = self.cpus[cpu].ran;
        own.ran = own.ran.clamp(ran.saturating_sub(half), ran + half);
        self.cpus[from].ready.retain(|&other| other != thread);
        self.cpus[cpu].ready.push(thread);
        self.moves += 1;
        Some(own.waits_since.max(self.cpus[from].idle_since))
    }
}
