//! The report of `bench streamcluster`, as values and as JSON. The field names are documented in docs/json/bench.md.

use corecast_race::gate::Gate;
use serde::Serialize;

use crate::published::PublishedFigure;

/// The outcome of `corecast bench streamcluster`.
#[derive(Clone, Debug, Serialize)]
pub struct StreamClusterReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders and points were drawn.
    pub seed: u64,
    /// True for fewer rounds and small input.
    pub quick: bool,
    /// Busy processes beside all launches and blocks.
    pub busy: usize,
    /// The experiment that was repeated; `null` for the usual run.
    pub preset: Option<&'static str>,
    /// `tiny`, `simsmall`, `simlarge`, `native` or `rounds`.
    pub size: &'static str,
    /// Rounds of each cell.
    pub rounds: usize,
    /// One entry for each number of threads.
    pub cells: Vec<StreamClusterCell>,
    /// Published figures of other machines.
    pub published: Vec<PublishedFigure>,
    /// The demands on the barrier shim, and whether they are met here.
    pub gates: Vec<Gate>,
}

/// All contenders with one number of threads, interleaved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamClusterCell {
    /// Threads that cluster.
    pub threads: usize,
    /// True if there are more threads than CPUs.
    pub oversubscribed: bool,
    /// One entry for each contender.
    pub rows: Vec<StreamClusterRow>,
}

/// The results of one contender there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct StreamClusterRow {
    /// `pthread`, `shim`, `pass-through`, `condvar`, `mcs`, and `parsec`, `parsec-shim` with `--parsec-dir`.
    pub contender: &'static str,
    /// True of what corecast offers.
    pub ours: bool,
    /// The time of the clustering itself: the median over the rounds. Of PARSEC's program that of the process; of the size
    /// `rounds` that of a million barriers.
    pub seconds: Option<f64>,
    /// The least and the most of a round.
    pub least_seconds: Option<f64>,
    /// See above.
    pub most_seconds: Option<f64>,
    /// How many times as long `pthread`, or `parsec`, took in the same round: the median.
    pub speed_up: Option<f64>,
    /// How often all threads met; `null` where that is not told.
    pub barriers: Option<u64>,
    /// The result in the program's own words: the same for all, or nothing counts.
    pub result: Option<String>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it broke down.
    pub failed: bool,
    /// Of each round, in the rounds' order.
    #[serde(skip)]
    pub times: Vec<f64>,
}

corecast_race::contender_rows!(StreamClusterRow);
