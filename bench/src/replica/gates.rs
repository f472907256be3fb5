//! The demands Q1 to Q9 on replicated state, as a table of rules.

use super::beside;
use super::prediction::TOLERANCE;
use super::preset::Preset;
use super::report::{CostRow, ReplicaCell, ReplicaReport, ReplicaRow, RobustRow, SimulatedRow};
use super::restart::STATE_BYTES;
use super::robustness::Event;
use super::series::{Reads, SERIES, forms};
use super::simulation::AUTO;
use super::snapshots::{COMPARED, COPIED};
use crate::rules::{Rule, at_least, at_most, judge_beside};
use crate::stats::{least, most};
use corecast_race::gate::Gate;

/// The command of the gates that the usual run judges.
const USUAL: &str = "corecast bench replica";
const SNAP: &str = "corecast bench replica --preset zimp-snap";
const REDIS: &str = "corecast bench replica --redis";

/// A pause is judged from this number of events on: the 99th percentile of fewer is the longest of all.
const EVENTS: usize = 100;
/// The writes of Q3.
const WRITES: u64 = 1_000_000;
/// The longest pause after a kill, and after a stop beyond the patience of the nodes that notice it.
const PAUSE_MS: f64 = 10.0;
/// The longest of 100 reads of the own replica.
const LOCAL_MS: f64 = 1.0;
/// The longest write of Q3, in times of suspicion.
const HELD_BACK: f64 = 2.0;
/// From a kill to the first read of a new process that has a large state.
const RESTART_MS: f64 = 100.0;
/// The replicas with which the paper shows what a tree gains.
const PAPER_REPLICAS: usize = 28;
/// The events of the rows of Q3.
const IDLE_OR_STOPPED: [&str; 2] = ["idle", "stopped"];
/// The words for a prediction that could not be made.
const MEASURED_MODEL: &str = "2 replicas on 2 CPUs, and a model of them with measured costs: `--machine`";
/// Up to here a mean of counters is a whole number: a repeated request is one in hundreds.
const COUNTED: f64 = 1.02;
/// Up to here a command makes no system calls: the node's own thread naps for 200 us at a time, and the system may take a
/// client's CPU away for a while.
const CALLS: f64 = 0.02;

type Found = Result<f64, String>;

/// Robustness.
fn of_safety() -> [Rule<ReplicaReport>; 5] {
    [
        Rule::new(at_most(0.0, "Q1 here: acknowledged writes lost by kills, stops and idle replicas", USUAL), lost),
        Rule::new(at_most(PAUSE_MS, "Q2, kill -9 to the next acknowledged write: p99, ms", USUAL), killed),
        Rule::new(
            at_most(
                PAUSE_MS,
                "Q2, stopped leader, acceptor or both to the next acknowledged write: p99 beyond the patience then, ms",
                USUAL,
            ),
            stopped,
        ),
        Rule::new(
            at_most(
                LOCAL_MS,
                "Q2, reads of the own replica after kills and stops: p99 of the longest of 100, ms",
                USUAL,
            ),
            local_reads,
        ),
        Rule::new(
            at_most(
                HELD_BACK,
                "Q3, one replica idle or stopped: the longest of 10^6 writes / time of suspicion",
                USUAL,
            ),
            held_back,
        ),
    ]
}

/// Exact costs.
fn of_costs() -> [Rule<ReplicaReport>; 5] {
    [
        Rule::new(at_most(COUNTED, "Q4, counters: messages for each command / those of the formula", USUAL), messages),
        Rule::new(
            at_most(
                COUNTED,
                "Q4, 1 KiB: times encoded, and decoded by each replica, for each command: the most",
                USUAL,
            ),
            payloads,
        ),
        Rule::new(
            at_most(COUNTED, "Q4, 1 KiB: bytes copied in, and out by each replica, for each byte: the most", USUAL),
            copies,
        ),
        Rule::new(at_most(COUNTED, "Q4, a replica's answer at a cut / 64 bytes", USUAL), cut_bytes),
        Rule::new(
            at_most(
                CALLS,
                "Q4, 2 replicas whose clients poll on 2 CPUs of their own: system calls of waiting for each command",
                USUAL,
            ),
            system_calls,
        ),
    ]
}

