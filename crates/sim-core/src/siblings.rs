//! CPUs that share a core: how much they slow each other down, and the lines that they find in their common cache.
//!
//! A CPU has its share of the core while its thread computes or hits. It leaves that share to the others while it has no thread,
//! waits for a line or for its stores, or pauses in a polling loop. A thread looks at the others when it begins to compute, then
//! each [`LOOK_NS`], and at each hit. The time of a polling loop's round stays that of the round in which the loop fell asleep.

use crate::costs::{Access, LineState, Ticks};
use crate::run_state::{RunState, Wait};
use crate::trace::{Answerer, Source};

/// The time for which a thread computes until it looks at the other CPUs of its core again, in nanoseconds.
const LOOK_NS: u64 = 200;

impl RunState {
    /// The longest piece in which a thread may compute; `None` where no thread is put on another CPU of its core.
    pub(crate) fn longest_piece(&self, thread: usize) -> Option<Ticks> {
        let mut siblings = self.machine.siblings(self.threads[thread].cpu).iter().map(|&cpu| &self.cpus[cpu]);
        siblings.any(|on| on.threads > 0 || on.set.is_some()).then(|| self.machine.ticks(LOOK_NS))
    }

    /// The time of something that takes `alone` on a core which a thread has for itself.
    pub(crate) fn time_on_core(&self, thread: usize, alone: Ticks) -> Ticks {
        let own = &self.threads[thread];
        let (siblings, Some(smt)) = (self.machine.siblings(own.cpu), self.machine.smt()) else { return alone };
        let active: f64 = siblings.iter().map(|&cpu| self.activity(cpu, own.clock)).sum();
        alone + (alone as f64 * (smt.slowdown - 1.0) * active).round() as Ticks
    }

    /// The part of this time in which a CPU takes its share of the core, from 0 to 1.
    fn activity(&self, cpu: usize, now: Ticks) -> f64 {
        let Some(thread) = self.cpus[cpu].running else { return 0.0 };
        let own = &self.threads[thread];
        match own.wait {
            Wait::No if own.is_foreign || !own.quiet.contains(&now) => 1.0,
            Wait::Poll if own.sleep.gives_way => 1.0,
            Wait::Poll => {
                let pause = self.machine.costs().pause.min(own.sleep.period);
                1.0 - pause as f64 / own.sleep.period.max(1) as f64
            }
            _ => 0.0,
        }
    }

    /// A thread waits for a line until its clock.
    pub(crate) fn waits_quietly(&mut self, thread: usize) {
        let own = &mut self.threads[thread];
        own.quiet = 0..own.clock;
    }

    /// The time of a request for a line that another CPU of the core has, and the answer; `None` if none has it, or if CPUs of
    /// other cores must lose their copies.
    pub(crate) fn time_within_core(&self, number: usize, cpu: usize, access: Access) -> Option<(Ticks, Source)> {
        let time = self.machine.smt()?.line;
        let siblings = self.machine.siblings(cpu);
        let sibling = siblings.iter().copied().find(|&other| self.lines.has_copy(number, other))?;
        let is_in_core = match (access, self.lines.line(number).state) {
            (_, LineState::Invalid) => false,
            (Access::Load, _) => true,
            _ => self.lines.holders(number).all(|holder| holder == cpu || siblings.contains(&holder)),
        };
        let distance = self.machine.distance(sibling, cpu);
        is_in_core.then_some((time, Source { distance, cpu: sibling, answerer: Answerer::Holder }))
    }
}
