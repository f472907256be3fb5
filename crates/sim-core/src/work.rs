//! The time for which a simulated thread computes between its accesses.

use crate::costs::{Ticks, units};
use crate::thread::Thread;

impl Thread {
    /// Computes for this number of nanoseconds.
    pub fn work_ns(&self, ns: u64) {
        let ticks = self.state.borrow().machine.ticks(ns);
        self.work_ticks(ticks);
    }

    /// Computes for this number of units.
    pub fn work(&self, number: u64) {
        self.work_ticks(units(number));
    }

    /// Computes until this time, if it has not come yet.
    pub fn work_until(&self, time: Ticks) {
        let now = self.state.borrow_mut().threads[self.number].settle();
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
        own.settle();
        own.clock += ticks;
    }
}
