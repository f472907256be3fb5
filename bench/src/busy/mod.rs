//! `corecast bench busy`: how corecast and its rivals wait while other programs want the CPUs, too.
//!
//! Foreign processes of one busy thread each run beside; members do a fixed number of operations, with a little work of
//! their own between. Every run of a candidate is a process of its own, so that one that hangs can be ended, its CPU time is
//! known, and nothing that it has learnt stays. Their CPU time tells what the foreign processes got meanwhile.
//!
//! - [`operation`]: the operations and the candidates for each;
//! - [`cell`], [`campaign`]: the situations, and all candidates in each of them, in turns;
//! - [`trial`]: one run; [`member`]: its process; [`neighbours`]: the load; [`quota`]: a limit of CPU time;
//! - [`beside`]: the same load beside another benchmark;
//! - [`starter`]: starts processes, and waits for them no longer than the user wants;
//! - [`report`], [`gates`]: what was found, and what is asked.

mod beside;
mod campaign;
mod cell;
mod gates;
mod member;
mod neighbours;
mod operation;
mod quota;
mod report;
mod starter;
mod trial;

use std::path::PathBuf;
use std::time::Duration;

use corecast::collective::MAX_MEMBERS;
use corecast::machine::{Machine, model_file};
use serde::Serialize;

use self::campaign::Campaign;
use self::cell::Amount;
use self::neighbours::Load;
use self::operation::OPERATIONS;
use self::quota::Quota;
use self::starter::Starter;
use corecast_race::contender::Workshop;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;
use corecast_race::options::Options;
use corecast_race::progress::Progress;

pub use beside::ForeignLoad;
pub use member::busy_member;
pub use neighbours::Neighbour;
pub use report::{BusyCell, BusyReport, BusyRow};

/// The most foreign processes.
pub const MAX_HOGS: usize = 64;
/// The most rounds of a run: the times of all of them are kept, and told in one message where members are processes.
pub const MAX_ROUNDS: u64 = 10_000;

/// Empty steps of each member between two operations.
const STEPS: u64 = 300;

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct BusyOptions {
    /// CPUs, contenders, how corecast's default waits, seed, whether it is quick, and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The program that [`busy_member`] is called in.
    pub program: PathBuf,
    /// The arguments it is called with.
    pub arguments: Vec<String>,
    /// The arguments with which the same program is a [`collective_member`](corecast_race::collective_member).
    pub collective_arguments: Vec<String>,
    /// The operations, by name; all by default, the core if quick.
    pub ops: Vec<String>,
    /// The numbers of foreign processes, up to [`MAX_HOGS`]; 0, 1, 2 and 4 by default, 0, 1 and 2 if quick.
    pub hogs: Vec<usize>,
    /// The numbers of members of operations that any number can do; 2, 4 and 8 by default, 2 and 4 if quick.
    pub members: Vec<usize>,
    /// Whether members are bound to CPUs; both by default, bound if quick.
    pub pinned: Vec<bool>,
    /// Whether members are processes where the operation has such members; both by default, threads if quick.
    pub processes: Vec<bool>,
    /// How the foreign processes stand with the scheduler.
    pub neighbour: Neighbour,
    /// Whether they work and sleep in turns of a millisecond.
    pub bursts: bool,
    /// The CPUs' worth of time that a contender gets; all by default.
    pub quota_cpus: Option<f64>,
    /// Rounds asked of each run, up to [`MAX_ROUNDS`]; 2000 by default, 300 if quick. Where they are over soon, they are
    /// repeated.
    pub rounds: Option<u64>,
    /// The longest time of a run; 3 s by default, 1 s if quick.
    pub limit: Option<Duration>,
    /// Runs of each contender in each cell; 3 by default.
    pub repetitions: Option<usize>,
}

/// An operation as listed for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BusyOperation {
    /// Its name.
    pub op: &'static str,
    /// One round, in words.
    pub about: &'static str,
}

/// All operations.
#[must_use]
pub fn busy_operations() -> Vec<BusyOperation> {
    OPERATIONS.iter().map(|operation| BusyOperation { op: operation.name, about: operation.about }).collect()
}

/// Runs all contenders of the operations in all situations.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the run is cancelled, no process can be started, or there can be no
/// quota here.
pub fn busy(machine: &Machine, options: &BusyOptions, progress: &mut dyn Progress) -> Result<BusyReport, BenchError> {
    let shared = &options.options;
    let cpus: Vec<u32> = shared.usable_cpus(machine)?.iter().map(|cpu| cpu.get()).collect();
    let is_group = |members: &usize| (2..=MAX_MEMBERS).contains(members);
    if let Some(&participants) = options.members.iter().find(|members| !is_group(members)) {
        return Err(BenchError::Participants { participants, most: MAX_MEMBERS });
    }
    let cells = cell::cells(options)?;
    let quota = options.quota_cpus.map(Quota::new).transpose()?;
    let folder = tempfile::tempdir().map_err(Failure::refused)?;
    let model = folder.path().join("model.json");
    model_file::write(machine, &model).map_err(Failure::refused)?;
    progress.step(0.0, "building drivers");
    let workshop =
        Workshop::open().ok().filter(|workshop| cell::build_drivers(&cells, workshop, &Abort::heeding(&shared.cancel)));
    let seed = shared.seed_or_draw();
    let campaign = Campaign {
        cpus: &cpus,
        model: &model,
        workshop: workshop.as_deref(),
        quota: quota.as_ref(),
        load: Load { neighbour: options.neighbour, in_bursts: options.bursts },
        amount: Amount::of(options),
        starter: Starter { options },
    };
    let cells = campaign.run(cells, seed, progress)?;
    Ok(report(machine, options, &campaign, seed, cells))
}

/// The report and its gates.
fn report(
    machine: &Machine,
    options: &BusyOptions,
    campaign: &Campaign<'_>,
    seed: u64,
    cells: Vec<BusyCell>,
) -> BusyReport {
    let amount = campaign.amount;
    let shared = &options.options;
    BusyReport {
        machine: machine.name.clone(),
        commit: options.options.commit.clone(),
        seed,
        quick: shared.quick,
        cpus: campaign.cpus.to_vec(),
        wait: shared.wait.name().to_owned(),
        neighbour: options.neighbour,
        bursts: options.bursts,
        quota_cpus: options.quota_cpus,
        steps: STEPS,
        limit_ms: u64::try_from(amount.limit.as_millis()).unwrap_or(u64::MAX),
        repetitions: amount.repetitions,
        gates: cells.iter().flat_map(gates::of).collect(),
        cells,
    }
}
