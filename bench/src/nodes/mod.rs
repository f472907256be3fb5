//! `corecast bench nodes`: groups over several machines, beside plain MPI with the same number of members.
//!
//! The hosts are network namespaces of this machine, with virtual interfaces between them. Every library that is installed
//! launches the same program on them: once as members of a group over all hosts, with MPI between these, and once as plain ranks,
//! in turns. Each launch checks every operation before it times it. A ratio is the median of the ratios of neighbouring launches.
//! All hosts share the CPUs of this machine, so only ratios mean something, and no time is that of a network.

mod bed;
mod campaign;
mod conformance;
mod death;
mod flat;
mod gates;
mod idle;
mod kill;
mod launch;
mod library;
mod line;
mod member;
mod model;
mod race;
mod report;
mod work;

use std::path::PathBuf;
use std::time::Duration;

use corecast::collective::MAX_MEMBERS;
use corecast::machine::Machine;

use self::bed::{Bed, MAX_HOSTS};
use self::campaign::Campaign;
use self::kill::kill_many;
use self::launch::{Ended, Launch};
use self::library::Library;
use self::work::{Task, Work};
use crate::rules::judge;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::options::Options;
use corecast_race::progress::Progress;
use tempfile::TempDir;

pub use self::campaign::Victim;
pub use self::idle::NodesIdleRow;
pub use self::kill::NodesDeathRow;
pub use self::launch::NodesPrograms;
pub use self::line::{NodesLine, run_on_nodes};
pub use self::member::nodes_member;
pub use self::model::NodesModelRow;
pub use self::report::{NodesCheckRow, NodesRelaunch, NodesReport, NodesRow, NodesSkipped};
pub use self::work::{DeathPlace, HostMembers, NodesOp, NodesShape};

/// The most members on a host.
const MAX_NODE_MEMBERS: usize = 256;
/// The most hosts.
pub const MAX_NODES: usize = MAX_HOSTS;

/// The most launches of one work whose launcher fails by itself.
const MAX_LAUNCHES: usize = 3;

/// Settings of a run of its own.
#[derive(Clone, Debug)]
pub struct NodesOptions {
    /// The number of hosts.
    pub hosts: usize,
    /// The numbers of members on each host, for a cell each.
    pub members: Vec<HostMembers>,
    /// Folders of further libraries, each with `bin/mpiexec` and `lib`.
    pub homes: Vec<PathBuf>,
    /// The libraries to take, by name; all if there are none.
    pub libraries: Vec<String>,
    /// How members become processes and threads; where some are killed, nested or ranks.
    pub shape: NodesShape,
    /// The members of each host that share long slices; more than one only among ranks.
    pub lanes: usize,
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
    /// Lets all members wait for a late one, and takes their CPU time.
    Idle,
    /// Measures the messages between hosts and times operations, on 2 hosts, on 3 and so on to all of them.
    Model,
    /// Kills this, at any time or, if it is a leader, at a place.
    Kill(Victim, Option<DeathPlace>),
}

/// The limit of a launch of random operations, and the time that each operation adds to it: an operation takes up to
/// some tens of milliseconds where many processes share a CPU.
const CHECK_LIMIT: Duration = Duration::from_secs(120);
const CHECK_LIMIT_OF_ROUND: Duration = Duration::from_millis(100);

