//! `corecast bench nodes`: groups over several machines, beside plain MPI with the same number of members.
//!
//! The hosts are network namespaces of this machine, with virtual interfaces between them. Every library that is installed
//! launches the same program on them: once as members of a group over all hosts, with MPI between these, and once as plain ranks,
//! in turns. Each launch checks every operation before it times it. A ratio is the median of the ratios of neighbouring launches.
//! All hosts share the CPUs of this machine, so only ratios mean something, and no time is that of a network.

mod bed;
mod conformance;
mod death;
mod flat;
mod gates;
mod kill;
mod launch;
mod library;
mod line;
mod member;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use corecast::collective::MAX_MEMBERS;
use corecast::machine::Machine;
use serde::Serialize;

use self::bed::{Bed, MAX_HOSTS};
use self::kill::{Campaign, kill_many};
use self::launch::{Ended, Launch};
use self::library::Library;
use self::work::{Case, Task};
use crate::rules::judge;
use crate::stats::{Samples, median};
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::gate::Gate;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

pub use self::kill::{NodesDeathRow, Victim};
pub use self::launch::NodesPrograms;
pub use self::line::{NodesLine, run_on_nodes};
pub use self::member::nodes_member;
pub use self::work::{NodesOp, NodesShape};

/// The most members on a host.
pub const MAX_NODE_MEMBERS: usize = 256;
/// The most hosts.
pub const MAX_NODES: usize = MAX_HOSTS;

/// Settings of a run of its own.
#[derive(Clone, Debug)]
pub struct NodesOptions {
    /// The number of hosts.
    pub hosts: usize,
    /// The numbers of members on each host.
    pub members: Vec<usize>,
    /// Folders of further libraries, each with `bin/mpiexec` and `lib`.
    pub homes: Vec<PathBuf>,
    /// The libraries to take, by name; all if there are none.
    pub libraries: Vec<String>,
    /// How members become processes and threads.
    pub shape: NodesShape,
    /// Launches of each kind in a race, or deaths; a default if `None`.
    pub runs: Option<usize>,
    /// The work of this run.
    pub work: NodesWork,
    /// The programs that launchers start.
    pub programs: NodesPrograms,
}

/// The work of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodesWork {
    /// Times operations, beside plain MPI.
    Race,
    /// Checks this number of random operations in each cell.
    Check(u64),
    /// Kills this.
    Kill(Victim),
}

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
    /// One entry for each timed operation.
    pub rows: Vec<NodesRow>,
    /// One entry for each cell of checked operations.
    pub checks: Vec<NodesCheckRow>,
    /// One entry for each library whose launches lost something.
    pub deaths: Vec<NodesDeathRow>,
    /// The libraries that did not take part.
    pub skipped: Vec<NodesSkipped>,
    /// The demands, and whether they hold here.
    pub gates: Vec<Gate>,
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
    /// Launches of each.
    pub launches: usize,
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
    /// Members on each host.
    pub members: usize,
    /// How members are processes and threads.
    pub shape: NodesShape,
    /// Operations.
    pub operations: u64,
    /// The first wrong result, or the reason why there is none; `null` if all were right.
    pub wrong: Option<String>,
}

/// A library that did not take part.
#[derive(Clone, Debug, Serialize)]
pub struct NodesSkipped {
    /// The library.
    pub library: String,
    /// Why.
    pub reason: String,
}

/// Everything that a run needs.
struct Run<'a> {
    bed: Bed,
    settings: &'a NodesOptions,
    options: &'a Options,
    report: NodesReport,
    random: fastrand::Rng,
}

