//! The report of the benchmark of transactional memories, as values and as JSON. The field names are documented in
//! docs/json/bench.md.

use serde::Serialize;

use super::contenders::ROUND_TRIPS;
use crate::published::PublishedFigure;
use corecast_race::contender_rows;
use corecast_race::gate::Gate;

contender_rows!(TmRow);

/// The outcome of `corecast bench tm`.
#[derive(Clone, Debug, Serialize)]
pub struct TmReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders and all draws were made.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// The experiment that was repeated; `null` if none.
    pub preset: Option<&'static str>,
    /// The CPUs that participants were bound to, in turn.
    pub cpus: Vec<u32>,
    /// How channels waited.
    pub wait: String,
    /// One of each of these numbers of participants was a server, where there were servers.
    pub every: Vec<usize>,
    /// The length in bytes of the text of `map-reduce`.
    pub text_bytes: usize,
    /// How long a block was.
    pub block_ms: u64,
    /// Blocks of each contender in each situation.
    pub rounds: usize,
    /// True if the user ended the run before all situations were raced: `cells` has those that were.
    pub cut: bool,
    /// One entry for each workload with its numbers and each number of participants.
    pub cells: Vec<TmCell>,
    /// Published figures of TM2C, of other machines.
    pub published: Vec<PublishedFigure>,
    /// Transactions of `shared-fair-cm` / of `one-lock`, of the bank without checks and with a client on each CPU: told, and not
    /// judged; `null` if one of both was not raced there.
    pub over_one_lock: Option<f64>,
    /// The demands on corecast, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// All contenders in one situation, interleaved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TmCell {
    /// `bank`, `table`, `list`, `map`, `queue`, `map-reduce`, `writes` or `mp`.
    pub workload: &'static str,
    /// Transactions of a bank, in 100, that sum two accounts; `null` of other workloads.
    pub checks_percent: Option<u32>,
    /// Clients of a bank that only sum all accounts; `null` of other workloads.
    pub readers: Option<usize>,
    /// Transactions of a bank, in 100, of the other clients that sum all accounts; `null` of other workloads.
    pub scans_percent: Option<u32>,
    /// Keys of a set at the start, of twice as many; `null` of other workloads.
    pub initial: Option<u64>,
    /// Keys of a table's bucket on average; `null` of other workloads.
    pub load: Option<u64>,
    /// Operations on a set, in 100, that change it; `null` of other workloads.
    pub updates_percent: Option<u32>,
    /// Operations on a table, in 100, that move a value from one key to another; `null` of other workloads.
    pub moves_percent: Option<u32>,
    /// Operations on a table, in 100, that look at all keys at one moment; `null` of other workloads.
    pub snapshots_percent: Option<u32>,
    /// Clients and servers together.
    pub participants: usize,
    /// True if there are more participants than CPUs.
    pub oversubscribed: bool,
    /// One entry for each contender.
    pub rows: Vec<TmRow>,
}

/// The results of one contender there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TmRow {
    /// A form and a manager of corecast's, such as `messages-fair-cm`, or another memory, or locks.
    pub contender: String,
    /// True for corecast's transactional memory.
    pub ours: bool,
    /// Threads that run transactions.
    pub clients: usize,
    /// Threads that serve them.
    pub servers: usize,
    /// One of this number of participants was a server; `null` if there were none.
    pub every: Option<usize>,
    /// Millions of transactions in a second, of all clients, but for sums of all accounts and looks at all keys: the median over
    /// the rounds; `null` if it was skipped.
    pub mtps: Option<f64>,
    /// The least and the most of a round.
    pub min_mtps: Option<f64>,
    /// See above.
    pub max_mtps: Option<f64>,
    /// The same of each round, in their order; none if it was skipped.
    pub rounds_mtps: Vec<f64>,
    /// The best memory of the cell divided by this: 1 for the best; `null` of `messages-round-trips`, which is none.
    pub regret: Option<f64>,
    /// How long a client takes for a transaction, or a round trip, on average, in nanoseconds.
    pub transaction_ns: Option<f64>,
    /// Attempts that were aborted as a part of all, over all rounds.
    pub aborts: Option<f64>,
    /// Sums of all accounts, or looks at all keys, in a second, the median; `null` if nobody does that.
    pub scans_per_s: Option<f64>,
    /// Jain's index of the clients' transactions, the median, of those that do not only read.
    pub jain: Option<f64>,
    /// Jain's index of the time that all clients spent in attempts that committed, the median; `null` where it is not taken.
    pub jain_of_time: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down. False if it was timed, or could not take part.
    pub failed: bool,
}

impl TmRow {
    /// Whether it keeps data: all but bare round trips do.
    #[must_use]
    pub fn is_memory(&self) -> bool {
        self.contender != ROUND_TRIPS
    }
}
