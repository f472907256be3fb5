//! The report of the table benchmark, as values and as JSON. The field names are documented in docs/json/bench.md.

use serde::Serialize;

use super::published::Published;
use corecast_race::contender_rows;
use corecast_race::gate::Gate;

contender_rows!(TableRow);

/// The outcome of `corecast bench table`.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders and keys were drawn.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// The CPUs that threads were bound to, in turn.
    pub cpus: Vec<u32>,
    /// How channels waited.
    pub wait: String,
    /// One of each of these numbers of participants was a server, where there were servers.
    pub every: Vec<usize>,
    /// How many operations the clients of batches had under way.
    pub batch: usize,
    /// The exponent of Zipf's law by which keys were drawn; `null` if uniformly.
    pub zipf: Option<f64>,
    /// True if threads were not bound to CPUs.
    pub unpinned: bool,
    /// True if a put wrote its 64 bytes.
    pub writes_payload: bool,
    /// True if critical sections ended by a full fence, as in the paper.
    pub fence: bool,
    /// How long a block was.
    pub block_ms: u64,
    /// Blocks of each contender in each situation.
    pub rounds: usize,
    /// One entry for each table and number of threads.
    pub cells: Vec<TableCell>,
    /// The figures of SSYNC, of other machines.
    pub published: &'static [Published],
    /// The demands on corecast, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// All contenders in one situation, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct TableCell {
    /// Buckets of the table.
    pub buckets: usize,
    /// Elements of a bucket, on average.
    pub mean: usize,
    /// Threads.
    pub threads: usize,
    /// True if there are more threads than CPUs.
    pub oversubscribed: bool,
    /// One entry for each contender.
    pub rows: Vec<TableRow>,
}

/// The results of one contender there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TableRow {
    /// A lock's name, that of another table, or of a rival.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Threads that tried operations: all, or those that are no servers.
    pub clients: usize,
    /// Threads that served them.
    pub servers: usize,
    /// One of this number of participants was a server; `null` if there were none.
    pub every: Option<usize>,
    /// Millions of tries in a second, of all clients: the median over the rounds; `null` if it was skipped.
    pub mops: Option<f64>,
    /// Their arithmetic mean, as in the paper.
    pub mean_mops: Option<f64>,
    /// The least and the most of a round.
    pub min_mops: Option<f64>,
    /// See above.
    pub max_mops: Option<f64>,
    /// The best of the cell divided by this: 1 for the best.
    pub regret: Option<f64>,
    /// Millions of successes in a second, the median.
    pub hit_mops: Option<f64>,
    /// Successes as a part of all tries, over all rounds.
    pub hits: Option<f64>,
    /// Gets as a part of all tries, over all rounds.
    pub gets: Option<f64>,
    /// Jain's index of the clients' tries, the median: 1 if all are equal, 1 / clients if one has them all.
    pub jain: Option<f64>,
    /// The most tries of a client divided by the fewest, the median; `null` if one had none in most rounds.
    pub most_to_fewest: Option<f64>,
    /// Half of the tries that were timed, one of 128, took no longer, in nanoseconds, looking at the clock included; at most 3 %
    /// off.
    pub p50_ns: Option<f64>,
    /// The same of 99 in 100; `null` with fewer than 100.
    pub p99_ns: Option<f64>,
    /// The same of 999 in 1000; `null` with fewer than 1000.
    pub p999_ns: Option<f64>,
    /// Tries that were timed.
    pub samples: u64,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}
