//! The report of the experiments with readers, as values and as JSON.

use corecast_race::contender_rows;
use serde::Serialize;

contender_rows!(ReaderRow);

/// Readers and writers of one value.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReaderReport {
    /// The cost of reading and writing while no other thread does.
    pub pairs: Vec<ReaderPairRow>,
    /// Many threads at once.
    pub cells: Vec<ReaderCell>,
}

/// The cost of one lock alone, the median over the rounds.
#[derive(Clone, Debug, Serialize)]
pub struct ReaderPairRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// To lock for reading, copy 32 bytes, and unlock.
    pub read_ns: f64,
    /// To lock for writing, change them, and unlock.
    pub write_ns: f64,
}

/// All locks in one situation, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct ReaderCell {
    /// Threads, each bound to a CPU, in turn.
    pub threads: usize,
    /// How many of a hundred accesses are writes.
    pub writes: u32,
    /// True if there are more threads than CPUs.
    pub oversubscribed: bool,
    /// One entry for each lock.
    pub rows: Vec<ReaderRow>,
}

/// The results of one lock there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ReaderRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Millions of accesses in a second, of all threads: the median over the rounds; `null` if it was skipped.
    pub mops: Option<f64>,
    /// The accesses that were writes.
    pub write_mops: Option<f64>,
    /// Jain's index of the threads' accesses, the median: 1 if all are equal, 1 / threads if one has them all.
    pub jain: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}
