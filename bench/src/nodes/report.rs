//! The outcome of `corecast bench nodes`.

use corecast::machine::Machine;
use corecast_race::gate::Gate;
use corecast_race::options::Options;
use serde::Serialize;

use super::NodesOptions;
use super::idle::NodesIdleRow;
use super::kill::NodesDeathRow;
use super::model::NodesModelRow;
use super::work::{NodesOp, NodesShape};

/// The outcome of `corecast bench nodes`.
#[derive(Clone, Debug, Serialize)]
pub struct NodesReport {
    /// The machine's name.
    pub machine: String,
    /// The commit this was built from, if it was in a repository.
    pub commit: Option<String>,
    /// The seed of random choices.
    pub seed: u64,
    /// True if it was a short run.
    pub quick: bool,
    /// The number of hosts.
    pub hosts: usize,
    /// The members of each host that share long slices.
    pub lanes: usize,
    /// One entry for each timed operation.
    pub rows: Vec<NodesRow>,
    /// One entry for each cell of checked operations.
    pub checks: Vec<NodesCheckRow>,
    /// One entry for each cell of members that waited for a late one.
    pub idle: Vec<NodesIdleRow>,
    /// One entry for each operation by the model and by the clock.
    pub model: Vec<NodesModelRow>,
    /// One entry for each library whose launches lost something.
    pub deaths: Vec<NodesDeathRow>,
    /// One entry for each launch that was repeated, as its launcher had failed by itself.
    pub relaunches: Vec<NodesRelaunch>,
    /// The libraries that did not take part.
    pub skipped: Vec<NodesSkipped>,
    /// The demands, and whether they hold here.
    pub gates: Vec<Gate>,
}

impl NodesReport {
    pub(super) fn empty(
        machine: &Machine,
        settings: &NodesOptions,
        options: &Options,
        skipped: Vec<NodesSkipped>,
    ) -> Self {
        Self {
            machine: machine.name.clone(),
            commit: options.commit.clone(),
            seed: options.seed_or_draw(),
            quick: options.quick,
            hosts: settings.hosts,
            lanes: settings.lanes,
            rows: Vec::new(),
            checks: Vec::new(),
            idle: Vec::new(),
            model: Vec::new(),
            deaths: Vec::new(),
            relaunches: Vec::new(),
            skipped,
            gates: Vec::new(),
        }
    }

    /// The number of rows with something that did not go as it should at our groups.
    #[must_use]
    pub fn wrong(&self) -> usize {
        let rows = self.rows.iter().filter(|row| row.wrong.is_some()).count();
        let checks = self.checks.iter().filter(|row| row.wrong.is_some() || row.is_late).count();
        let idle = self.idle.iter().filter(|row| row.wrong.is_some()).count();
        let model = self.model.iter().filter(|row| row.wrong.is_some()).count();
        rows + checks + idle + model + self.deaths.iter().filter(|row| row.first_wrong.is_some()).count()
    }
}

/// One operation of ours and of plain MPI.
#[derive(Clone, Debug, Serialize)]
pub struct NodesRow {
    /// The library.
    pub library: String,
    /// Hosts.
    pub hosts: usize,
    /// Members on each host.
    pub members: usize,
    /// How members are processes and threads.
    pub shape: NodesShape,
    /// The operation.
    pub op: NodesOp,
    /// The bytes that it carries.
    pub bytes: usize,
    /// Launches of each that ended well.
    pub launches: usize,
    /// A wrong result, an error or a hang of a launch of our group, after which no further one was made; `null` if all ended
    /// well.
    pub wrong: Option<String>,
    /// The time in our group, in microseconds: the median of all launches.
    pub ours_us: Option<f64>,
    /// The time in plain MPI, in microseconds: the median of all launches.
    pub plain_us: Option<f64>,
    /// Plain MPI's time divided by ours, the median over pairs of launches: above 1 ours is faster.
    pub ratio: Option<f64>,
    /// The least of these ratios.
    pub least_ratio: Option<f64>,
    /// The greatest of them.
    pub most_ratio: Option<f64>,
}

/// Checked operations of one cell.
#[derive(Clone, Debug, Serialize)]
pub struct NodesCheckRow {
    /// The library.
    pub library: String,
    /// Hosts.
    pub hosts: usize,
    /// Members on each host; on the one with the most, where hosts have different numbers.
    pub members: usize,
    /// The numbers of members, host by host, as in `1+3`; `null` where all hosts have the same.
    pub uneven: Option<String>,
    /// How members are processes and threads.
    pub shape: NodesShape,
    /// Operations.
    pub operations: u64,
    /// The first wrong result, or the reason why there is none; `null` if all were right, or the launch was ended.
    pub wrong: Option<String>,
    /// True if the launch was ended, as it was not done after 120 s and 0.1 s for each operation.
    pub is_late: bool,
}

/// A launch that was repeated, as its launcher had failed by itself and no process had told a fault.
#[derive(Clone, Debug, Serialize)]
pub struct NodesRelaunch {
    /// The library.
    pub library: String,
    /// How members are processes and threads.
    pub shape: NodesShape,
    /// The launcher's words.
    pub reason: String,
}

/// A library that did not take part.
#[derive(Clone, Debug, Serialize)]
pub struct NodesSkipped {
    /// The library.
    pub library: String,
    /// Why.
    pub reason: String,
}
