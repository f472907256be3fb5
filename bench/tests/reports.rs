//! The benchmarks from outside, on the machine at hand: their reports are complete and their JSON is as documented.

use std::time::Duration;

use corecast::machine::{Cpu, Machine, Topology, pin};
use corecast_bench::{idle, select, ump};
use corecast_race::{AcknowledgedOptions, BenchError, Gate, Op, Options, Progress, Verdict, acknowledged, collectives};
use serde_json::Value;

fn this_machine() -> Machine {
    let cpus = pin::affinity().expect("the mask of this thread can be read");
    let cpus = cpus.iter().map(Cpu::flat).collect();
    Machine::from_topology(&Topology { cpus, ..Topology::default() })
}

fn quick() -> Options {
    Options { quick: true, budget: Some(Duration::from_millis(1)), seed: Some(7), ..Options::default() }
}

/// Remembers what it hears.
#[derive(Default)]
struct Heard(Vec<f64>);

impl Progress for Heard {
    fn step(&mut self, fraction: f64, doing: &str) {
        assert!(!doing.is_empty());
        self.0.push(fraction);
    }
}

#[track_caller]
fn assert_fields(value: &Value, fields: &[&str]) {
    let object = value.as_object().expect("an object");
    for field in fields {
        assert!(object.contains_key(*field), "'{field}' is missing in {value}");
    }
}

const SUMMARY: [&str; 7] = ["median_ns", "p10_ns", "p90_ns", "p99_ns", "min_ns", "mad_ns", "samples"];

fn assert_rows(group: &Value) {
    let rows = group["rows"].as_array().expect("rows");
    for row in rows {
        assert_fields(row, &["contender", "ours", "cpu_ns", "discarded", "ratio", "skipped", "failed"]);
        assert_fields(row, &SUMMARY);
        if row["skipped"].is_null() {
            assert!(row["samples"].as_u64() > Some(0) && row["median_ns"].as_f64() > Some(0.0), "{row}");
            assert!(row["p10_ns"].as_f64() <= row["p99_ns"].as_f64(), "{row}");
        } else {
            let reason = row["skipped"].as_str().expect("a text");
            let known = ["participants only", "the same tree", "too busy", " install ", "only polls", "built without"];
            assert!(known.iter().any(|known| reason.contains(known)), "{row}");
            assert!(row["median_ns"].is_null() && row["samples"] == 0, "{row}");
        }
    }
    assert_eq!(rows[0]["contender"], group["reference"]);
    assert!(rows[0]["ratio"] == 1.0 || !rows[0]["skipped"].is_null(), "{}", rows[0]);
}

/// Judged, or not judged for want of this.
#[track_caller]
fn assert_gates(gates: &[Gate], want: &str) {
    for gate in gates {
        assert_eq!(gate.measured.is_none(), gate.verdict == Verdict::NotJudged, "{gate:?}");
        assert!(gate.needs.as_deref().is_none_or(|needs| needs == want), "{gate:?}");
        assert_eq!(gate.needs.is_none(), gate.measured.is_some(), "{gate:?}");
    }
}

#[test]
fn collectives_report_every_contender_of_every_operation() {
    let mut heard = Heard::default();
    let report = collectives(&this_machine(), &quick(), &mut heard).expect("allowed CPUs");
    assert!(heard.0.is_sorted() && heard.0.last() == Some(&1.0), "{:?}", heard.0);
    let json = serde_json::to_value(&report).expect("plain data");
    let fields = [
        "machine",
        "commit",
        "seed",
        "quick",
        "wait",
        "raw_line_ns",
        "placement_changes",
        "warnings",
        "groups",
        "gates",
    ];
    assert_fields(&json, &fields);
    assert_eq!(json["seed"], 7);
    let groups = json["groups"].as_array().expect("groups");
    for op in Op::USUAL {
        assert!(groups.iter().any(|group| group["op"] == op.name()), "{op}");
    }
    for group in groups {
        assert_fields(
            group,
            &["op", "participants", "bytes", "cpus", "oversubscribed", "timing", "root", "raw_line_ns"],
        );
        assert_fields(group, &["raw_line_probes_ns", "placement_changes", "rounds_left_out", "reference", "rows"]);
        assert_eq!(group["cpus"].as_array().map(Vec::len), group["participants"].as_u64().map(|n| n as usize));
        assert_rows(group);
    }
    assert_eq!(report.gates.len(), 25);
    for gate in &report.gates {
        assert_eq!(gate.needs.is_none(), gate.measured.is_some(), "{gate:?}");
        // By default members do not merely spin; rows may be skipped because the machine was too busy.
        let is_control = gate.gate.contains("the chosen plan's time");
        let may_lack = |needs: &str| needs.contains("too busy") || needs.contains("not the control");
        assert!(!is_control || gate.needs.as_deref().is_none_or(may_lack), "{gate:?}");
    }
}

