//! `corecast bench replica`: replicated state, in four strata that are never mixed.
//!
//! 1. Robustness (`robustness`, `robust_writer`, `standstill`, `restart`; `held_lock` of a rival): pauses and losses when a
//!    replica idles, is stopped or dies.
//! 2. Exact costs (`costs`, `payload_costs`, `wait_costs`): messages, lines, bytes and system calls of a command, by counters.
//! 3. Wall clock here (`clock`): a store with all its rivals in turns (`contenders`, `ours`, `net`, `rivals`; `load` and `play`
//!    are the work of clients, `crew` and `member` threads and processes), logs (`payloads`), checkpoints (`snapshots`) and users
//!    beside them (`snapshot_pauses`).
//! 4. Simulation (`simulation`) on machine models, for more replicas than there are CPUs; `prediction` compares it with 3.
//!
//! - `series`: the forms of our replication, over shared memory and over messages;
//! - `preset`: the experiments that are repeated; `report`, `gates`: what is told, and what is asked;
//! - `redis_benchmark`: both servers under Redis's own load; `beside`: writes beside busy processes;
//! - [`crash`](fn@crash), [`crash_node`]: nodes that are killed, stopped and started again while clients work.

mod beside;
mod clock;
mod contenders;
mod costs;
mod crash;
mod crew;
mod gates;
mod held_lock;
mod host;
mod load;
mod member;
mod net;
mod ours;
mod payload_costs;
mod payloads;
mod play;
mod prediction;
mod preset;
mod redis_benchmark;
mod report;
mod restart;
mod rivals;
mod robust_writer;
mod robustness;
mod series;
mod simulation;
mod snapshot_pauses;
mod snapshots;
mod standstill;
mod wait_costs;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use corecast::base::CpuId;
use corecast::base::wait::Wait;
use corecast::machine::{Machine, pin};
use corecast::replica::Placement;
use corecast::replica::kv::{Compact, CompactSet};
use corecast::replica::placement::Work;

use crate::turns::TurnOrder;
use corecast_race::error::BenchError;
use corecast_race::failure::Failure;
use corecast_race::harness::Abort;
use corecast_race::options::Options;
use corecast_race::place::Place;
use corecast_race::progress::{Part, Progress};
use crew::Program;
use host::Setting;
use series::forms;

pub use crash::{CrashEpisode, CrashFault, CrashOptions, CrashReport, CrashRow, crash, crash_node};
pub use member::replica_member;
pub use preset::{Preset, RobustPart};
pub use report::{
    CostRow, LeftOut, PauseRow, PredictionRow, RedisRow, ReplicaCell, ReplicaReport, ReplicaRow, RobustRow,
    SimulatedRow, WaitRow,
};

/// Replicas of the groups in which one idles, is stopped or dies.
const REPLICAS: usize = 4;
/// The operations in a second of all clients of an open loop.
const RATE: f64 = 20_000.0;

/// The options of the benchmark.
#[derive(Clone, Debug, Default)]
pub struct ReplicaOptions {
    /// CPUs, contenders, the program that processes run, how nodes wait, seed, the busy processes that the caller has started,
    /// and how to stop it. The rest is not looked at.
    pub options: Options,
    /// The experiment to repeat; the usual run of all strata by default.
    pub preset: Option<Preset>,
    /// These parts of the first stratum and nothing else; all strata if there is none.
    pub only: Vec<RobustPart>,
    /// The numbers of replicas; those of the experiment by default.
    pub members: Vec<usize>,
    /// How long a block lasts; half a second by default, 10 ms if quick.
    pub block: Option<Duration>,
    /// The requests of each block of `ZimpPaxos`, however long that takes; as many as fit the block's time by default.
    pub requests: Option<u64>,
    /// Blocks of each contender in each situation; 10 by default, 3 if quick.
    pub rounds: Option<usize>,
    /// Kills and stops of each kind; 200 by default, 5 if quick.
    pub events: Option<usize>,
    /// Operations in a second of all clients together, in an open loop; 20 000 by default, 2000 beside busy processes.
    pub rate: Option<f64>,
    /// Runs `redis-benchmark` against both servers.
    pub redis: bool,
    /// The program `corecast`, whose `kv serve` it is run against.
    pub corecast: Option<PathBuf>,
}

