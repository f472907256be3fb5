//! One run of one candidate: a process of its own, which does its rounds or is ended at its limit.
//!
//! The rounds that are asked for are a fixed number, and with a fast candidate over before the scheduler has dealt out any
//! time. They are therefore repeated until that has had some turns, and neighbours are watched for as long.

use std::time::{Duration, Instant};

use super::cell::Amount;
use super::member::{Assignment, Begin, Match, Rounds};
use super::neighbours::Neighbours;
use super::quota::Quota;
use super::starter::Starter;
use crate::child::Child;
use crate::error::BenchError;
use crate::failure::Failure;
use crate::harness::cpu_time_of_ended_children;

/// Some turns of a scheduler that lets a thread run for 3 or 4 ms.
const SHORTEST_LOOK: Duration = Duration::from_millis(50);

/// How a run went.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// All rounds were done, and what was checked was right.
    Finished(Rounds, Observed),
    /// It began and did not come to its end: why, in words, and the CPU seconds that it took.
    Unfinished(String, f64),
    /// It does not run here: why, in words.
    Absent(String),
}

/// What neighbours got beside a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Observed {
    /// CPU time of all of them.
    pub(super) theirs: Duration,
    /// In this time.
    pub(super) time: Duration,
}

impl Observed {
    /// How many CPUs' worth of time they got; `None` if nobody looked for as long as a scheduler takes to deal it out.
    pub(super) fn cpus(&self) -> Option<f64> {
        (self.time >= SHORTEST_LOOK).then(|| self.theirs.as_secs_f64() / self.time.as_secs_f64())
    }
}

/// Where and how long candidates run.
pub(super) struct Ground<'a> {
    pub(super) amount: Amount,
    pub(super) neighbours: &'a Neighbours,
    pub(super) quota: Option<&'a Quota>,
    pub(super) starter: &'a Starter<'a>,
}

impl Ground<'_> {
    /// Runs a candidate among neighbours.
    ///
    /// # Errors
    /// If the user has stopped the run, or no process can be started.
    pub(super) fn run(&self, assigned: Match) -> Result<Outcome, BenchError> {
        let who = format!("the process of {}", assigned.candidate);
        let used_before = cpu_time_of_ended_children();
        let mut child = self.starter.start(who, &Assignment::Compete(Box::new(assigned)))?;
        if let Some(quota) = self.quota {
            quota.take_in(child.pid())?;
        }
        if let Err(failure) = self.starter.await_ready(&mut child)? {
            return Ok(Outcome::Absent(failure.to_string()));
        }
        let (outcome, observed) = self.observe(|| self.rounds(&mut child))?;
        let rounds = match outcome {
            Ok(rounds) => rounds,
            Err(why) => {
                drop(child);
                let used = cpu_time_of_ended_children().saturating_sub(used_before);
                return Ok(Outcome::Unfinished(why, used.as_secs_f64()));
            }
        };
        Ok(Outcome::Finished(rounds, observed))
    }

    /// The rounds, or why there are none, in words.
    fn rounds(&self, child: &mut Child) -> Result<Result<Rounds, String>, BenchError> {
        child.tell(&Begin, &[])?;
        let limit = self.amount.limit;
        if !self.starter.await_news(child, limit)? {
            return Ok(Err(format!("it did not finish within {} ms", limit.as_millis())));
        }
        Ok(child.await_told().map_err(|failure: Failure| failure.to_string()))
    }

    /// What neighbours get while `work` is done.
    fn observe<T>(&self, work: impl FnOnce() -> Result<T, BenchError>) -> Result<(T, Observed), BenchError> {
        let (before, begun) = (self.neighbours.cpu(), Instant::now());
        let done = work()?;
        let theirs = self.neighbours.cpu().saturating_sub(before);
        Ok((done, Observed { theirs, time: begun.elapsed() }))
    }
}
