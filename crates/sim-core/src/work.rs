//! The time for which a simulated thread computes between its accesses.

use crate::costs::{Costs, Ticks, units};
use crate::thread::Thread;

impl Thread {
    /// Computes for this number of nanoseconds.
    pub fn work_ns(&self, ns: u64) {
        let ticks = self.state.borrow().machine.ticks(ns);
        self.work_ticks(ticks);
    }

    /// Looks at the clock and pauses by turns until this number of nanoseconds has passed since the first look.
    pub fn spin_ns(&self, ns: u64) {
        let state = self.state.borrow();
        let Costs { look, pause, .. } = *state.machine.costs();
        let ticks = state.machine.ticks(ns);
        drop(state);
        let rounds = if look > 0 { ticks.div_ceil(look + pause) } else { 0 };
        self.work_ticks(if look > 0 { look + rounds * (look + pause) } else { ticks });
    }

    /// Computes for this number of units.
    pub fn work(&self, number: u64) {
        self.work_ticks(units(number));
    }

    /// Computes until this time, if it has not come yet.
    pub fn work_until(&self, time: Ticks) {
        let now = self.state.borrow_mut().threads[self.number].order();
        self.pass(time.saturating_sub(now));
    }

    fn work_ticks(&self, ticks: Ticks) {
        let piece = self.state.borrow().longest_piece(self.number);
        if let Some(piece) = piece {
            self.work_beside_siblings(ticks, piece);
            return;
        }
        self.pass(ticks);
    }

    /// Computes in pieces, each of which takes longer where other CPUs of the core compute when it begins.
    #[cold]
    fn work_beside_siblings(&self, ticks: Ticks, piece: Ticks) {
        let mut left = ticks;
        while left > 0 {
            self.take_turn();
            let now = left.min(piece);
            let time = self.state.borrow().time_on_core(self.number, now);
            self.pass(time);
            left -= now;
        }
    }

    fn pass(&self, ticks: Ticks) {
        let mut state = self.state.borrow_mut();
        let own = &mut state.threads[self.number];
        own.poll.broken();
        own.order();
        own.clock += ticks;
    }
}
