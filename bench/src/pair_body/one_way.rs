//! The loop that sends a message there and back over two channels, and the check of both.

use std::hint::black_box;

use super::{RecvEnd, SendEnd};
use corecast_race::failure::Failure;
use corecast_race::harness::Body;
use corecast_race::message::{Item, expect_item};

/// Sends first and waits for the answer.
struct Asker<S, R> {
    to: S,
    from: R,
    asked: u64,
}

/// Waits for a message and sends it back.
struct Answerer<S, R> {
    to: S,
    from: R,
    answered: u64,
}

/// The bodies of the two participants, from a channel there and one back. The answerer returns what it received, so that
/// the answer cannot be sent before the message is there, and one iteration is two messages one after the other.
pub(crate) fn one_way_bodies<S: SendEnd, R: RecvEnd<Item = S::Item>>(
    there: (S, R),
    back: (S, R),
) -> Vec<Box<dyn Body>> {
    vec![
        Box::new(Asker { to: there.0, from: back.1, asked: 0 }),
        Box::new(Answerer { to: back.0, from: there.1, answered: 0 }),
    ]
}

impl<S: SendEnd, R: RecvEnd<Item = S::Item>> Body for Asker<S, R> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.to.send(S::Item::numbered(self.asked))?;
            black_box(self.from.recv()?);
            self.asked += 1;
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            self.to.send(S::Item::numbered(self.asked))?;
            expect_item(self.from.recv()?, self.asked)?;
            self.asked += 1;
        }
        Ok(())
    }
}

impl<S: SendEnd, R: RecvEnd<Item = S::Item>> Body for Answerer<S, R> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            let message = self.from.recv()?;
            self.to.send(message)?;
            self.answered += 1;
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let received = self.from.recv()?;
            expect_item(received, self.answered)?;
            self.to.send(received)?;
            self.answered += 1;
        }
        Ok(())
    }
}
