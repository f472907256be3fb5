//! The loop around a broadcast of 56 bytes, and the check that every participant gets every message in order.

use std::hint::black_box;

use crate::failure::Failure;
use crate::harness::Body;
use crate::message::{Item, Message, expect_item};

/// One participant's end of a broadcast.
pub trait BroadcastEnd: Send + 'static {
    /// Sends `value` if this is the root's end, else receives into it.
    ///
    /// # Errors
    /// A `Failure` in words: the operation, a process that takes part, or the system did not do its part.
    fn broadcast(&mut self, value: &mut Message) -> Result<(), Failure>;
}

struct BroadcastBody<E> {
    is_root: bool,
    end: E,
    /// Messages so far; equal at all participants between blocks.
    sent: u64,
}

/// A body for each end, by rank.
pub fn broadcast_bodies<E: BroadcastEnd>(ends: Vec<E>, root: usize) -> Vec<Box<dyn Body>> {
    ends.into_iter().enumerate().map(|(rank, end)| broadcast_body(rank == root, end)).collect()
}

/// The body of one participant.
pub fn broadcast_body<E: BroadcastEnd>(is_root: bool, end: E) -> Box<dyn Body> {
    Box::new(BroadcastBody { is_root, end, sent: 0 })
}

impl<E: BroadcastEnd> BroadcastBody<E> {
    #[inline(always)]
    fn next(&mut self) -> Result<Message, Failure> {
        let mut value = if self.is_root { Message::numbered(self.sent) } else { [0; 7] };
        self.end.broadcast(&mut value)?;
        self.sent += 1;
        Ok(value)
    }
}

impl<E: BroadcastEnd> Body for BroadcastBody<E> {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            black_box(self.next()?);
        }
        Ok(())
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        for _ in 0..rounds {
            let number = self.sent;
            let value = self.next()?;
            expect_item(value, number)?;
        }
        Ok(())
    }
}
