//! The report of `corecast bench busy`, with the names of its JSON, which docs/json/bench.md describes.

use serde::Serialize;

use super::neighbours::Neighbour;
use corecast_race::gate::{Gate, Verdict};

/// The outcome of `corecast bench busy`.
#[derive(Clone, Debug, Serialize)]
pub struct BusyReport {
    /// The machine's name.
    pub machine: String,
    /// The commit this was built from, if it was in a repository.
    pub commit: Option<String>,
    /// From this all orders were drawn.
    pub seed: u64,
    /// True for fewer cells, fewer rounds and a shorter limit.
    pub quick: bool,
    /// The CPUs in use.
    pub cpus: Vec<u32>,
    /// How the row `corecast` waited.
    pub wait: String,
    /// How the foreign processes stood with the scheduler.
    pub neighbour: Neighbour,
    /// True if they worked for 1 ms and slept for 1 ms, in turns.
    pub bursts: bool,
    /// The CPUs' worth of time that each contender was granted; `null` if all.
    pub quota_cpus: Option<f64>,
    /// Empty steps of each member between two operations.
    pub steps: u64,
    /// The longest time of a run, in milliseconds.
    pub limit_ms: u64,
    /// Runs of each contender in each cell, unless the time was over before.
    pub repetitions: usize,
    /// One entry for each operation in each situation.
    pub cells: Vec<BusyCell>,
    /// The demands, three or two for each cell.
    pub gates: Vec<Gate>,
}

/// One operation among the same members, beside the same load.
#[derive(Clone, Debug, Serialize)]
pub struct BusyCell {
    /// The operation.
    pub op: &'static str,
    /// How many take part.
    pub members: usize,
    /// The kind of members: `threads` or `processes`.
    pub place: &'static str,
    /// Whether each is bound to a CPU: member i to the i-th, and around.
    pub pinned: bool,
    /// Foreign processes beside, each with one busy thread.
    pub hogs: usize,
    /// The CPUs' worth of time that the foreign processes got while nothing else ran; `null` if there are none.
    pub hogs_alone: Option<f64>,
    /// The rounds that are asked of each run. Where they are over soon they are repeated.
    pub rounds: u64,
    /// One entry for each contender.
    pub rows: Vec<BusyRow>,
}

/// One contender in one cell. Times are medians over its finished runs, `null` if there is none.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BusyRow {
    /// Its name.
    pub contender: &'static str,
    /// True for what corecast offers.
    pub ours: bool,
    /// True for the row that the gates judge.
    pub judged: bool,
    /// True if a member that waits for long gives its CPU away until it is woken.
    pub sleeps: bool,
    /// Its finished runs.
    pub runs: usize,
    /// How long `rounds` rounds took together, in milliseconds, on average over all of the run.
    pub wall_ms: Option<f64>,
    /// The median time of a round, at member 0, in nanoseconds.
    pub median_ns: Option<f64>,
    /// The 99th percentile of the same.
    pub p99_ns: Option<f64>,
    /// The longest round.
    pub longest_ns: Option<f64>,
    /// CPU seconds of all members in `rounds` rounds; of the whole process, if it was ended.
    pub cpu_s: Option<f64>,
    /// CPU seconds that the foreign processes got in each second beside its finished runs; `null` if there were none, or the
    /// time was too short to tell.
    pub hogs_cpus: Option<f64>,
    /// Its `wall_ms` divided by that of the row that is judged.
    pub ratio: Option<f64>,
    /// Why one of its runs did not come to its end, in words; then it is not run again in this cell.
    pub unfinished: Option<String>,
    /// Why it was not run, in words.
    pub skipped: Option<String>,
    /// True if a run of it broke down, or had to be ended though its members sleep while they wait.
    pub failed: bool,
}

impl BusyCell {
    /// The row that the gates judge.
    #[must_use]
    pub fn judged(&self) -> Option<&BusyRow> {
        self.rows.iter().find(|row| row.judged)
    }

    /// The cell in words, such as `barrier, 2 threads, pinned, 1 hog`.
    #[must_use]
    pub fn situation(&self) -> String {
        let Self { op, members, place, pinned, hogs, .. } = self;
        let bound = if *pinned { "pinned" } else { "unpinned" };
        let hogs = format!("{hogs} hog{}", if *hogs == 1 { "" } else { "s" });
        format!("{op}, {members} {place}, {bound}, {hogs}")
    }
}

impl BusyReport {
    /// The gates of a cell.
    pub fn gates_of<'a>(&'a self, cell: &BusyCell) -> impl Iterator<Item = &'a Gate> {
        let begin = format!("{}: ", cell.situation());
        self.gates.iter().filter(move |gate| gate.gate.starts_with(&begin))
    }

    /// Whether all gates of a cell that could be judged hold; `None` if none could.
    #[must_use]
    pub fn holds(&self, cell: &BusyCell) -> Option<bool> {
        let judged = self.gates_of(cell).filter(|gate| gate.verdict != Verdict::NotJudged);
        judged.map(|gate| gate.verdict == Verdict::Holds).reduce(|all, next| all && next)
    }

    /// The rows that did not come to their ends, each with its cell.
    pub fn unfinished(&self) -> impl Iterator<Item = (&BusyCell, &BusyRow)> {
        self.rows().filter(|(_, row)| row.unfinished.is_some())
    }

    /// The rows of corecast that failed, each with its cell.
    pub fn failed(&self) -> impl Iterator<Item = (&BusyCell, &BusyRow)> {
        self.rows().filter(|(_, row)| row.ours && row.failed)
    }

    fn rows(&self) -> impl Iterator<Item = (&BusyCell, &BusyRow)> {
        self.cells.iter().flat_map(|cell| cell.rows.iter().map(move |row| (cell, row)))
    }
}
