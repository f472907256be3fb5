//! One run of one candidate: a process of its own, which does its rounds or is killed at its time limit.
//!
//! The number of rounds is fixed, and a fast candidate finishes them before the scheduler has switched threads even once.
//! The rounds are therefore repeated until the scheduler has had some turns, and the neighbours are watched for as long.

use std::time::{Duration, Instant};

use super::cell::Amount;
use super::member::{Assignment, Begin, Match, Rounds};
use super::neighbours::Neighbours;
use super::quota::Quota;
use super::starter::Starter;
use corecast_race::child::Child;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::cpu_time_of_ended_children;
use corecast_race::skip::Skip;

/// Some turns of a scheduler that lets a thread run for 3 or 4 ms.
const SHORTEST_LOOK: Duration = Duration::from_millis(50);

/// How a run went.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// All rounds were done, and what was checked was right.
    Finished(Rounds, Observed),
    /// It began and did not come to its end.
    Unfinished(Unfinished),
    /// It does not run here, or broke down before it began.
    Absent(Skip),
}

/// A run that did not come to its end.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Unfinished {
    /// Why, in words.
    pub(super) why: String,
    /// Whether it was ended at its limit.
    pub(super) ran_out_of_time: bool,
    /// The CPU seconds that it took.
    pub(super) cpu_s: f64,
}

/// The CPU time of the neighbours beside a candidate.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Observed {
    /// CPU time of all of them.
    pub(super) theirs: Duration,
    /// How long they were watched.
    pub(super) time: Duration,
}

impl Observed {
    /// The number of CPUs whose time they got; `None` if they were watched for less than some turns of a scheduler.
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
            return Ok(Outcome::Absent(Skip::asked(&failure)));
        }
        let (outcome, observed) = self.observe(|| self.rounds(&mut child))?;
        let ran_out_of_time = outcome.is_none();
        let why = match outcome {
            Some(Ok(rounds)) => return Ok(Outcome::Finished(rounds, observed)),
            Some(Err(failure)) => failure.to_string(),
            None => format!("it did not finish within {} ms", self.amount.limit.as_millis()),
        };
        drop(child);
        let cpu_s = cpu_time_of_ended_children().saturating_sub(used_before).as_secs_f64();
        Ok(Outcome::Unfinished(Unfinished { why, ran_out_of_time, cpu_s }))
    }

    /// The rounds, or why they failed; `None` if they were not done within the limit.
    fn rounds(&self, child: &mut Child) -> Result<Option<Result<Rounds, Failure>>, BenchError> {
        if let Err(failure) = child.tell(&Begin, &[]) {
            return Ok(Some(Err(failure)));
        }
        let has_news = self.starter.await_news(child, self.amount.limit)?;
        Ok(has_news.then(|| child.await_told()))
    }

    /// The CPU time of the neighbours while `work` is done.
    fn observe<T>(&self, work: impl FnOnce() -> Result<T, BenchError>) -> Result<(T, Observed), BenchError> {
        let (before, begun) = (self.neighbours.cpu(), Instant::now());
        let done = work()?;
        let theirs = self.neighbours.cpu().saturating_sub(before);
        Ok((done, Observed { theirs, time: begun.elapsed() }))
    }
}