/// How much is done.
struct Amount {
    rounds: usize,
    block: Duration,
    events: usize,
    writes: u64,
    restarts: usize,
    state_bytes: u64,
    /// How long a rival may stand still.
    standstill: Duration,
    counted: &'static [usize],
}

impl Amount {
    fn of(options: &ReplicaOptions) -> Self {
        let usual = if options.options.quick {
            Self {
                rounds: 3,
                block: Duration::from_millis(10),
                events: 5,
                writes: 50_000,
                restarts: 2,
                state_bytes: restart::QUICK_STATE_BYTES,
                standstill: Duration::from_secs(1),
                counted: &[3, 5],
            }
        } else {
            Self {
                rounds: 10,
                block: Duration::from_millis(500),
                events: 200,
                writes: 1_000_000,
                restarts: 20,
                state_bytes: restart::STATE_BYTES,
                standstill: Duration::from_secs(10),
                counted: &[3, 5, 8, 16, 28],
            }
        };
        Self {
            rounds: options.rounds.unwrap_or(usual.rounds),
            block: options.block.unwrap_or(usual.block),
            events: options.events.unwrap_or(usual.events),
            ..usual
        }
    }
}

/// Runs the strata of the usual run, or the situations of an experiment.
///
/// # Errors
/// A [`BenchError`] if the options do not fit the machine, the run is cancelled, or one of our stores was wrong.
pub fn replica(
    machine: &Machine,
    options: &ReplicaOptions,
    progress: &mut dyn Progress,
) -> Result<ReplicaReport, BenchError> {
    let options = &beside::narrowed(options);
    let shared = &options.options;
    let cpus: Vec<CpuId> = shared.usable_cpus(machine)?.iter().collect();
    if let Some(name) = shared.contenders.iter().find(|name| !clock::names().contains(&name.as_str())) {
        return Err(BenchError::Contender { name: name.clone(), known: clock::names().join(", ") });
    }
    let (amount, seed) = (Amount::of(options), shared.seed_or_draw());
    let mut report = begun(machine, options, &cpus, seed);
    if !options.only.is_empty() {
        robustness(&mut report, options, &amount, progress)?;
        report.gates = gates::judge(&report);
        return Ok(report);
    }
    let is_usual = options.preset.is_none() && options.members.is_empty() && shared.contenders.is_empty();
    if is_usual {
        robustness(&mut report, options, &amount, &mut Part { whole: progress, from: 0.0, to: 0.4 })?;
        shared.go_on()?;
        report.costs = costs::costs(amount.counted, shared.quick, shared.wait)?;
        report.waits = wait_costs::waits(&cpus, shared.quick, shared.wait)?;
    }
    let mut part = Part { whole: progress, from: if is_usual { 0.4 } else { 0.0 }, to: 0.95 };
    report.cells = cells(options, &amount, (&cpus, seed), &mut part)?;
    report.pauses = pauses(options, &amount, &cpus)?;
    let is_simulated = is_usual || options.preset == Some(Preset::Smelt1Paxos);
    if is_simulated || prediction::is_possible(&report.cells) {
        simulate(&mut report, machine, &cpus, is_simulated, shared.wait)?;
    }
    if options.redis {
        let mut part = Part { whole: progress, from: 0.95, to: 1.0 };
        report.redis = redis_benchmark::race(options.corecast.as_ref(), shared, &mut part)?;
    }
    report.gates = gates::judge(&report);
    progress.step(1.0, "done");
    Ok(report)
}