#[test]
fn runtimes_in_programs_of_their_own_are_raced_or_say_what_installs_them() {
    let contenders = vec!["libgomp".to_owned(), "openmpi".to_owned()];
    let options = Options { ops: vec![Op::Broadcast], participants: vec![2], contenders, ..quick() };
    let report = collectives(&this_machine(), &options, &mut ()).expect("allowed CPUs");
    let json = serde_json::to_value(&report).expect("plain data");
    assert_eq!(json["groups"][0]["bytes"], 56);
    assert_rows(&json["groups"][0]);
    let names: Vec<&str> = report.groups[0].rows.iter().map(|row| row.contender.as_str()).collect();
    assert_eq!(names, ["corecast", "libgomp", "openmpi"]);
}

#[test]
fn ump_is_raced_one_way_and_as_streams_of_messages_and_words() {
    let report = ump(&this_machine(), &quick(), &mut ()).expect("allowed CPUs");
    let json = serde_json::to_value(&report).expect("plain data");
    let groups = json["groups"].as_array().expect("groups");
    let ops: Vec<&Value> = groups.iter().map(|group| &group["op"]).collect();
    assert_eq!(ops, ["one_way", "stream", "words"]);
    groups.iter().for_each(assert_rows);
    assert_eq!(json["gates"].as_array().map(Vec::len), Some(4));
    assert_gates(&report.gates, "2 CPUs");
}

#[test]
fn acknowledged_broadcasts_are_raced_in_bursts() {
    let options = Options { participants: vec![3], ..quick() };
    let what = AcknowledgedOptions { arities: vec![1, 2], bursts: vec![1, 5] };
    let report = acknowledged(&this_machine(), &options, &what, &mut ()).expect("allowed CPUs");
    let json = serde_json::to_value(&report).expect("plain data");
    let groups = json["groups"].as_array().expect("groups");
    assert_eq!(groups.iter().map(|group| group["burst"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(5)]);
    for group in groups {
        assert_rows(group);
        let rows = group["rows"].as_array().expect("rows");
        assert_eq!((rows.len(), &rows[0]["contender"]), (19, &Value::from("corecast/ring/counters/k1")));
        assert!(rows.iter().all(|row| row["skipped"].is_null()), "{group}");
    }
    let want = |gate: &Gate| gate.needs.as_deref().is_some_and(|needs| needs.contains("members with a CPU each"));
    assert!(report.gates.len() == 4 && report.gates.iter().all(want), "neither bursts of 128 nor four members");
}

#[test]
fn one_of_many_channels_is_raced_and_turns_are_counted() {
    let report = select(&this_machine(), &quick(), &mut ()).expect("allowed CPUs");
    let json = serde_json::to_value(&report).expect("plain data");
    assert_rows(&json["groups"][0]);
    let names: Vec<&Value> =
        json["groups"][0]["rows"].as_array().expect("rows").iter().map(|row| &row["contender"]).collect();
    assert_eq!(names, ["select/64", "ump", "crossbeam-select/64"]);
    assert_fields(&json["fairness"], &["channels", "slots", "messages", "rounds", "worst_share", "median_share"]);
    let fairness = report.fairness;
    assert!(fairness.rounds > 0 && fairness.worst_share <= fairness.median_share, "{fairness:?}");
    assert!(fairness.worst_share > 0.8 && fairness.median_share <= 1.0, "{fairness:?}");
    assert_gates(&report.race.gates, "2 CPUs");
}

#[test]
fn waiting_groups_and_receivers_are_accounted_for() {
    let options = Options { participants: vec![3], ..quick() };
    let report = idle(&this_machine(), &options, Duration::from_millis(20), &mut ()).expect("allowed CPUs");
    assert_eq!((report.participants, report.late_ms), (3, 20));
    for row in report.rows.iter().chain(&report.channels) {
        assert_eq!(row.cpu_percent.is_none(), row.skipped.is_some(), "{row:?}");
    }
    let ours: Vec<&str> = report.channels.iter().filter(|row| row.ours).map(|row| row.contender.as_str()).collect();
    assert_eq!(ours, ["ump", "ff", "mcast", "select/8"]);
    assert!(report.channels.iter().all(|row| row.cpu_percent.is_some()), "{:?}", report.channels);
    assert_gates(&report.gates, "nothing");
    assert!(report.rows.iter().any(|row| row.contender == "std" && row.cpu_percent.is_some()));
}

#[test]
fn an_impossible_request_is_an_error_and_no_report() {
    let absent = Options { cpus: Some("0-9999".parse().expect("a list")), ..quick() };
    let outcome = collectives(&this_machine(), &absent, &mut ()).map(drop);
    assert!(matches!(outcome, Err(BenchError::Cpu { .. })), "{outcome:?}");
    let cancelled = quick();
    cancelled.cancel.cancel();
    assert_eq!(collectives(&this_machine(), &cancelled, &mut ()).map(drop), Err(BenchError::Cancelled));
}
