//! The loops that the harness runs around a channel's ends: one for the sender, one for each receiver.

use corecast::base::Clock;

use super::ends::{Inlet, Outlet, Reading};
use corecast_race::failure::Failure;
use corecast_race::harness::{Body, Stamps, wait_for};

/// Sends numbered messages to all receivers.
pub(crate) struct Source {
    to: Box<dyn Outlet>,
    sent: u64,
}

/// Takes in what the source sent.
pub(crate) struct Sink {
    from: Box<dyn Inlet>,
    /// Messages so far, lost ones included.
    next: u64,
    /// Messages of the current task that did not arrive.
    missed: u64,
}

impl Source {
    pub(crate) fn new(to: Box<dyn Outlet>) -> Self {
        Self { to, sent: 0 }
    }
}

impl Sink {
    pub(crate) fn new(from: Box<dyn Inlet>) -> Self {
        Self { from, next: 0, missed: 0 }
    }

    fn receive(&mut self, count: u64, reading: Reading) -> Result<(), Failure> {
        self.missed = self.from.receive(self.next, count, reading)?;
        self.next += count;
        Ok(())
    }
}

impl Body for Source {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.to.send(self.sent, iterations)?;
        self.sent += iterations;
        self.to.settle(self.sent)
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }

    fn paced(&mut self, begin: u64, count: u64, every: u64) -> Result<Vec<u64>, Failure> {
        let clock = Clock::get();
        let mut marks = Vec::with_capacity(count as usize);
        for due in (0..count).map(|i| begin + i * every) {
            wait_for(clock, due);
            marks.push(clock.ticks());
            self.to.send(self.sent, 1)?;
            self.sent += 1;
        }
        self.to.settle(self.sent)?;
        Ok(marks)
    }

    fn amend(&mut self, timing: &mut Stamps) {
        self.to.amend(timing);
    }
}

impl Body for Sink {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.receive(iterations, Reading::Sum)
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.receive(rounds, Reading::Verify)
    }

    fn paced(&mut self, _begin: u64, count: u64, _every: u64) -> Result<Vec<u64>, Failure> {
        let clock = Clock::get();
        let mut marks = Vec::with_capacity(count as usize);
        let mut missed = 0;
        for _ in 0..count {
            self.receive(1, Reading::Sum)?;
            marks.push(if self.missed == 0 { clock.ticks() } else { 0 });
            missed += self.missed;
        }
        self.missed = missed;
        Ok(marks)
    }

    fn amend(&mut self, timing: &mut Stamps) {
        timing.missed = std::mem::take(&mut self.missed);
        self.from.amend(timing);
    }
}