/// Stratum 4, and whether it predicts stratum 3.
fn simulate(
    report: &mut ReplicaReport,
    machine: &Machine,
    cpus: &[CpuId],
    is_simulated: bool,
    wait: Wait,
) -> Result<(), BenchError> {
    // On a busy machine the roles may move while it is measured. That takes nothing away from what was found before.
    let work = work(cpus, wait).unwrap_or_else(|failure| {
        report.left_out.push(LeftOut { contender: "predictions", reason: failure.to_string() });
        Vec::new()
    });
    report.predictions = prediction::predictions(machine, &report.cells, &work);
    if is_simulated {
        let separate = work.iter().find(|(placement, _)| *placement == Placement::Separate);
        report.simulated = simulation::simulated(separate.map(|(_, work)| work))?;
    }
    Ok(())
}

/// The work of each form beside its messages, on the first CPU.
fn work(cpus: &[CpuId], wait: Wait) -> Result<Vec<(Placement, Work)>, Failure> {
    let setting = Setting { members: 2, clients: 2, cpus: cpus.to_vec(), wait };
    let op = CompactSet { key: 1_u64.to_le_bytes(), value: play::value_of(1, 1) };
    let of = |series: &series::Series| {
        let _pinned = pin::pin(cpus[0]).map_err(Failure::refused)?;
        let work = Work::measure(&ours::config(series, &setting), Compact::default, &op);
        work.map(|work| (series.placement, work)).map_err(Failure::refused)
    };
    forms().map(of).collect()
}

fn begun(machine: &Machine, options: &ReplicaOptions, cpus: &[CpuId], seed: u64) -> ReplicaReport {
    ReplicaReport {
        machine: machine.name.clone(),
        commit: options.options.commit.clone(),
        seed,
        quick: options.options.quick,
        preset: options.preset.map(Preset::name),
        cpus: cpus.iter().map(|cpu| cpu.get()).collect(),
        wait: options.options.wait.name().to_owned(),
        busy: options.options.busy,
        foreign_load: foreign_load(),
        left_out: contenders::LEFT_OUT
            .iter()
            .map(|&(contender, reason)| LeftOut { contender, reason: reason.to_owned() })
            .collect(),
        ..ReplicaReport::default()
    }
}

/// The mean number of threads that wanted a CPU in the last minute.
fn foreign_load() -> Option<f64> {
    std::fs::read_to_string("/proc/loadavg").ok()?.split_whitespace().next()?.parse().ok()
}

fn program(options: &ReplicaOptions) -> Option<Program> {
    match &options.options.place {
        Place::Processes { program, arguments } => Some((program.clone(), arguments.clone())),
        Place::Threads => None,
    }
}

/// Makes a row of stratum 1.
type RobustTask<'a> = Box<dyn Fn() -> Result<RobustRow, Failure> + 'a>;

/// Stratum 1. A row that fails says why, and the others go on.
fn robustness(
    report: &mut ReplicaReport,
    options: &ReplicaOptions,
    amount: &Amount,
    progress: &mut dyn Progress,
) -> Result<(), BenchError> {
    let Some(program) = program(options) else { return Ok(()) };
    let shared = &options.options;
    let abort = Arc::new(Abort::heeding(&shared.cancel));
    let (wait, cpus, seed) = (shared.wait, report.cpus.len(), report.seed);
    let run = robustness::Run { program: &program, abort, wait, cpus, replicas: REPLICAS, seed };
    let tasks = robust_tasks(&run, &options.only, amount);
    let all = tasks.len();
    for (number, (row, task)) in tasks.into_iter().enumerate() {
        progress.step(number as f64 / all as f64, &format!("{}: {}", row.contender, row.event));
        let done = task();
        shared.go_on()?;
        let failed = |failure: Failure| RobustRow { skipped: Some(failure.to_string()), failed: true, ..row };
        report.robustness.push(done.unwrap_or_else(failed));
    }
    Ok(())
}