/// Races, checks or kills members of groups over several hosts.
///
/// # Errors
/// [`BenchError::Participants`] for a group that cannot be, [`BenchError::Cancelled`], or [`BenchError::Failed`] if a launcher
/// cannot be started at all. A library that is missing, and a machine without the rights to make hosts, are reported.
pub fn nodes(
    machine: &Machine,
    settings: &NodesOptions,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<NodesReport, BenchError> {
    let participants = settings.hosts * settings.members.iter().max().copied().unwrap_or(1);
    if participants > MAX_MEMBERS {
        return Err(BenchError::Participants { participants, most: MAX_MEMBERS });
    }
    let (mut libraries, missing) = library::find(&settings.homes);
    let is_wanted =
        |name: &str| settings.libraries.is_empty() || settings.libraries.iter().any(|wanted| wanted == name);
    libraries.retain(|library| is_wanted(&library.name));
    let missing = missing.into_iter().filter(|(name, _)| is_wanted(name));
    let skipped = missing.map(|(library, reason)| NodesSkipped { library, reason }).collect();
    let mut report = NodesReport::empty(machine, settings, options, skipped);
    match Bed::make(settings.hosts) {
        Ok(bed) => {
            let random = fastrand::Rng::with_seed(report.seed);
            let mut run = Run { bed, settings, options, report, random };
            run.all(&libraries, progress)?;
            report = run.report;
        }
        Err(reason) => {
            let skip = |library: Library| NodesSkipped { library: library.name, reason: reason.clone() };
            report.skipped.extend(libraries.into_iter().map(skip));
        }
    }
    report.gates = judge(gates::RULES, &report);
    progress.step(1.0, "done");
    Ok(report)
}

impl NodesReport {
    fn empty(machine: &Machine, settings: &NodesOptions, options: &Options, skipped: Vec<NodesSkipped>) -> Self {
        Self {
            machine: machine.name.clone(),
            commit: options.commit.clone(),
            seed: options.seed_or_draw(),
            quick: options.quick,
            hosts: settings.hosts,
            rows: Vec::new(),
            checks: Vec::new(),
            deaths: Vec::new(),
            skipped,
            gates: Vec::new(),
        }
    }
}

impl Run<'_> {
    fn all(&mut self, libraries: &[Library], progress: &mut dyn Progress) -> Result<(), BenchError> {
        let members = self.settings.members.clone();
        for (place, library) in libraries.iter().enumerate() {
            for (at, &members) in members.iter().enumerate() {
                let cells = (libraries.len() * self.settings.members.len()) as f64;
                let share = (place * self.settings.members.len() + at) as f64 / cells;
                let what = format!("{}, {} hosts with {members} members", library.name, self.settings.hosts);
                let mut step =
                    |part: f64, words: &str| progress.step(share + part / cells, &format!("{what}: {words}"));
                match self.settings.work {
                    NodesWork::Race => self.race(library, members, &mut step)?,
                    NodesWork::Check(rounds) => self.check(library, members, rounds, &mut step)?,
                    NodesWork::Kill(victim) => self.kill(library, members, victim, &mut step)?,
                }
            }
        }
        Ok(())
    }

    /// The cases of a race.
    fn cases() -> Vec<Case> {
        let short = [NodesOp::Barrier, NodesOp::Broadcast, NodesOp::Allreduce].map(|op| Case { op, bytes: 8 });
        let long = [8 << 10, 256 << 10, 1 << 20].map(|bytes| Case { op: NodesOp::Allreduce, bytes });
        short.into_iter().chain(long).collect()
    }

    fn race(&mut self, library: &Library, members: usize, step: &mut dyn FnMut(f64, &str)) -> Result<(), BenchError> {
        let cases = Self::cases();
        let launches = self.settings.runs.unwrap_or(if self.options.quick { 2 } else { 10 });
        let mut times: Vec<[Vec<f64>; 2]> = Vec::new();
        for launch in 0..launches {
            step(launch as f64 / launches as f64, &format!("launch {} of {launches}", launch + 1));
            let shapes = [self.settings.shape, NodesShape::Plain];
            let is_plain_first = self.random.bool();
            let mut pair = [Vec::new(), Vec::new()];
            for place in if is_plain_first { [1, 0] } else { [0, 1] } {
                match self.timed(library, members, shapes[place], &cases)? {
                    Ok(found) => pair[place] = found,
                    Err(reason) => {
                        let library = format!("{}, {members} members, {:?}", library.name, shapes[place]);
                        self.report.skipped.push(NodesSkipped { library, reason });
                        return Ok(());
                    }
                }
            }
            times.push(pair);
        }
        let rows = cases.iter().enumerate().map(|(place, &case)| self.row(library, members, case, place, &times));
        let rows: Vec<NodesRow> = rows.collect();
        self.report.rows.extend(rows);
        Ok(())
    }

    fn row(&self, library: &Library, members: usize, case: Case, place: usize, times: &[[Vec<f64>; 2]]) -> NodesRow {
        let ratios = Samples::of(times.iter().map(|[ours, plain]| plain[place] / ours[place]));
        let of = |which: usize| median(&times.iter().map(|pair| pair[which][place] / 1e3).collect::<Vec<f64>>());
        NodesRow {
            library: library.name.clone(),
            hosts: self.settings.hosts,
            members,
            shape: self.settings.shape,
            op: case.op,
            bytes: if case.op == NodesOp::Barrier { 0 } else { case.bytes },
            launches: times.len(),
            ours_us: of(0),
            plain_us: of(1),
            ratio: median(ratios.all()),
            least_ratio: ratios.least(),
            most_ratio: ratios.most(),
        }
    }

    /// The nanoseconds of each case in one launch, or the reason why there are none.
    fn timed(
        &mut self,
        library: &Library,
        members: usize,
        shape: NodesShape,
        cases: &[Case],
    ) -> Result<Result<Vec<f64>, String>, BenchError> {
        let budget_ms = if self.options.quick { 60 } else { 200 };
        let task = Task::Time { cases: cases.to_vec(), budget_ms };
        self.outcome(library, members, shape, task, Duration::from_secs(120))
    }

    /// The outcome of one launch, or the reason why there is none.
    fn outcome(
        &mut self,
        library: &Library,
        members: usize,
        shape: NodesShape,
        task: Task,
        limit: Duration,
    ) -> Result<Result<Vec<f64>, String>, BenchError> {
        let work = (shape, members, task);
        let launch = Launch::start(&self.bed, library, &self.settings.programs, self.settings.hosts, work)?;
        let (work, _folder, ended) = launch.finish(limit, self.options)?;
        let outcome: Option<Vec<f64>> = work.told("outcome");
        Ok(match (ended, outcome) {
            (Ended::Well, Some(outcome)) => Ok(outcome),
            (Ended::Well, None) => Err("the launch has told nothing".to_owned()),
            (Ended::Badly(words), _) => Err(words),
            (Ended::Hung, _) => Err(format!("the launch took more than {} s", limit.as_secs())),
        })
    }

    fn check(
        &mut self,
        library: &Library,
        members: usize,
        rounds: u64,
        step: &mut dyn FnMut(f64, &str),
    ) -> Result<(), BenchError> {
        let shapes = [NodesShape::Threads, NodesShape::Nested, NodesShape::Ranks, NodesShape::DealtRanks];
        // A single rank on each host is dealt in turns in any case.
        let shapes = &shapes[..if members == 1 { 3 } else { 4 }];
        for (place, &shape) in shapes.iter().enumerate() {
            step(place as f64 / shapes.len() as f64, "random operations");
            let task = Task::Check { rounds, seed: self.random.u64(..1 << 53) };
            let outcome = self.outcome(library, members, shape, task, Duration::from_secs(300))?;
            self.report.checks.push(NodesCheckRow {
                library: library.name.clone(),
                hosts: self.settings.hosts,
                members,
                shape,
                operations: rounds,
                wrong: outcome.err(),
            });
        }
        Ok(())
    }

    fn kill(
        &mut self,
        library: &Library,
        members: usize,
        victim: Victim,
        step: &mut dyn FnMut(f64, &str),
    ) -> Result<(), BenchError> {
        if victim == Victim::Member && members < 2 {
            return Err(BenchError::Failed(Failure::refused(
                "a member that does not lead takes two members on a host",
            )));
        }
        let runs = self.settings.runs.unwrap_or(if self.options.quick { 5 } else { 50 });
        let campaign = Campaign { victim, hosts: self.settings.hosts, members, runs };
        let done = |run: usize| step(run as f64 / runs as f64, &format!("death {} of {runs}", run + 1));
        let (bed, programs) = (&self.bed, &self.settings.programs);
        let row = kill_many(bed, library, programs, campaign, self.options, &mut self.random, done)?;
        self.report.deaths.push(row);
        Ok(())
    }
}