/// The reason why a launch has no outcome.
struct Trouble {
    words: String,
    has_hung: bool,
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
/// [`BenchError::Participants`] for a group that cannot be, [`BenchError::Contender`] for a library that nobody knows,
/// [`BenchError::Cancelled`], or [`BenchError::Failed`] if a launcher cannot be started at all. A library that is missing, and a
/// machine without the rights to make hosts, are reported.
pub fn nodes(
    machine: &Machine,
    settings: &NodesOptions,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<NodesReport, BenchError> {
    check_members(settings)?;
    let (mut libraries, missing) = library::find(&settings.homes);
    check_names(&settings.libraries, &libraries, &missing)?;
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

/// That there are not too many members, and uneven ones only where they are checked; and as many as there are lanes.
fn check_members(settings: &NodesOptions) -> Result<(), BenchError> {
    let participants = settings.members.iter().map(|members| members.total(settings.hosts)).max().unwrap_or(1);
    if participants > MAX_MEMBERS {
        return Err(BenchError::Participants { participants, most: MAX_MEMBERS });
    }
    let can_be_uneven = matches!(settings.work, NodesWork::Check(_));
    let fits = |members: &HostMembers| members.fits(settings.hosts) && (can_be_uneven || members.is_even());
    let least = settings.members.iter().map(HostMembers::least).min().unwrap_or(1);
    if settings.lanes == 0 || (settings.lanes > 1 && (settings.lanes > least || !settings.shape.can_have_lanes())) {
        let words = format!("{} lanes are for ranks, and as many on each host, not {least}", settings.lanes);
        return Err(BenchError::Failed(Failure::refused(words)));
    }
    let Some(members) = settings.members.iter().find(|members| !fits(members)) else { return Ok(()) };
    let words =
        format!("{members} members are for as many hosts as there are numbers, and for checked operations only");
    Err(BenchError::Failed(Failure::refused(words)))
}

/// That each name is of a library that there is, or is missing here.
fn check_names(wanted: &[String], found: &[Library], missing: &[(String, String)]) -> Result<(), BenchError> {
    let known = || found.iter().map(|library| &library.name).chain(missing.iter().map(|(name, _)| name));
    let unknown = wanted.iter().find(|&name| !known().any(|known| known == name));
    let error = |name: &String| {
        let known: Vec<&str> = known().map(String::as_str).collect();
        BenchError::Contender { name: name.clone(), known: known.join(", ") }
    };
    unknown.map_or(Ok(()), |name| Err(error(name)))
}

impl Run<'_> {
    fn all(&mut self, libraries: &[Library], progress: &mut dyn Progress) -> Result<(), BenchError> {
        let members = self.settings.members.clone();
        for (place, library) in libraries.iter().enumerate() {
            for (at, members) in members.iter().enumerate() {
                let cells = (libraries.len() * self.settings.members.len()) as f64;
                let share = (place * self.settings.members.len() + at) as f64 / cells;
                let what = format!("{}, {} hosts with {members} members", library.name, self.settings.hosts);
                let mut step =
                    |part: f64, words: &str| progress.step(share + part / cells, &format!("{what}: {words}"));
                match self.settings.work {
                    NodesWork::Race => self.race(library, members.most(), &mut step)?,
                    NodesWork::Check(rounds) => self.check(library, members, rounds, &mut step)?,
                    NodesWork::Idle => self.idle(library, members, &mut step)?,
                    NodesWork::Model => self.model(library, &mut step)?,
                    NodesWork::Kill(victim, place) => {
                        self.kill(library, members.most(), (victim, place), &mut step)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The outcome of one launch, or the reason why there is none.
    fn outcome(
        &mut self,
        library: &Library,
        (hosts, members): (usize, &HostMembers),
        shape: NodesShape,
        task: Task,
        limit: Duration,
    ) -> Result<Result<Vec<f64>, Trouble>, BenchError> {
        let (work, _folder, ended) = self.launch(library, hosts, (shape, members.clone(), task), limit)?;
        let outcome: Option<Vec<f64>> = work.told("outcome");
        let trouble = |words| Trouble { words, has_hung: false };
        Ok(match (ended, outcome) {
            (Ended::Well, Some(outcome)) => Ok(outcome),
            (Ended::Well, None) => Err(trouble("the launch has told nothing".to_owned())),
            (Ended::Badly(words) | Ended::Launcher(words), _) => Err(trouble(words)),
            (Ended::Hung, _) => {
                Err(Trouble { words: format!("the launch took more than {} s", limit.as_secs()), has_hung: true })
            }
        })
    }

    /// A launch to its end, with the folder of its outcomes. One whose launcher has failed by itself is repeated, and told.
    fn launch(
        &mut self,
        library: &Library,
        hosts: usize,
        work: (NodesShape, HostMembers, Task),
        limit: Duration,
    ) -> Result<(Work, TempDir, Ended), BenchError> {
        let shape = work.0;
        let mut launches = 1;
        loop {
            let NodesOptions { programs, lanes, .. } = self.settings;
            let launched = Launch::start(&self.bed, library, programs, hosts, work.clone(), *lanes)?;
            let (work, folder, ended) = launched.finish(limit, self.options)?;
            match ended {
                Ended::Launcher(reason) if launches < MAX_LAUNCHES => {
                    launches += 1;
                    self.report.relaunches.push(NodesRelaunch { library: library.name.clone(), shape, reason });
                }
                ended => return Ok((work, folder, ended)),
            }
        }
    }

    fn check(
        &mut self,
        library: &Library,
        members: &HostMembers,
        rounds: u64,
        step: &mut dyn FnMut(f64, &str),
    ) -> Result<(), BenchError> {
        // Launchers deal ranks in turns only to hosts with as many.
        let shapes = if members.is_even() { NodesShape::checked(members.most()) } else { NodesShape::checked(1) };
        let is_checked = |shape: NodesShape| self.settings.lanes == 1 || shape.can_have_lanes();
        let shapes: Vec<NodesShape> = shapes.iter().copied().filter(|&shape| is_checked(shape)).collect();
        for (place, &shape) in shapes.iter().enumerate() {
            step(place as f64 / shapes.len() as f64, "random operations");
            let task = Task::Check { rounds, seed: self.random.u64(..1 << 53) };
            let limit = CHECK_LIMIT + CHECK_LIMIT_OF_ROUND.mul_f64(rounds as f64);
            let trouble = self.outcome(library, (self.settings.hosts, members), shape, task, limit)?.err();
            let is_late = trouble.as_ref().is_some_and(|trouble| trouble.has_hung);
            self.report.checks.push(NodesCheckRow {
                library: library.name.clone(),
                hosts: self.settings.hosts,
                members: members.most(),
                uneven: (!members.is_even()).then(|| members.to_string()),
                shape,
                operations: rounds,
                wrong: trouble.filter(|_| !is_late).map(|trouble| trouble.words),
                is_late,
            });
        }
        Ok(())
    }

    fn kill(
        &mut self,
        library: &Library,
        members: usize,
        (victim, place): (Victim, Option<DeathPlace>),
        step: &mut dyn FnMut(f64, &str),
    ) -> Result<(), BenchError> {
        if victim == Victim::Member && members < 2 {
            return Err(BenchError::Failed(Failure::refused(
                "a member that does not lead takes two members on a host",
            )));
        }
        let runs = self.settings.runs.unwrap_or(if self.options.quick { 5 } else { 50 });
        let NodesOptions { shape, hosts, lanes, .. } = *self.settings;
        let campaign = Campaign { victim, place, shape, hosts, members, lanes, runs };
        let done = |run: usize| step(run as f64 / runs as f64, &format!("death {} of {runs}", run + 1));
        let (bed, programs) = (&self.bed, &self.settings.programs);
        let row = kill_many(bed, library, programs, campaign, self.options, &mut self.random, done)?;
        self.report.deaths.push(row);
        Ok(())
    }
}
