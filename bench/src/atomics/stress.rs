//! Threads that do one operation on one line over and over, each with a pause after each call.
//!
//! All begin and end at the same tick. Without a pause the thread that has the line would call again and again before the others
//! see it, and the figure would be of one cache and not of the machine.

use std::time::Duration;

use corecast::base::sync::spin_for;
use corecast::base::{CacheLine, Clock, CpuId};

use super::operation::{Line, Operation};
use crate::coherence::{Correction, Group, Meeting, timed};
use corecast_race::cancel::Cancel;
use corecast_race::failure::Failure;

/// One of this many calls is timed.
const TIMED: u64 = 16;

/// The work of the threads.
#[derive(Clone, Debug)]
pub(super) struct Stress<'a> {
    pub(super) threads: usize,
    /// The CPUs that threads are bound to in turn, and what the timer of each takes.
    pub(super) cpus: &'a [(CpuId, Correction)],
    /// After each call.
    pub(super) pause: Duration,
    /// For so long.
    pub(super) time: Duration,
    pub(super) cancel: Cancel,
}

/// The results of one block.
#[derive(Clone, Debug)]
pub(super) struct Turn {
    /// Calls of each thread.
    pub(super) calls: Vec<u64>,
    /// Of all threads: calls that did what they were called for, and atomic instructions.
    pub(super) successes: u64,
    pub(super) tries: u64,
    /// From the first thread's start to the last one's end.
    pub(super) seconds: f64,
    /// How long calls took that were timed, the timer taken off, unsorted.
    pub(super) latencies_ns: Vec<f64>,
}

/// One thread.
struct Thread<O> {
    own: O,
    calls: u64,
    successes: u64,
    latencies: Vec<u64>,
    start: u64,
    end: u64,
}

/// Runs one block over a new line, and compares what the line holds with what was counted.
pub(super) fn turn<O: Operation>(stress: &Stress<'_>) -> Result<Turn, Failure> {
    let line = CacheLine::new(Line::default());
    let seat = |rank: usize| stress.cpus[rank % stress.cpus.len()];
    let group = Group { cpus: (0..stress.threads).map(|rank| seat(rank).0).collect(), cancel: stress.cancel.clone() };
    let threads = group.run(&|rank, meeting| take(stress, O::new(rank), meeting, &line))?;
    let clock = Clock::get();
    let start = threads.iter().map(|thread| thread.start).min().unwrap_or(0);
    let end = threads.iter().map(|thread| thread.end).max().unwrap_or(0);
    let ns = |(rank, thread): (usize, &Thread<O>)| -> Vec<f64> {
        thread.latencies.iter().map(|&ticks| seat(rank).1.ns(ticks, false)).collect()
    };
    let turn = Turn {
        calls: threads.iter().map(|thread| thread.calls).collect(),
        successes: threads.iter().map(|thread| thread.successes).sum(),
        tries: threads.iter().map(|thread| thread.own.tries(thread.calls)).sum(),
        seconds: clock.ns(end.saturating_sub(start)) / 1e9,
        latencies_ns: threads.iter().enumerate().flat_map(ns).collect(),
    };
    let owns: Vec<O> = threads.into_iter().map(|thread| thread.own).collect();
    O::check(&owns, turn.successes, &line)?;
    Ok(turn)
}

fn take<O: Operation>(stress: &Stress<'_>, own: O, meeting: &Meeting<'_>, line: &Line) -> Result<Thread<O>, Failure> {
    let clock = Clock::get();
    let mut thread = Thread { own, calls: 0, successes: 0, latencies: Vec::new(), start: 0, end: 0 };
    meeting.heed_user();
    let end = meeting.meet_at()? + clock.ticks_in(stress.time);
    thread.start = clock.ticks();
    while clock.ticks() < end {
        let succeeds = if thread.calls % TIMED == 0 {
            let (ticks, succeeds) = timed(|| thread.own.call(line));
            thread.latencies.push(ticks);
            succeeds
        } else {
            thread.own.call(line)
        };
        thread.successes += u64::from(succeeds);
        thread.calls += 1;
        spin_for(stress.pause);
    }
    thread.end = clock.ticks();
    Ok(thread)
}
