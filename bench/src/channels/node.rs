//! A node of a program: it does its steps, sends and receives, for one request after the other.

use super::ends::{Inlet, Outlet, Reading};
use corecast_race::failure::Failure;
use corecast_race::harness::Body;

/// The steps of a node for every request, in this order.
pub(super) enum Step {
    Send(Box<dyn Outlet>),
    Receive(Box<dyn Inlet>),
}

/// A node.
pub(super) struct Node {
    steps: Vec<Step>,
    /// The number of the next request, which is that of its messages on every channel.
    next: u64,
}

impl Node {
    pub(super) fn new(steps: Vec<Step>) -> Self {
        Self { steps, next: 0 }
    }

    fn requests(&mut self, requests: u64, reading: Reading) -> Result<(), Failure> {
        for number in self.next..self.next + requests {
            for step in &mut self.steps {
                match step {
                    Step::Send(outlet) => outlet.send(number, 1)?,
                    Step::Receive(inlet) => inlet.receive(number, 1, reading).map(drop)?,
                }
            }
        }
        self.next += requests;
        Ok(())
    }
}

impl Body for Node {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        self.requests(iterations, Reading::Sum)
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.requests(rounds, Reading::Verify)
    }
}
