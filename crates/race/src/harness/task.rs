//! The work of a participant in one block, and the times it takes.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use corecast::base::Clock;
use corecast::base::sync::spin_hint;
use serde::{Deserialize, Serialize};

use super::abort::Abort;
use super::body::Body;
use super::cpu_time;
use super::rendezvous::Rendezvous;
use crate::failure::Failure;

/// One block of a contender; all participants are given the same.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub enum Task {
    /// Verify this many operations.
    Check {
        /// Operations.
        rounds: u64,
    },
    /// Operations back to back. For those that keep the participants together by themselves.
    Batch {
        /// Turns of the contender's loop.
        iterations: u64,
    },
    /// Operations with a meeting after each. For those that would overlap, where there are no start windows.
    Separated {
        /// Operations.
        operations: u64,
    },
    /// Each operation begun by all at a time agreed upon.
    Windows {
        /// Operations.
        count: u64,
        /// Ticks from one start to the next.
        width: u64,
    },
    /// Operations that one other participant, in turn, does its part in by a message: it tells the root that it is done,
    /// or begins when the root tells it to.
    Echoed {
        /// The participant that begins, or ends it.
        root: usize,
        /// Whether the other one begins, of an operation that ends at the root.
        is_reversed: bool,
        /// Operations for each of the others.
        operations: u64,
    },
    /// Messages sent one by one, each some time after the one before, so that the receivers wait for it.
    Paced {
        /// Messages.
        count: u64,
        /// Ticks from one to the next.
        every: u64,
    },
    /// Operations with a little work of one's own before each, the first of which rank 0 times one by one.
    Rounds {
        /// Operations.
        count: u64,
        /// Empty steps before each.
        steps: u64,
        /// How many of them are timed one by one.
        timed: u64,
    },
    /// One operation to which one participant comes late, so that the others wait.
    Late {
        /// The participant.
        rank: usize,
        /// By how much.
        delay: Duration,
    },
}

/// The observations of one participant in a block. Times are ticks of [`Clock`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Stamps {
    /// When it began.
    pub start: u64,
    /// When it had done all.
    pub end: u64,
    /// CPU time it used between.
    pub cpu: Duration,
    /// For a receiver of a lossy channel: the messages that did not arrive.
    pub missed: u64,
    /// For paced messages: when each was sent, or taken in; 0 if it did not arrive. For rounds, at rank 0: how long each
    /// took, with its empty steps.
    pub marks: Vec<u64>,
    /// For windows: how long after each agreed start it had done its part; `None` if it began late. For echoed operations,
    /// at the root: how long each took, all of one participant before those of the next.
    pub windows: Vec<Option<u64>>,
}

/// From the last arrival at the start to the first window: time for the news to reach everybody.
pub const LEAD: Duration = Duration::from_micros(5);

/// A window begun later than this after the agreed time is not counted: an interrupt came between.
pub const TOLERANCE: Duration = Duration::from_nanos(150);

/// One participant's share in a block.
pub struct Share {
    /// The participant.
    pub rank: usize,
    /// The task of the block.
    pub task: Task,
    /// The body that performs it.
    pub body: Box<dyn Body>,
    /// Where the participants meet to begin.
    pub start: Arc<Rendezvous>,
    /// Raised when the contender is given up.
    pub abort: Arc<Abort>,
}

impl Share {
    /// Meets the others, then does the task; gives the body back for the next block.
    ///
    /// # Errors
    /// The first failure of this participant; the body is dropped.
    pub fn execute(mut self) -> Result<(Box<dyn Body>, Stamps), Failure> {
        let clock = Clock::get();
        self.body.ready(self.task)?;
        let begin = self.start.meet_with(&self.abort, || clock.ticks() + clock.ticks_in(LEAD))?;
        let cpu = cpu_time::of_this_thread();
        let mut timing = Stamps { start: clock.ticks(), ..Stamps::default() };
        match self.task {
            Task::Check { rounds } => self.body.check(rounds)?,
            Task::Batch { iterations } => self.body.run(iterations)?,
            Task::Separated { operations } => self.separated(operations)?,
            Task::Windows { count, width } => timing.windows = self.windows(begin, count, width)?,
            Task::Echoed { root, is_reversed, operations } => {
                timing.windows = self.echoed(begin, (root, is_reversed), operations)?;
            }
            Task::Paced { count, every } => timing.marks = self.body.paced(begin, count, every)?,
            Task::Rounds { count, steps, timed } => timing.marks = self.rounds(count, steps, timed)?,
            Task::Late { rank, delay } => self.late(rank, delay)?,
        }
        timing.end = clock.ticks();
        timing.cpu = cpu_time::of_this_thread().saturating_sub(cpu);
        self.body.amend(&mut timing);
        Ok((self.body, timing))
    }

