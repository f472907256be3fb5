//! The report of the coherence benchmark, as values and as JSON. The field names are documented in docs/json/cc.md.

use serde::Serialize;

use super::distribution::Distribution;
use super::home::Home;
use super::timer::TimerRow;
use crate::published::PublishedFigure;

/// The outcome of `corecast cc`.
#[derive(Clone, Debug, Serialize)]
pub struct CoherenceReport {
    /// The machine's name.
    pub machine: String,
    /// The commit that the program was built from; `null` if it was not built in a git checkout.
    pub commit: Option<String>,
    /// From this the order of lines was drawn.
    pub seed: u64,
    /// True for fewer samples.
    pub quick: bool,
    /// The timer of every CPU, whose medians are taken off all samples.
    pub timers: Vec<TimerRow>,
    /// Alone on a CPU, by pairs from near to far, and all at once.
    pub groups: Vec<CoherenceGroup>,
    /// Published figures of other machines.
    pub published: Vec<PublishedFigure>,
}

/// How participants are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// One participant.
    Alone,
    /// Two at a distance, and sharers beyond them where a case takes some.
    Pair,
    /// All CPUs at once.
    All,
    /// All CPUs of some clusters at once.
    Clusters,
}

/// Cases that ran on the same CPUs.
#[derive(Clone, Debug, Serialize)]
pub struct CoherenceGroup {
    /// How participants are placed.
    pub placement: Placement,
    /// The distance of the two CPUs of a pair, in words; `null` for other placements.
    pub distance: Option<&'static str>,
    /// Of a pair: which of its CPUs its lines lie near; `null` where there is one NUMA node, and for other placements.
    pub home: Option<Home>,
    /// Of some clusters: their number, from the first on; `null` for other placements.
    pub clusters: Option<usize>,
    /// The CPUs, the two of a pair first; sharers run on the first of those that follow.
    pub cpus: Vec<u32>,
    /// One entry for each case, and for each number of sharers.
    pub cells: Vec<CoherenceCell>,
}

/// One case there.
#[derive(Clone, Debug, Serialize)]
pub struct CoherenceCell {
    /// Its name.
    pub case: String,
    /// Its number in ccbench; `null` if that has no such case.
    pub number: Option<u8>,
    /// The measured operation.
    pub operation: String,
    /// On lines in which state, or which lines.
    pub lines: String,
    /// The share of operations whose line came from another CPU; `null` where that is not counted.
    pub handed: Option<f64>,
    /// Participants beyond two.
    pub sharers: usize,
    /// How long it took, the timer taken off; `null` if it was skipped.
    pub times: Option<Distribution>,
    /// Why it was not measured; `null` if it was.
    pub skipped: Option<String>,
}
