//! The report of a stress of atomic operations, as values and as JSON. The field names are documented in docs/json/bench.md.

use serde::Serialize;

use crate::published::PublishedFigure;
use crate::transfer::LineTransfer;

/// The outcome of `corecast bench atomics`.
#[derive(Clone, Debug, Serialize)]
pub struct AtomicReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders were drawn.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// The CPUs that threads were bound to, in turn.
    pub cpus: Vec<u32>,
    /// The cost of handing over a bare line, by distance; empty with one CPU.
    pub lines: Vec<LineTransfer>,
    /// How long each thread paused after each call.
    pub pause_ns: u64,
    /// How long a block was.
    pub block_ms: u64,
    /// Blocks of each operation with each number of threads.
    pub rounds: usize,
    /// One entry for each number of threads.
    pub cells: Vec<AtomicCell>,
    /// Published figures of other machines.
    pub published: Vec<PublishedFigure>,
}

/// All operations with one number of threads, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct AtomicCell {
    /// Threads that go for the same line.
    pub threads: usize,
    /// True if there are more threads than CPUs.
    pub oversubscribed: bool,
    /// One entry for each operation.
    pub rows: Vec<AtomicRow>,
}

/// The results of one operation there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AtomicRow {
    /// Its name.
    pub contender: &'static str,
    /// Over all rounds and threads: calls, those that did what they were called for, and atomic instructions.
    pub calls: u64,
    /// See above.
    pub successes: u64,
    /// See above.
    pub tries: u64,
    /// Millions of calls in a second, of all threads: the median over the rounds; `null` if it was skipped.
    pub mops: Option<f64>,
    /// Their arithmetic mean, as SSYNC's paper has it.
    pub mean_mops: Option<f64>,
    /// The most of a round, as SSYNC's scripts keep it.
    pub max_mops: Option<f64>,
    /// Millions of successful calls in a second, the median.
    pub success_mops: Option<f64>,
    /// Jain's index of the threads' calls, the median: 1 if all are equal, 1 / threads if one has them all.
    pub jain: Option<f64>,
    /// Of the calls that were timed, one of 16, the timer taken off: the median.
    pub p50_ns: Option<f64>,
    /// The time that one of a hundred exceeds.
    pub p99_ns: Option<f64>,
    /// The time that one of a thousand exceeds.
    pub p999_ns: Option<f64>,
    /// Calls that were timed.
    pub samples: usize,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
}