/// Times here.
fn of_speed() -> [Rule<ReplicaReport>; 9] {
    [
        Rule::new(at_most(40.0, "Q5, linearizable read: p50, ns", USUAL), |report| read(report, Reads::Locked)),
        Rule::new(at_most(15.0, "Q5, linearizable read of 8 and 16 B from lines: p50, ns", USUAL), |report| {
            read(report, Reads::Lines)
        }),
        Rule::new(at_least(6.0, "Q5, linearizable read: p50 of LMDB / ours", USUAL), over_lmdb),
        Rule::new(at_most(1.0, "Q6, fused write, 2 replicas on 2 CPUs of their own: p50, us", USUAL), |report| {
            write(report, 1)
        }),
        Rule::new(at_most(15.0, "Q6, fused write, processes four times the CPUs: p50, us", USUAL), |report| {
            write(report, 4)
        }),
        Rule::new(
            at_least(5.0, "Q7, cut of 1 MB, 2 nodes: p50 of states copied / of kept digests compared", SNAP),
            |report| snapshot(report, &[COMPARED]),
        ),
        Rule::new(at_least(1.0, "Q7, the same with our state written: p50 of states copied / ours", SNAP), |report| {
            snapshot(report, &["shm-separate", "shm-fused"])
        }),
        Rule::new(
            at_most(RESTART_MS, "Q9, 64 MiB of state: kill -9 to the first linearizable read anew: p99, ms", USUAL),
            restart,
        ),
        Rule::new(
            at_least(0.8, "three replicas / redis-server: requests in a second of redis-benchmark, the worst", REDIS),
            redis,
        ),
    ]
}

/// Simulated, which is judged only where the sum with work predicts what was measured here. The paper's factor is about messages,
/// and so is the demand, though messages alone are compared with nothing measured; the factor with this machine's work is told
/// beside it.
fn of_simulation() -> [Rule<ReplicaReport>; 3] {
    [
        Rule::new(
            at_most(TOLERANCE, "Q8, writes of 2 replicas here: by how much the simulation is off, the worst", USUAL),
            off,
        ),
        Rule::new(
            at_least(
                2.5,
                "Q8, simulated, 28 replicas: throughput of the planned tree / sequential, by messages alone",
                USUAL,
            ),
            |report| believed(report).and_then(|()| tree(report, PAPER_REPLICAS)),
        )
        .telling(tree_with_work),
        Rule::new(
            at_least(
                0.97,
                "Q8, simulated: throughput of the planned tree / the best shape, with work and without, the worst",
                USUAL,
            ),
            |report| believed(report).and_then(|()| static_trees(report)),
        ),
    ]
}

/// Beside busy processes.
const BESIDE: Rule<ReplicaReport> = Rule::new(
    at_most(2.0, "beside busy processes: p99 of writes, ours / redis-server, the worst", USUAL),
    beside::over_rival,
);

/// All gates.
pub(super) fn judge(report: &ReplicaReport) -> Vec<Gate> {
    let counted = of_safety().into_iter().chain(of_costs());
    let rules: Vec<Rule<ReplicaReport>> = counted.chain(of_speed()).chain(of_simulation()).collect();
    judge_beside(report.busy, &rules, &BESIDE, report)
}

/// The figures of each of our forms for each of these events, in any order; `None` where the run has no such row.
fn of_forms<'r, T>(
    report: &'r ReplicaReport,
    events: &[&str],
    shown: impl Fn(&'r RobustRow) -> Option<T>,
) -> Vec<Option<T>> {
    let row = |form: &str, event: &str| {
        let is_it =
            |row: &&RobustRow| row.ours && row.skipped.is_none() && (&*row.contender, row.event) == (form, event);
        report.robustness.iter().find(is_it)
    };
    forms()
        .flat_map(|form| events.iter().map(move |event| (form.name, *event)))
        .map(|(form, event)| shown(row(form, event)?))
        .collect()
}

/// The worst figure of these events, of which every form has to show each. A run without some of them can only miss the demand.
fn worst<'r>(
    report: &'r ReplicaReport,
    events: &[&str],
    limit: f64,
    figure: impl Fn(&'r RobustRow) -> Option<f64>,
) -> Option<f64> {
    let found = of_forms(report, events, figure);
    most(found.iter().copied()).filter(|&worst| worst > limit || found.iter().all(Option::is_some))
}

/// As [`worst`], of the kills, the stops or both, of rows with enough events.
fn worst_pause<'r>(
    report: &'r ReplicaReport,
    is_meant: impl Fn(Event) -> bool,
    limit: f64,
    time: impl Fn(&'r RobustRow) -> Option<f64>,
) -> Found {
    let meant: Vec<&str> = Event::ALL.into_iter().filter(|&event| is_meant(event)).map(Event::words).collect();
    let found = worst(report, &meant, limit, |row| time(row).filter(|_| row.events >= EVENTS));
    found.ok_or_else(|| {
        format!("{EVENTS} of each event in each of our forms: all strata or `--only pauses`, without --quick")
    })
}

