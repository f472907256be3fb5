//! The demands Q1 to Q9 on replicated state, as a table of rules.

use super::beside;
use super::prediction::TOLERANCE;
use super::preset::Preset;
use super::report::{CostRow, ReplicaCell, ReplicaReport, ReplicaRow, RobustRow, SimulatedRow};
use super::restart::STATE_BYTES;
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
/// The words for a prediction that could not be made.
const MEASURED_MODEL: &str = "2 replicas on 2 CPUs, and a model of them with measured costs: `--machine`";
/// Up to here a mean of counters is a whole number: a repeated request is one in hundreds.
const COUNTED: f64 = 1.02;
/// Up to here a command makes no system calls: the node's own thread makes some in each millisecond, and the system may take a
/// client's CPU away for a while.
const CALLS: f64 = 0.02;

type Found = Result<f64, String>;

/// Robustness.
fn of_safety() -> [Rule<ReplicaReport>; 5] {
    [
        Rule::new(at_most(0.0, "Q1 here: acknowledged writes lost by kills, stops and idle replicas", USUAL), lost),
        Rule::new(at_most(10.0, "Q2, kill -9 to the next acknowledged write: p99, ms", USUAL), killed),
        Rule::new(
            at_most(
                10.0,
                "Q2, stopped leader, acceptor or both to the next acknowledged write: p99 beyond the patience then, ms",
                USUAL,
            ),
            stopped,
        ),
        Rule::new(
            at_most(1.0, "Q2, reads of the own replica after kills and stops: p99 of the longest of 100, ms", USUAL),
            local_reads,
        ),
        Rule::new(
            at_most(2.0, "Q3, one replica idle or stopped: the longest of 10^6 writes / time of suspicion", USUAL),
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
        Rule::new(at_most(64.0, "Q4, a replica's answer at a cut: bytes", USUAL), cut_bytes),
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
        Rule::new(at_most(40.0, "Q5, linearizable read: p50, ns", USUAL), |report| read(report, false)),
        Rule::new(at_most(15.0, "Q5, linearizable read of 8 and 16 B from lines: p50, ns", USUAL), |report| {
            read(report, true)
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
            at_most(100.0, "Q9, 64 MiB of state: kill -9 to the first linearizable read anew: p99, ms", USUAL),
            restart,
        ),
        Rule::new(
            at_least(0.8, "three replicas / redis-server: requests in a second of redis-benchmark, the worst", REDIS),
            redis,
        ),
    ]
}

/// Simulated, which is judged only where the same sum predicts what was measured here.
fn of_simulation() -> [Rule<ReplicaReport>; 3] {
    [
        Rule::new(
            at_most(TOLERANCE, "Q8, writes of 2 replicas here: by how much the simulation is off, the worst", USUAL),
            off,
        ),
        Rule::new(
            at_least(2.5, "Q8, simulated, 28 replicas: throughput of the planned tree / sequential", USUAL),
            |report| believed(report).and_then(|()| tree(report, 28)),
        ),
        Rule::new(
            at_least(0.97, "Q8, simulated: throughput of the planned tree / the best shape, the worst", USUAL),
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

fn of_series<'a>(
    report: &'a ReplicaReport,
    is_it: impl Fn(&RobustRow) -> bool + 'a,
) -> impl Iterator<Item = &'a RobustRow> {
    report.robustness.iter().filter(move |row| row.ours && row.skipped.is_none() && is_it(row))
}

fn lost(report: &ReplicaReport) -> Found {
    let counts: Vec<f64> = of_series(report, |row| row.event != "restart").map(|row| row.lost as f64).collect();
    if counts.is_empty() { Err("the usual run".to_owned()) } else { Ok(counts.iter().sum()) }
}

fn killed(report: &ReplicaReport) -> Found {
    let rows = of_series(report, |row| row.event.ends_with("killed") && row.events >= EVENTS);
    most(rows.map(|row| row.p99_ms)).ok_or_else(|| format!("{EVENTS} kills of each role, without --quick"))
}

fn stopped(report: &ReplicaReport) -> Found {
    let rows = of_series(report, |row| row.event.ends_with(" stopped") && row.events >= EVENTS);
    most(rows.map(|row| row.beyond_ms)).ok_or_else(|| format!("{EVENTS} stops, without --quick"))
}

fn local_reads(report: &ReplicaReport) -> Found {
    let rows = of_series(report, |row| row.local_p99_ms.is_some() && row.events >= EVENTS);
    most(rows.map(|row| row.local_p99_ms)).ok_or_else(|| format!("{EVENTS} events of each kind, without --quick"))
}

fn held_back(report: &ReplicaReport) -> Found {
    let is_it = |row: &RobustRow| ["idle", "stopped"].contains(&row.event) && row.asked >= WRITES;
    let rows: Vec<&RobustRow> = of_series(report, is_it).collect();
    if let Some(stuck) = rows.iter().find(|row| row.writes < row.asked) {
        return Ok((stuck.asked - stuck.writes) as f64);
    }
    most(rows.iter().map(|row| Some(row.longest_ms? / row.suspicion_ms?)))
        .ok_or_else(|| "10^6 writes, without --quick".to_owned())
}

fn messages(report: &ReplicaReport) -> Found {
    let off = |row: &CostRow| row.messages.map(|messages| (messages / row.expected).max(row.expected / messages));
    most(report.costs.iter().map(off)).ok_or_else(|| "the usual run".to_owned())
}

fn payloads(report: &ReplicaReport) -> Found {
    let ours = report.costs.iter().filter(|row| row.payload_writes.is_some());
    let times = |row: &CostRow| Some(row.payload_writes?.max(row.payload_reads? / row.replicas as f64));
    most(ours.map(times)).ok_or_else(|| "the usual run".to_owned())
}

fn copies(report: &ReplicaReport) -> Found {
    let ours = report.costs.iter().filter(|row| row.copied_in.is_some());
    let times = |row: &CostRow| Some(row.copied_in?.max(row.copied_out? / row.replicas as f64));
    most(ours.map(times)).ok_or_else(|| "the usual run".to_owned())
}

fn cut_bytes(report: &ReplicaReport) -> Found {
    let ours = report.costs.iter().filter(|row| row.cut_bytes.is_some());
    most(ours.map(|row| row.cut_bytes)).ok_or_else(|| "the usual run".to_owned())
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

fn read(report: &ReplicaReport, is_of_lines: bool) -> Found {
    let is_linearizable = |row: &&ReplicaRow| row.ours && !row.contender.ends_with("-local");
    let rows = reads(report)?.rows.iter().filter(is_linearizable);
    let rows = rows.filter(|row| row.contender.ends_with("-lines") == is_of_lines);
    most(rows.map(|row| row.read_p50_ns)).ok_or_else(|| "our rows".to_owned())
}

fn over_lmdb(report: &ReplicaReport) -> Found {
    let lmdb = named(reads(report)?, "lmdb").and_then(|row| row.read_p50_ns);
    let lmdb = lmdb.ok_or_else(|| "the feature lmdb".to_owned())?;
    Ok(lmdb / read(report, false)?)
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

fn tree(report: &ReplicaReport, replicas: usize) -> Found {
    let rows = report.simulated.iter().filter(|row| row.replicas == replicas && row.tree == AUTO);
    least(rows.map(|row| row.over_sequential)).ok_or_else(|| "the simulation".to_owned())
}

/// The planned tree beside the best shape, on each model with each number of replicas.
fn static_trees(report: &ReplicaReport) -> Found {
    let planned = report.simulated.iter().filter(|row| row.tree == AUTO);
    let ratio = |planned: &SimulatedRow| {
        let shapes = report
            .simulated
            .iter()
            .filter(|row| (&row.machine, row.replicas) == (&planned.machine, planned.replicas) && row.tree != AUTO);
        most(shapes.map(|row| row.over_sequential)).map(|best| planned.over_sequential / best)
    };
    least(planned.map(ratio)).ok_or_else(|| "the simulation".to_owned())
}

fn restart(report: &ReplicaReport) -> Found {
    let rows = of_series(report, |row| row.event == "restart" && row.bytes >= STATE_BYTES);
    most(rows.map(|row| row.p99_ms)).ok_or_else(|| "a state of 64 MiB, without --quick".to_owned())
}

fn redis(report: &ReplicaReport) -> Found {
    let is_whole = !report.redis.is_empty() && report.redis.iter().all(|row| row.ratio.is_some());
    let worst = least(report.redis.iter().map(|row| row.ratio));
    worst.filter(|_| is_whole).ok_or_else(|| "--redis, with redis-benchmark and redis-server installed".to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::report::{PredictionRow, WaitRow};
    use super::*;
    use corecast_race::gate::Verdict;

    fn report() -> ReplicaReport {
        ReplicaReport { seed: 1, cpus: vec![0, 1], wait: "adaptive".to_owned(), ..ReplicaReport::default() }
    }

    fn verdict(gates: &[Gate], begin: &str) -> (Option<f64>, Verdict) {
        let gate = gates.iter().find(|gate| gate.gate.starts_with(begin)).expect("a gate");
        (gate.measured, gate.verdict)
    }

    #[test]
    fn nothing_is_judged_of_nothing() {
        let gates = judge(&report());
        assert!(gates.iter().all(|gate| gate.verdict == Verdict::NotJudged && gate.needs.is_some()), "{gates:?}");
        for number in 1..=9 {
            assert!(gates.iter().any(|gate| gate.gate.starts_with(&format!("Q{number}"))), "Q{number}");
        }
    }

    #[test]
    fn the_worst_of_ours_is_judged() {
        let row = |contender: &str, read: f64, write: f64| ReplicaRow {
            contender: contender.to_owned(),
            ours: contender.starts_with("shm"),
            read_p50_ns: Some(read),
            write_p50_ns: Some(write),
            slowest_p50_ns: Some(10.0 * write),
            ..ReplicaRow::default()
        };
        let rows = vec![row("shm-fused", 30.0, 900.0), row("shm-separate", 45.0, 2000.0), row("lmdb", 270.0, 500.0)];
        let cell = |workload: &str| ReplicaCell {
            workload: workload.to_owned(),
            replicas: 2,
            clients: 2,
            place: "threads",
            oversubscribed: false,
            rows: rows.clone(),
        };
        let mut report = ReplicaReport { cells: vec![cell("reads"), cell("writes")], ..report() };
        let gates = judge(&report);
        assert_eq!(verdict(&gates, "Q5, linearizable read: p50, ns"), (Some(45.0), Verdict::Missed));
        assert_eq!(verdict(&gates, "Q5, linearizable read: p50 of LMDB"), (Some(6.0), Verdict::Holds));
        assert_eq!(verdict(&gates, "Q6, fused write, 2 replicas"), (Some(0.9), Verdict::Holds));
        report.cells[0].oversubscribed = true;
        assert_eq!(verdict(&judge(&report), "Q5, linearizable read: p50, ns"), (None, Verdict::NotJudged));
    }

    #[test]
    fn a_stopped_acceptor_counts_and_so_do_reads_that_wait() {
        let row = |event, beyond, local| RobustRow {
            event,
            ours: true,
            events: EVENTS,
            p99_ms: Some(90.0),
            beyond_ms: Some(beyond),
            local_ms: Some(20.0),
            local_p99_ms: Some(local),
            suspicion_ms: Some(24.0),
            ..RobustRow::default()
        };
        let robustness = vec![row("leader stopped", 9.0, 0.1), row("acceptor stopped", 16.0, 2.5)];
        let gates = judge(&ReplicaReport { robustness, ..report() });
        assert_eq!(verdict(&gates, "Q2, stopped"), (Some(16.0), Verdict::Missed));
        assert_eq!(verdict(&gates, "Q2, reads of the own replica"), (Some(2.5), Verdict::Missed));
    }

    #[test]
    fn nothing_simulated_is_judged_unless_the_simulation_predicts_what_was_measured() {
        let simulated = |tree: &str, over_sequential| SimulatedRow {
            machine: "a model".to_owned(),
            replicas: 28,
            tree: tree.to_owned(),
            unit: "ns".to_owned(),
            busiest: 1.0,
            response: 1.0,
            work: 0.0,
            over_sequential,
        };
        let simulated = vec![simulated(AUTO, 3.0), simulated("binary", 2.0)];
        let verdicts = |ratios: &[Option<f64>]| {
            let row = |&ratio| PredictionRow { replicas: 2, ratio, ..PredictionRow::default() };
            let predictions = ratios.iter().map(row).collect();
            let gates = judge(&ReplicaReport { predictions, simulated: simulated.clone(), ..report() });
            ["Q8, writes", "Q8, simulated, 28", "Q8, simulated:"].map(|begin| verdict(&gates, begin).1)
        };
        let [holds, missed, open] = [Verdict::Holds, Verdict::Missed, Verdict::NotJudged];
        assert_eq!(verdicts(&[]), [open, open, open]);
        assert_eq!(verdicts(&[Some(1.0), None]), [open, open, open], "nobody measured the costs");
        assert_eq!(verdicts(&[Some(1.0), Some(0.5)]), [missed, open, open]);
        assert_eq!(verdicts(&[Some(1.25), Some(0.75)]), [holds, holds, holds]);
    }

    #[test]
    fn system_calls_copies_and_answers_at_cuts_are_judged_by_the_most() {
        let cost = |copied_in, copied_out, cut_bytes| CostRow {
            replicas: 3,
            copied_in: Some(copied_in),
            copied_out: Some(copied_out),
            cut_bytes: Some(cut_bytes),
            ..CostRow::default()
        };
        let costs = vec![cost(1.0, 3.0, 64.0), cost(1.0, 6.0, 128.0), CostRow::default()];
        let waits = vec![WaitRow::default(), WaitRow { system_calls: 0.5, ..WaitRow::default() }];
        let gates = judge(&ReplicaReport { costs, waits, ..report() });
        assert_eq!(verdict(&gates, "Q4, 1 KiB: bytes"), (Some(2.0), Verdict::Missed));
        assert_eq!(verdict(&gates, "Q4, a replica's answer"), (Some(128.0), Verdict::Missed));
        assert_eq!(verdict(&gates, "Q4, 2 replicas"), (Some(0.5), Verdict::Missed));
    }

    #[test]
    fn beside_busy_processes_only_the_rival_is_compared() {
        let gates = judge(&ReplicaReport { busy: 2, ..report() });
        let needs = |gate: &Gate| gate.needs.clone().unwrap_or_default();
        let (others, beside): (Vec<&Gate>, Vec<&Gate>) = gates.iter().partition(|gate| needs(gate).contains("--busy"));
        assert!(others.len() > 10 && beside.len() == 1 && needs(beside[0]).contains("redis-server"), "{gates:?}");
    }

    #[test]
    fn writes_that_never_came_back_and_few_events() {
        let row = |event, asked, writes, events| RobustRow {
            event,
            ours: true,
            asked,
            writes,
            events,
            p99_ms: Some(4.0),
            longest_ms: Some(30.0),
            suspicion_ms: Some(24.0),
            ..RobustRow::default()
        };
        let robustness = vec![row("idle", WRITES, WRITES, 1), row("leader killed", 9, 9, EVENTS - 1)];
        let mut report = ReplicaReport { robustness, ..report() };
        let gates = judge(&report);
        assert_eq!(verdict(&gates, "Q3"), (Some(1.25), Verdict::Holds));
        assert_eq!(verdict(&gates, "Q2, kill"), (None, Verdict::NotJudged));
        report.robustness = vec![row("stopped", WRITES, 24_576, 1), row("leader killed", 9, 9, EVENTS)];
        let gates = judge(&report);
        assert_eq!(verdict(&gates, "Q3").1, Verdict::Missed);
        assert_eq!(verdict(&gates, "Q2, kill"), (Some(4.0), Verdict::Holds));
    }
}
