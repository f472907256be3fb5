//! The report of the lock benchmarks, as values and as JSON. The field names are documented in docs/json/bench.md.

use serde::Serialize;

use super::published::PublishedScaling;
use super::readers::ReaderReport;
use corecast_race::contender_rows;
use corecast_race::gate::Gate;

contender_rows!(LockRow, DistanceRow, FlipRow, PairRow);

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
    /// The cost of a lock that no other thread wants.
    pub pairs: Vec<PairRow>,
    /// The cost of taking and freeing a lock that another CPU had last: alone first, then from near to far.
    pub distances: Vec<LockDistance>,
    /// Many threads at once, over one lock or several.
    pub cells: Vec<LockCell>,
    /// The locks that closures are sent to, and all others, at one piece of data. Of the threads of `delegate` one is its server.
    pub combining: Vec<LockCell>,
    /// Readers and writers of one value.
    pub readers: ReaderReport,
    /// One lock while what threads do alternates; none unless that was asked for.
    pub flips: Vec<LockFlips>,
    /// The regret of each lock over all cells, the best first; without locks that were skipped in a cell.
    pub regrets: Vec<RegretRow>,
    /// The figures of SSYNC, of other machines.
    pub published: Vec<PublishedScaling>,
    /// Situations that were not run, as the time was over.
    pub left_out: usize,
    /// The demands on corecast, and whether they hold here.
    pub gates: Vec<Gate>,
}

/// The cost of taking and freeing one lock, alone.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PairRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// The median over the rounds, for one pair; `null` if it was skipped.
    pub median_ns: Option<f64>,
    /// The fastest round.
    pub min_ns: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down. False if it was timed, or could not take part.
    pub failed: bool,
}

/// All locks taken in turns by two CPUs, or by one.
#[derive(Clone, Debug, Serialize)]
pub struct LockDistance {
    /// The distance of the CPUs in words, or `alone`.
    pub distance: String,
    /// The CPUs.
    pub cpus: Vec<u32>,
    /// The bare exchange, and then one entry for each lock.
    pub rows: Vec<DistanceRow>,
}

/// The costs of one lock there. The median of the empty timer is taken off.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DistanceRow {
    /// Its name, or `bare-cas` for one compare and exchange.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// The median time to take it; `null` if it was skipped.
    pub acquire_p50_ns: Option<f64>,
    /// One of a hundred exceeds this.
    pub acquire_p99_ns: Option<f64>,
    /// The median time to free it.
    pub release_p50_ns: Option<f64>,
    /// One of a hundred exceeds this.
    pub release_p99_ns: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}

/// The regret of one lock against the one that was best in each cell.
#[derive(Clone, Debug, Serialize)]
pub struct RegretRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// The geometric mean over all cells.
    pub mean: f64,
    /// Where that lies in 95 of 100 draws of the same number of cells from these.
    pub interval: [f64; 2],
    /// One cell of 20 exceeds this.
    pub p95: f64,
    /// The worst cell.
    pub max: f64,
    /// All cells, ascending.
    pub curve: Vec<f64>,
}

/// All locks in one situation, interleaved.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LockCell {
    /// Threads that take locks.
    pub threads: usize,
    /// The locks that they choose from at random.
    pub locks: usize,
    /// How long each spins in the critical section, beyond writing a line.
    pub hold_ns: u64,
    /// How many times as long it stays outside between two; `null` for what SSYNC does: 200 ns where several threads take one
    /// lock, and none elsewhere.
    pub gap: Option<u32>,
    /// How long that is.
    pub gap_ns: u64,
    /// Threads beside that spin and take no lock, each bound to a CPU, in turn.
    pub foreign: usize,
    /// True if each thread is bound to a CPU, in turn.
    pub pinned: bool,
    /// True if there are more threads than CPUs, the foreign ones included.
    pub oversubscribed: bool,
    /// One entry for each lock.
    pub rows: Vec<LockRow>,
}

impl LockCell {
    /// Whether it is as in SSYNC's experiment, with no load beside.
    pub(super) fn is_plain(&self) -> bool {
        self.gap.is_none() && self.foreign == 0
    }
}

/// The results of one lock there.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LockRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Millions of acquisitions in a second, of all threads: the median over the rounds; `null` if it was skipped.
    pub mops: Option<f64>,
    /// The throughput of the fixed lock that was best in the odd rounds, in the even ones, divided by this one's in them.
    pub regret: Option<f64>,
    /// Jain's index of the threads' acquisitions, the median: 1 if all are equal, 1 / threads if one has them all.
    pub jain: Option<f64>,
    /// The same over one block of 100 ms, in which the system gives each thread several turns; `null` for one thread, and in a
    /// quick run for all but `auto` and `std`.
    pub jain_100ms: Option<f64>,
    /// The longest wait in that block, of those that were timed, ns.
    pub wait_max_100ms_ns: Option<f64>,
    /// The most acquisitions of a thread divided by the fewest, the median; `null` if one had none in half of them or more.
    pub most_to_fewest: Option<f64>,
    /// Of the acquisitions that were timed, one of 16: the mean wait.
    pub wait_mean_ns: Option<f64>,
    /// The median wait.
    pub wait_p50_ns: Option<f64>,
    /// The wait that one of a hundred exceeds.
    pub wait_p99_ns: Option<f64>,
    /// The wait that one of a thousand exceeds.
    pub wait_p999_ns: Option<f64>,
    /// The longest wait.
    pub wait_max_ns: Option<f64>,
    /// The longest wait in a round divided by the mean one in it, of those that were timed, the median; it grows with the block.
    pub longest_to_mean: Option<f64>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}

/// All locks, one at a time, while what threads do with it alternates between two phases, interleaved.
#[derive(Clone, Debug, Serialize)]
pub struct LockFlips {
    /// The two phases that alternate.
    pub phases: [FlipPhase; 2],
    /// How long each phase lasts.
    pub phase_ms: u64,
    /// True if there are more threads than CPUs in one of them.
    pub oversubscribed: bool,
    /// One entry for each lock.
    pub rows: Vec<FlipRow>,
}

/// The work of the threads in one phase.
#[derive(Clone, Debug, Serialize)]
pub struct FlipPhase {
    /// Threads that take the lock, each bound to a CPU, in turn.
    pub threads: usize,
    /// How long each spins in the critical section, beyond writing a line.
    pub hold_ns: u64,
}

/// The results of one lock. Each pair is of the two phases.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FlipRow {
    /// Its name.
    pub contender: String,
    /// True for what corecast offers.
    pub ours: bool,
    /// Millions of acquisitions in a second, of all threads: the median over phases that follow a flip; `null` if it was skipped.
    pub mops: [Option<f64>; 2],
    /// How long after the flip into the phase throughput was below 0.8 of what it is in the second half, by the millisecond, of
    /// the medians over all flips. Half of a phase is the most that can be told.
    pub settled_ms: [Option<f64>; 2],
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
    /// True if it took part and broke down: a time-out, a wrong result, a panic, an error of its own. False if it was timed, or
    /// could not take part.
    pub failed: bool,
}