    fn separated(&mut self, operations: u64) -> Result<(), Failure> {
        for _ in 0..operations {
            self.body.run(1)?;
            self.start.meet(&self.abort)?;
        }
        Ok(())
    }

    fn windows(&mut self, begin: u64, count: u64, width: u64) -> Result<Vec<Option<u64>>, Failure> {
        let clock = Clock::get();
        let tolerance = clock.ticks_in(TOLERANCE);
        let mut windows = Vec::with_capacity(count as usize);
        for start in (0..count).map(|i| begin + i * width) {
            let late = wait_for(clock, start) > tolerance;
            self.body.run(1)?;
            let took = clock.ticks().saturating_sub(start);
            windows.push((!late).then_some(took));
        }
        Ok(windows)
    }

    fn echoed(
        &mut self,
        begin: u64,
        (root, is_reversed): (usize, bool),
        operations: u64,
    ) -> Result<Vec<Option<u64>>, Failure> {
        if self.body.performs_elsewhere() {
            // The echoes are where the operations are: here nothing would hold one back until the one before is heard.
            self.body.run(operations)?;
            return Ok(Vec::new());
        }
        let clock = Clock::get();
        let others = (0..self.start.participants()).filter(|&rank| rank != root);
        let echoes = others.flat_map(|leaf| (0..operations).map(move |_| leaf));
        let mut times = Vec::new();
        // Numbers grow from block to block, as every operation takes longer than a tick.
        for (leaf, number) in echoes.zip(begin..) {
            let (is_root, is_leaf) = (self.rank == root, self.rank == leaf);
            let start = clock.ticks();
            if is_reversed && is_root {
                self.start.echo(number);
            }
            if is_reversed && is_leaf {
                self.start.await_echo(number, &self.abort)?;
            }
            self.body.run(1)?;
            if !is_reversed && is_leaf {
                self.start.echo(number);
            }
            if !is_reversed && is_root {
                self.start.await_echo(number, &self.abort)?;
            }
            if is_root {
                times.push(Some(clock.ticks().saturating_sub(start)));
            }
        }
        Ok(times)
    }

    fn rounds(&mut self, count: u64, steps: u64, timed: u64) -> Result<Vec<u64>, Failure> {
        if self.body.performs_elsewhere() {
            self.body.run(count)?;
            return Ok(Vec::new());
        }
        let clock = Clock::get();
        let timed = count.min(timed) as usize;
        let mut times = Vec::with_capacity(timed);
        let mut before = clock.ticks();
        for _ in 0..count {
            empty_steps(steps);
            self.body.run(1)?;
            let now = clock.ticks();
            if times.len() < timed {
                times.push(now.saturating_sub(before));
            }
            before = now;
        }
        Ok(if self.rank == 0 { times } else { Vec::new() })
    }

    fn late(&mut self, rank: usize, delay: Duration) -> Result<(), Failure> {
        if self.rank == rank {
            // The experiment itself: somebody is away, and everybody else waits.
            std::thread::sleep(delay);
        }
        self.body.run(1)
    }
}

/// Work that takes time and nothing else.
#[inline(always)]
pub fn empty_steps(steps: u64) {
    for step in 0..steps {
        black_box(step);
    }
}

/// Polls the clock until `start`; returns by how many ticks it was missed.
#[inline(always)]
pub fn wait_for(clock: &Clock, start: u64) -> u64 {
    loop {
        let now = clock.ticks();
        if now >= start {
            return now - start;
        }
        spin_hint();
    }
}