fn lost(report: &ReplicaReport) -> Found {
    let events: Vec<&str> = IDLE_OR_STOPPED.into_iter().chain(Event::ALL.map(Event::words)).collect();
    let lost = of_forms(report, &events, |row| (!row.failed).then_some(row.lost as f64));
    let sum: f64 = lost.iter().flatten().sum();
    if sum > 0.0 || lost.iter().all(Option::is_some) { Ok(sum) } else { Err("all rows of the usual run".to_owned()) }
}

fn killed(report: &ReplicaReport) -> Found {
    worst_pause(report, |event| !event.is_stop(), PAUSE_MS, |row| row.p99_ms)
}

fn stopped(report: &ReplicaReport) -> Found {
    worst_pause(report, Event::is_stop, PAUSE_MS, |row| row.beyond_ms)
}

fn local_reads(report: &ReplicaReport) -> Found {
    worst_pause(report, |_| true, LOCAL_MS, |row| row.local_p99_ms)
}

fn held_back(report: &ReplicaReport) -> Found {
    let longest = |row: &RobustRow| match row.asked.saturating_sub(row.writes) {
        _ if row.asked < WRITES => None,
        0 => Some(row.longest_ms? / row.suspicion_ms?),
        // A single write that never came back misses the demand.
        missing => Some(HELD_BACK + missing as f64),
    };
    let found = worst(report, &IDLE_OR_STOPPED, HELD_BACK, longest);
    found
        .ok_or_else(|| "10^6 writes of each of our forms: all strata or `--only held-back`, without --quick".to_owned())
}

/// How many times a count is as large or as small as it should be.
fn off_by(count: f64, expected: f64) -> f64 {
    (count / expected).max(expected / count)
}

fn messages(report: &ReplicaReport) -> Found {
    let off = |row: &CostRow| row.messages.map(|messages| off_by(messages, row.expected));
    most(report.costs.iter().map(off)).ok_or_else(|| "the usual run".to_owned())
}

fn payloads(report: &ReplicaReport) -> Found {
    let ours = report.costs.iter().filter(|row| row.payload_writes.is_some());
    let times =
        |row: &CostRow| Some(off_by(row.payload_writes?, 1.0).max(off_by(row.payload_reads?, row.replicas as f64)));
    most(ours.map(times)).ok_or_else(|| "the usual run".to_owned())
}

fn copies(report: &ReplicaReport) -> Found {
    let ours = report.costs.iter().filter(|row| row.copied_in.is_some());
    let times = |row: &CostRow| Some(off_by(row.copied_in?, 1.0).max(off_by(row.copied_out?, row.replicas as f64)));
    most(ours.map(times)).ok_or_else(|| "the usual run".to_owned())
}

fn cut_bytes(report: &ReplicaReport) -> Found {
    let ours = report.costs.iter().filter(|row| row.cut_bytes.is_some());
    most(ours.map(|row| Some(off_by(row.cut_bytes?, 64.0)))).ok_or_else(|| "the usual run".to_owned())
}

fn system_calls(report: &ReplicaReport) -> Found {
    most(report.waits.iter().map(|row| Some(row.system_calls))).ok_or_else(|| "the usual run, on 2 CPUs".to_owned())
}

fn cell<'a>(report: &'a ReplicaReport, workload: &str, replicas: usize, place: &str) -> Option<&'a ReplicaCell> {
    let is_it = |cell: &&ReplicaCell| cell.workload == workload && cell.replicas == replicas && cell.place == place;
    report.cells.iter().find(is_it)
}

fn named<'a>(cell: &'a ReplicaCell, name: &str) -> Option<&'a ReplicaRow> {
    cell.rows.iter().find(|row| row.contender == name)
}

/// Reads of two threads that have a CPU each.
fn reads(report: &ReplicaReport) -> Result<&ReplicaCell, String> {
    let found = cell(report, "reads", 2, "threads").filter(|cell| !cell.oversubscribed);
    found.ok_or_else(|| "2 replicas on 2 CPUs".to_owned())
}

/// The slowest of all our forms that read so.
fn read(report: &ReplicaReport, meant: Reads) -> Found {
    let cell = reads(report)?;
    let found =
        SERIES.iter().filter(|series| series.reads == meant).map(|series| named(cell, series.name)?.read_p50_ns);
    let found: Option<Vec<f64>> = found.collect();
    found.and_then(most).ok_or_else(|| "all of our rows".to_owned())
}

fn over_lmdb(report: &ReplicaReport) -> Found {
    let lmdb = named(reads(report)?, "lmdb").and_then(|row| row.read_p50_ns);
    let lmdb = lmdb.ok_or_else(|| "the feature lmdb".to_owned())?;
    Ok(lmdb / read(report, Reads::Locked)?)
}

