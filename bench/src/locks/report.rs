//! What a run of the lock benchmarks found, as values and as JSON. The field names are documented in docs/json/bench.md.

use serde::Serialize;

use crate::gate::Gate;

/// The outcome of `corecast bench locks`.
#[derive(Clone, Debug, Serialize)]
pub struct LockReport {
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
    /// What a lock costs that nobody else wants.
    pub pairs: Vec<PairRow>,
    /// Many threads at once, over one lock or several.
    pub cells: Vec<LockCell>,
    /// What is asked of corecast, and whether it holds here.
    pub gates: Vec<Gate>,
}

/// What taking and freeing one lock costs, alone.
#[derive(Clone, Debug, Serialize)]
pub struct PairRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// The median over the rounds, for one pair.
    pub median_ns: f64,
    /// The fastest round.
    pub min_ns: f64,
}

/// All locks in one situation, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct LockCell {
    /// Threads that take locks.
    pub threads: usize,
    /// The locks that they choose from at random.
    pub locks: usize,
    /// How long each spins in the critical section, beyond writing a line.
    pub hold_ns: u64,
    /// True if there are more threads than CPUs.
    pub oversubscribed: bool,
    /// One entry for each lock.
    pub rows: Vec<LockRow>,
}

/// What came of one lock there.
#[derive(Clone, Debug, Serialize)]
pub struct LockRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Millions of acquisitions in a second, of all threads: the median over the rounds; `null` if it was skipped.
    pub mops: Option<f64>,
    /// The best of the cell divided by this: 1 for the best.
    pub regret: Option<f64>,
    /// Jain's index of the threads' acquisitions, the median: 1 if all are equal, 1 / threads if one has them all.
    pub jain: Option<f64>,
    /// The most acquisitions of a thread divided by the fewest, the median; `null` if one had none in most rounds.
    pub most_to_fewest: Option<f64>,
    /// Of the acquisitions that were timed, one of 16: the median wait.
    pub wait_p50_ns: Option<f64>,
    /// The wait that one of a hundred exceeds.
    pub wait_p99_ns: Option<f64>,
    /// The wait that one of a thousand exceeds.
    pub wait_p999_ns: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
}
