//! The bare hand-over of one cache line between two CPUs: the yardstick beside every round.

use std::sync::Arc;

use corecast::base::CacheLine;
use corecast::base::sync::{AtomicU64, Ordering};

use super::{Contender, Setting, Unfit};
use crate::failure::Failure;
use crate::harness::{Abort, Body, Patience};

/// Two participants take turns in writing one line; half a round trip is one transfer.
pub struct RawLine;

struct Player {
    /// True for the one who serves.
    serves: bool,
    /// The number the line shows when it is this player's turn.
    turn: u64,
    /// Written and polled by both in turn; each write adds one.
    line: Arc<CacheLine<AtomicU64>>,
    patience: Patience,
    abort: Arc<Abort>,
}

impl RawLine {
    /// The two players' bodies.
    pub fn bodies(patience: Patience, abort: &Arc<Abort>) -> Vec<Box<dyn Body>> {
        let line: Arc<CacheLine<AtomicU64>> = Arc::default();
        let player = |serves: bool| Player {
            serves,
            turn: u64::from(!serves),
            line: Arc::clone(&line),
            patience,
            abort: Arc::clone(abort),
        };
        vec![Box::new(player(true)), Box::new(player(false))]
    }
}

impl Contender for RawLine {
    fn name(&self) -> String {
        "raw-line".to_owned()
    }

    fn about(&self) -> String {
        "bare hand-over of one cache line, without a payload: no channel can be faster".to_owned()
    }

    fn only_for(&self) -> Option<usize> {
        Some(2)
    }

    fn build(&self, setting: &Setting<'_>, abort: &Arc<Abort>) -> Result<Vec<Box<dyn Body>>, Unfit> {
        Ok(Self::bodies(setting.patience(), abort))
    }
}

impl Player {
    #[inline(always)]
    fn take_turn(&mut self) -> Result<(), Failure> {
        // ORDERING: Acquire, pairs with the Release of the other player below [raw-line]
        self.patience.until(&self.abort, || self.line.load(Ordering::Acquire) == self.turn)?;
        // ORDERING: Release, pairs with the Acquire of the other player above [raw-line]
        self.line.store(self.turn + 1, Ordering::Release);
        self.turn += 2;
        Ok(())
    }

    /// The server's round trip ends when the line is back.
    fn last_return(&mut self) -> Result<(), Failure> {
        if !self.serves {
            return Ok(());
        }
        // ORDERING: Acquire, as in take_turn [raw-line]
        self.patience.until(&self.abort, || self.line.load(Ordering::Acquire) == self.turn)
    }
}

impl Body for Player {
    fn run(&mut self, iterations: u64) -> Result<(), Failure> {
        for _ in 0..iterations {
            self.take_turn()?;
        }
        self.last_return()
    }

    fn check(&mut self, rounds: u64) -> Result<(), Failure> {
        let before = self.turn;
        self.run(rounds)?;
        if self.turn != before + 2 * rounds {
            return Err(Failure::Wrong(format!("{rounds} round trips moved the line from {before} to {}", self.turn)));
        }
        Ok(())
    }
}