/// The rows of these parts, of all parts if there is none, and how each is made.
fn robust_tasks<'a>(
    run: &'a robustness::Run<'a>,
    only: &[RobustPart],
    amount: &'a Amount,
) -> Vec<(RobustRow, RobustTask<'a>)> {
    let mut tasks: Vec<(RobustRow, RobustTask<'a>)> = Vec::new();
    let has = |part: RobustPart| only.is_empty() || only.contains(&part);
    for series in forms() {
        let row = |event| RobustRow { event, ..robustness::of(run, series) };
        for is_stopped in [false, true].into_iter().filter(|_| has(RobustPart::HeldBack)) {
            let task = move || robustness::held_back(run, series, is_stopped, amount.writes);
            tasks.push((row(if is_stopped { "stopped" } else { "idle" }), Box::new(task)));
        }
        for event in robustness::Event::ALL.into_iter().filter(|_| has(RobustPart::Pauses)) {
            tasks.push((row(event.words()), Box::new(move || robustness::events(run, series, event, amount.events))));
        }
        if has(RobustPart::Restarts) {
            let size = (amount.state_bytes, amount.restarts);
            let task = move || restart::restarts(series, size, run.program, &run.abort);
            tasks.push((row("restart"), Box::new(task)));
        }
    }
    if has(RobustPart::Restarts) {
        let row = RobustRow { contender: restart::MEMORY.to_owned(), event: "restart", ..RobustRow::default() };
        let size = (amount.state_bytes, amount.restarts);
        tasks.push((row, Box::new(move || restart::memory_alone(size, &run.abort))));
    }
    if has(RobustPart::HeldBack) {
        let rival = RobustRow { contender: "node-replication".to_owned(), event: "idle", ..RobustRow::default() };
        tasks.push((rival, Box::new(move || robustness::node_replication(run, amount.writes))));
    }
    for is_killed in [true, false].into_iter().filter(|_| has(RobustPart::Pauses)) {
        let event = held_lock::words(is_killed);
        let row = RobustRow { contender: "lmdb".to_owned(), event, ..RobustRow::default() };
        tasks.push((row, Box::new(move || held_lock::lmdb(run, is_killed, amount.standstill))));
    }
    tasks
}

/// Users beside checkpoints, in each of the situations in which those are raced: in one experiment only.
fn pauses(options: &ReplicaOptions, amount: &Amount, cpus: &[CpuId]) -> Result<Vec<PauseRow>, BenchError> {
    let shared = &options.options;
    let mut rows = Vec::new();
    for case in preset::cases(options.preset, shared.quick, &options.members, RATE) {
        let preset::Workload::Checkpoints { bytes } = case.workload else { continue };
        let setting = Setting { members: case.replicas, clients: 1, cpus: cpus.to_vec(), wait: shared.wait };
        for series in forms() {
            shared.go_on()?;
            rows.push(snapshot_pauses::pauses(series, &setting, bytes, amount.block)?);
        }
    }
    Ok(rows)
}

/// Stratum 3.
fn cells(
    options: &ReplicaOptions,
    amount: &Amount,
    (cpus, seed): (&[CpuId], u64),
    progress: &mut dyn Progress,
) -> Result<Vec<ReplicaCell>, BenchError> {
    let shared = &options.options;
    let program = program(options);
    let run = clock::Run {
        options: shared,
        program: program.as_ref(),
        cpus,
        wait: shared.wait,
        rounds: amount.rounds,
        time: amount.block,
        requests: options.requests,
        seed,
    };
    let cases = match beside::is_meant(options) {
        true => beside::cases(options),
        false => preset::cases(options.preset, shared.quick, &options.members, options.rate.unwrap_or(RATE)),
    };
    let mut order = TurnOrder::new(shared, seed);
    let cell = |(number, case): (usize, &preset::Case)| {
        clock::cell(&run, case, &mut order, &mut Part::of(progress, number, cases.len()))
    };
    cases.iter().enumerate().map(cell).collect()
}
