//! The loops that send and receive one message after the other, and the check of each.
//!
//! The sender writes every byte of every message and the receiver sums them, so that nobody wins by not touching what
//! it carries.

use std::hint::black_box;

use super::{RecvEnd, SendEnd};
use corecast_race::failure::Failure;
use corecast_race::harness::Body;
use corecast_race::message::{Item, expect_item};

struct Source<S> {
    to: S,
    sent: u64,
}

struct Sink<R> {
    from: R,
    received: u64,
}

/// The bodies of the sender and of the receiver.
pub(crate) fn stream_bodies<S: SendEnd, R: RecvEnd<Item = S::Item>>((to, from): (S, R)) -> Vec<Box<dyn Body>> {
    vec![Box::new(Source { to, sent: 0 }), Box::new(Sink { from, received: 0 })]
}

impl<S: SendEnd> Body for Source<S> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for number in self.sent..self.sent + iterations {
            self.to.send(S::Item::numbered(number))?;
        }
        self.sent += iterations;
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        self.run(rounds)
    }
}

impl<R: RecvEnd> Body for Sink<R> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        let mut sum = 0u64;
        for _ in 0..iterations {
            sum = sum.wrapping_add(self.from.recv()?.sum());
        }
        black_box(sum);
        self.received += iterations;
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            expect_item(self.from.recv()?, self.received)?;
            self.received += 1;
        }
        Ok(())
    }
}
