//! The report of `bench memcached`, as values and as JSON. The field names are documented in docs/json/bench.md.

use corecast_race::gate::Gate;
use serde::Serialize;

use super::generated::MemcachedLeftOut;
use crate::published::PublishedFigure;

/// The outcome of `corecast bench memcached`.
#[derive(Clone, Debug, Serialize)]
pub struct MemcachedReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this all orders and keys were drawn.
    pub seed: u64,
    /// True for fewer and shorter blocks.
    pub quick: bool,
    /// Busy processes beside all launches and blocks.
    pub busy: usize,
    /// The experiment that was repeated; `null` for the usual run.
    pub preset: Option<&'static str>,
    /// The server's own words for its version; `null` if there is none.
    pub version: Option<String>,
    /// The CPUs of the server and of its clients, if they have their own; empty if they share all.
    pub server_cpus: Vec<u32>,
    /// See above.
    pub client_cpus: Vec<u32>,
    /// Threads of clients.
    pub client_threads: usize,
    /// Connections of all clients together.
    pub connections: usize,
    /// Requests that a connection sends before it reads the answers.
    pub pipeline: usize,
    /// Different keys.
    pub keys: u32,
    /// The length of a key.
    pub key_bytes: usize,
    /// The length of a value.
    pub value_bytes: usize,
    /// How long a block was: each contender has one with a closed loop and one with an open loop in each round.
    pub block_ms: u64,
    /// Rounds of each cell.
    pub rounds: usize,
    /// One entry for each mix and number of the server's threads.
    pub cells: Vec<MemcachedCell>,
    /// The same of load generators that were written elsewhere. None is judged.
    pub generated: Vec<MemcachedCell>,
    /// Generators that are not here.
    pub left_out: Vec<MemcachedLeftOut>,
    /// Published figures of other machines.
    pub published: Vec<PublishedFigure>,
    /// The demands on the lock shim, and whether they are met here.
    pub gates: Vec<Gate>,
}

/// All contenders in one situation, interleaved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemcachedCell {
    /// The program that asks: `corecast`, `memslap` or `memtier`.
    pub client: &'static str,
    /// The server's threads.
    pub threads: usize,
    /// `get`, `set`, `mixed` or `half`.
    pub mix: &'static str,
    /// `uniform`, or `zipf 0.99`; `its own` of a generator's.
    pub keys: &'static str,
    /// True if the server has more threads than CPUs.
    pub oversubscribed: bool,
    /// Requests in a second that the open loops intend; `null` if no contender ran, and of generators.
    pub open_rps: Option<f64>,
    /// One entry for each contender.
    pub rows: Vec<MemcachedRow>,
}

/// The results of one contender there: medians over the rounds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct MemcachedRow {
    /// `none` (no shim), `pthread` (a shim that passes everything on), or a lock.
    pub contender: String,
    /// True if the lock is corecast's.
    pub ours: bool,
    /// Requests in a second with closed loops.
    pub rps: Option<f64>,
    /// The same over that of `none` in the same round.
    pub ratio: Option<f64>,
    /// The server's CPU time for a request, closed loops; `null` of generators, as are the next three.
    pub cpu_ns: Option<f64>,
    /// From the intended start of a request to its answer, open loops; `null` if the server did less than was intended.
    pub p50_ns: Option<f64>,
    /// The time that one of a hundred exceeds.
    pub p99_ns: Option<f64>,
    /// The time that one of a thousand exceeds.
    pub p999_ns: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it broke down.
    pub failed: bool,
    /// Requests in a second of each round, in the rounds' order.
    #[serde(skip)]
    pub rates: Vec<f64>,
}

corecast_race::contender_rows!(MemcachedRow);