/// `crowd` times as many replicas as CPUs.
fn write(report: &ReplicaReport, crowd: usize) -> Found {
    let (replicas, place) = if crowd == 1 { (2, "threads") } else { (crowd * report.cpus.len(), "processes") };
    let row = cell(report, "writes", replicas, place).filter(|cell| crowd > 1 || !cell.oversubscribed);
    let p50_ns = row.and_then(|cell| named(cell, "shm-fused")?.write_p50_ns);
    p50_ns.map(|ns| ns / 1e3).ok_or_else(|| format!("writes of {replicas} replicas that are {place}"))
}

/// The slowest of these rows.
fn snapshot(report: &ReplicaReport, ours: &[&str]) -> Found {
    let found = cell(report, "checkpoints of 1048576 B", 2, "threads").and_then(|cell| {
        let copied = named(cell, COPIED)?.write_p50_ns?;
        let ours: Option<Vec<f64>> = ours.iter().map(|name| named(cell, name)?.write_p50_ns).collect();
        Some(copied / most(ours?.into_iter().map(Some))?)
    });
    found.ok_or_else(|| format!("--preset {}", Preset::ZimpSnap.name()))
}

fn off(report: &ReplicaReport) -> Found {
    let is_whole = !report.predictions.is_empty() && report.predictions.iter().all(|row| row.ratio.is_some());
    let worst = most(report.predictions.iter().map(|row| Some((row.ratio? - 1.0).abs())));
    worst.filter(|_| is_whole).ok_or_else(|| MEASURED_MODEL.to_owned())
}

/// The design asks for this before any simulated figure is believed.
fn believed(report: &ReplicaReport) -> Result<(), String> {
    if off(report)? <= TOLERANCE { Ok(()) } else { Err("a simulation that predicts the writes here".to_owned()) }
}

/// The planned trees of as many replicas.
fn planned(report: &ReplicaReport, replicas: usize) -> impl Iterator<Item = &SimulatedRow> {
    report.simulated.iter().filter(move |row| row.replicas == replicas && row.tree == AUTO)
}

fn tree(report: &ReplicaReport, replicas: usize) -> Found {
    least(planned(report, replicas).map(|row| Some(row.over_sequential))).ok_or_else(|| "the simulation".to_owned())
}

/// The least and the most factor of the planned tree with the nodes' work.
fn tree_with_work(report: &ReplicaReport) -> Option<String> {
    let factors = || planned(report, PAPER_REPLICAS).map(|row| row.over_sequential_with_work);
    let range = format!("{:.2} to {:.2}", least(factors())?, most(factors())?);
    Some(format!("with the work of this machine's nodes beside their messages {range}, not judged"))
}

/// The planned tree beside the best shape, on each model with each number of replicas, by both sums.
fn static_trees(report: &ReplicaReport) -> Found {
    let by_messages = worst_planned(report, |row| Some(row.over_sequential));
    let with_work = worst_planned(report, |row| row.over_sequential_with_work);
    let found = by_messages.map(|by_messages| with_work.map_or(by_messages, |with_work| by_messages.min(with_work)));
    found.ok_or_else(|| "the simulation".to_owned())
}

/// The worst planned tree beside the best shape, of the rows that have this factor.
fn worst_planned(report: &ReplicaReport, factor: impl Fn(&SimulatedRow) -> Option<f64>) -> Option<f64> {
    let ratio = |planned: &SimulatedRow| {
        let is_same = |row: &&SimulatedRow| (&row.machine, row.replicas) == (&planned.machine, planned.replicas);
        let shapes = report.simulated.iter().filter(|row| row.tree != AUTO).filter(is_same);
        Some(factor(planned)? / most(shapes.map(&factor))?)
    };
    least(report.simulated.iter().filter(|row| row.tree == AUTO).map(ratio))
}

fn restart(report: &ReplicaReport) -> Found {
    let time = |row: &RobustRow| row.p99_ms.filter(|_| row.bytes >= STATE_BYTES);
    let found = worst(report, &["restart"], RESTART_MS, time);
    found.ok_or_else(|| {
        "a state of 64 MiB in each of our forms: all strata or `--only restarts`, without --quick".to_owned()
    })
}

fn redis(report: &ReplicaReport) -> Found {
    let is_whole = !report.redis.is_empty() && report.redis.iter().all(|row| row.ratio.is_some());
    let worst = least(report.redis.iter().map(|row| row.ratio));
    worst.filter(|_| is_whole).ok_or_else(|| "--redis, with redis-benchmark and redis-server installed".to_owned())
}

#[cfg(test)]
mod tests;
