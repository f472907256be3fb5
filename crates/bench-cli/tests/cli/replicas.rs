//! `corecast bench replica` from outside: its strata, its experiments, its page.

use std::fs;

use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::Program;

const REPORT: [&str; 19] = [
    "machine",
    "commit",
    "seed",
    "quick",
    "preset",
    "cpus",
    "wait",
    "waits",
    "busy",
    "foreign_load",
    "robustness",
    "costs",
    "cells",
    "pauses",
    "predictions",
    "simulated",
    "redis",
    "left_out",
    "gates",
];
const CELL: [&str; 6] = ["workload", "replicas", "clients", "place", "oversubscribed", "rows"];
const ROW: [&str; 13] = [
    "contender",
    "ours",
    "kops",
    "min_kops",
    "max_kops",
    "read_p50_ns",
    "read_p99_ns",
    "write_p50_ns",
    "write_p99_ns",
    "slowest_p50_ns",
    "samples",
    "skipped",
    "failed",
];

const SHORT: [&str; 6] = ["replica", "--quick", "--rounds", "1", "--block", "2"];

fn array(value: &Value) -> &Vec<Value> {
    value.as_array().expect("an array")
}

#[test]
fn stores_are_raced_among_threads_and_processes() {
    let named =
        ["--members", "2", "--contenders", "shm-fused,shm-separate-lines,robust-mutex", "--seed", "7", "--json"];
    let report = Program::new().json(&[&SHORT[..], &named].concat());
    assert_fields(&report, &REPORT);
    assert_eq!((&report["seed"], &report["preset"]), (&7.into(), &Value::Null));
    let cells = array(&report["cells"]);
    let places: Vec<&str> = cells.iter().filter_map(|cell| cell["place"].as_str()).collect();
    assert_eq!(places, ["threads", "processes", "threads", "processes", "threads"]);
    for cell in cells {
        assert_fields(cell, &CELL);
        assert_eq!(array(&cell["rows"]).len(), 3);
        for row in array(&cell["rows"]) {
            assert_fields(row, &ROW);
            assert!(row["skipped"].is_null() && row["kops"].as_f64() > Some(0.0), "{cell}");
        }
    }
    assert!(array(&report["robustness"]).is_empty() && array(&report["gates"]).len() >= 9, "{report}");
}

#[test]
fn an_experiment_is_repeated_and_a_page_written() {
    let program = Program::new();
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("page.html");
    let page = path.to_str().expect("UTF-8");
    let named = ["--preset", "zimp-snap", "--members", "2", "--html", page];
    let text = program.run(&[&SHORT[..], &named].concat()).succeeded().stdout;
    for words in ["checkpoints of 128 B", "states copied", "shm-separate", "left out", "Q7", "beside a checkpoint"] {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    let page = fs::read_to_string(path).expect("written");
    assert!(page.contains("checkpoints of 1048576 B") && page.contains("--seed"), "{page}");
}

#[test]
fn beside_busy_processes_writes_are_raced_and_only_their_gate_is_judged() {
    let named = ["--busy", "1", "--members", "2", "--rate", "500", "--json"];
    let report = Program::new().json(&[&SHORT[..], &named].concat());
    let words: Vec<&str> = array(&report["cells"]).iter().filter_map(|cell| cell["workload"].as_str()).collect();
    assert_eq!((words, &report["busy"]), (vec!["writes", "writes, 500/s"], &1.into()), "{report}");
    let judged = |gate: &&Value| gate["verdict"] != "not_judged";
    let gates: Vec<&str> =
        array(&report["gates"]).iter().filter(judged).filter_map(|gate| gate["gate"].as_str()).collect();
    // Without redis-server none is.
    assert!(gates.iter().all(|gate| gate.starts_with("beside busy processes")) && gates.len() <= 1, "{report}");
}

/// A short run of random kills and stops, and its report.
fn crash(more: &[&str]) -> Value {
    let faults = tempfile::tempdir().expect("a folder");
    let folder = faults.path().to_str().expect("UTF-8");
    let usual =
        ["replica", "--crash", "--kills", "25", "--seconds", "60", "--seed", "18", "--faults", folder, "--json"];
    let report = Program::new().json(&[&usual[..], more].concat());
    assert!(array(&report["faults"]).is_empty(), "{report}");
    let count = |field: &str| report[field].as_u64().unwrap_or_else(|| panic!("no {field} in {report}"));
    assert!(count("kills") + count("stops") >= 25 && count("respawns") > 0, "{report}");
    assert!(count("writes") > 0 && count("reads") > 0 && count("histories") > 0, "{report}");
    let wrong = ["lost", "twice", "not_linearizable", "undecided", "diverged", "stuck", "gone"];
    assert!(wrong.iter().all(|field| count(field) == 0), "{report}");
    report
}

#[test]
fn kills_and_stops_harm_no_group_in_shared_memory() {
    let report = crash(&[]);
    assert_eq!((&report["messages"], &report["files"], &report["restarts"]), (&false.into(), &false.into(), &0.into()));
}

#[test]
fn kills_and_stops_harm_no_group_over_messages() {
    assert_eq!(crash(&["--messages"])["messages"], true);
}

#[test]
fn a_group_with_files_is_made_anew_after_the_death_of_all() {
    let report = crash(&["--files"]);
    assert_eq!(report["files"], true);
    // Each group loses all of its processes before it is read at the end.
    assert!(report["restarts"].as_u64() >= report["episodes"].as_u64() && report["restarts"] != 0, "{report}");
}

#[test]
fn a_group_with_files_over_messages_is_made_anew() {
    let report = crash(&["--messages", "--files"]);
    assert!(report["restarts"].as_u64() >= report["episodes"].as_u64() && report["restarts"] != 0, "{report}");
}

#[test]
fn bad_words_are_refused_by_name() {
    let program = Program::new();
    let unknown = [&SHORT[..], &["--contenders", "zookeeper"]].concat();
    program.run(&unknown).failed(2, "no contender is called 'zookeeper'");
    program.run(&["replica", "--preset", "smelt"]).failed(2, "smelt-1paxos");
    program.run(&["replica", "--members", "65"]).failed(2, "65 is not in 1..=64");
}
