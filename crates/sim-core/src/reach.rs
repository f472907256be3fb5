//! How a thread reaches a line: when its access may begin, when it takes effect, and what the thread knows then.

use crate::costs::{Access, Costs, LineState, Ticks};
use crate::lines::Request;
use crate::run_state::Wait;
use crate::thread::Thread;
use crate::word::Word;

impl Thread {
    pub(crate) fn reach(&self, word: Word, access: Access) {
        self.reach_line(word.address(), access);
    }

    /// Returns when the access takes effect.
    pub(crate) fn reach_line(&self, address: usize, access: Access) {
        self.wait_to_begin(address, access);
        let mut state = self.state.borrow_mut();
        if state.is_over {
            return;
        }
        let (thread, cpu) = (self.number, state.threads[self.number].cpu);
        let line = state.line_of(address, cpu);
        let is_hit = state.is_hit(line, cpu, access);
        let arrives = state.arrives(line, cpu);
        let Costs { hit, read_modify_write_hit, ahead, .. } = *state.machine.costs();
        let own = &mut state.threads[thread];
        own.line = Some(line);
        let now = own.clock;
        if is_hit && access == Access::Load {
            own.poll.hit(line);
            let time = state.time_on_core(thread, hit);
            state.threads[thread].go_on(now, arrives.max(now + time), time, ahead);
            return;
        }
        own.poll.broken();
        if is_hit {
            let time = state.time_on_core(thread, read_modify_write_hit);
            let own = &mut state.threads[thread];
            // One after the other, and behind all loads.
            let comes = own.under_way.settled(now) + time;
            own.go_on(now, comes, hit, ahead);
            own.under_way.order();
        } else {
            drop(state);
            let request = Request { cpu, thread, access, store: 0, address: Some(address), asked: now };
            self.ask_for(line, request, now);
            state = self.state.borrow_mut();
            state.waits_quietly(thread);
        }
        if access == Access::ReadModifyWrite && !state.is_over {
            state.lines.line_mut(line).state = LineState::Modified;
        }
    }

    /// Asks for a line that this CPU lacks, and waits until that is served, if others are before it.
    fn ask_for(&self, line: usize, request: Request, now: Ticks) {
        let mut state = self.state.borrow_mut();
        match state.request(line, request, now) {
            Some(time) => state.comes(self.number, request.access, now, time),
            None => {
                state.threads[self.number].wait = Wait::Line;
                drop(state);
                self.suspend();
            }
        }
    }

    /// Waits until an access to this address can begin: one that writes begins when a line that is under way has come.
    fn wait_to_begin(&self, address: usize, access: Access) {
        let mut state = self.state.borrow_mut();
        let ahead = state.machine.costs().ahead;
        let own = &mut state.threads[self.number];
        if access == Access::Load {
            own.under_way.load(address);
        }
        own.clock = own.under_way.begin(own.clock, address, ahead);
        drop(state);
        self.take_turn();
        if ahead == 0 || access == Access::Load {
            return;
        }
        let mut state = self.state.borrow_mut();
        let cpu = state.threads[self.number].cpu;
        let line = state.line_of(address, cpu);
        let arrives = state.arrives(line, cpu);
        let own = &mut state.threads[self.number];
        own.clock = own.clock.max(arrives);
        drop(state);
        self.take_turn();
    }

    /// The value of a word that it has reached.
    pub(crate) fn know(&self, word: Word) -> u64 {
        let value = word.read();
        let own = &mut self.state.borrow_mut().threads[self.number];
        let comes = own.comes;
        if comes > own.clock {
            own.under_way.value(value, comes);
        }
        value
    }

    /// Waits until all accesses before it are complete.
    pub(crate) fn settle(&self) {
        let _ = self.state.borrow_mut().threads[self.number].settle();
    }
}
