//! `corecast bench nodes` from outside: groups over two hosts, under the libraries that Debian installs.

use std::path::Path;

use corecast_testing::skipped;
use serde_json::Value;

use crate::PROGRAM;
use crate::program::Program;

/// The rows of a run with two members on each of two hosts, every one of which went well; those of one library each.
fn rows(what: &str, kind: &str, arguments: &[&str]) -> Vec<Value> {
    if !Path::new(PROGRAM).with_file_name("corecast").exists() {
        skipped(what, "corecast is not built beside its benchmarks");
        return Vec::new();
    }
    let program = Program::new();
    let model = program.model(0..2);
    let all = ["nodes", "--hosts", "2", "--libraries", "openmpi,mpich", "--seed", "7", "--json"];
    let report = program.json(&[&all, arguments, &["--machine", &model]].concat());
    for skip in report["skipped"].as_array().expect("an array") {
        let [library, reason] = ["library", "reason"].map(|field| skip[field].as_str().expect("words"));
        skipped(&format!("{what} under {library}"), reason);
    }
    let gates = report["gates"].as_array().expect("an array");
    assert!(gates.iter().all(|gate| gate["verdict"] != "missed" || gate["limit"] != 0.0), "{report}");
    let rows = report[kind].as_array().expect("an array").clone();
    let of = |rows: &[Value]| rows.iter().map(|row| row["library"].to_string()).collect::<Vec<_>>();
    let mut libraries = [of(&rows), of(report["skipped"].as_array().expect("an array"))].concat();
    libraries.sort_unstable();
    libraries.dedup();
    assert_eq!(libraries, ["\"mpich\"", "\"openmpi\""], "each has rows, or is skipped: {report}");
    rows
}

#[test]
fn what_has_no_survivors_or_no_library_is_refused() {
    let program = Program::new();
    program.run(&["nodes", "--kill", "leader", "--hosts", "1"]).failed(2, "expected --hosts 2 or more");
    program
        .run(&["nodes", "--libraries", "smoke"])
        .failed(2, "no contender is called 'smoke': there are openmpi, mpich");
}

#[test]
fn members_that_make_no_group_are_refused() {
    let program = Program::new();
    let numbers = "expected numbers of members from 1 to 256, such as 4, or 1+3 for two hosts";
    for (arguments, words) in [
        (&["--members", "0"][..], numbers),
        (&["--members", ""], numbers),
        (&["--members", "2,"], numbers),
        (&["--members", "1+0"], numbers),
        (&["--members", "257"], numbers),
        (&["--members", "two"], numbers),
        (&["--members", "1+3", "--hosts", "3"], "--members 1+3 on 3 hosts: expected one number, or 3 numbers"),
        (&["--members", "1+3"], "--members 1+3: expected --check N beside different numbers"),
        (&["--members", "1", "--kill", "member"], "--members 1: expected 2 or more with --kill member"),
        (&["--kill", "member", "--at", "started"], "--at is a place that only leaders pass: expected --kill leader"),
        (&["--at", "started"], "--kill <WHAT>"),
        (
            &["--kill", "leader", "--shape", "threads"],
            "--kill takes a process for each member: expected --shape nested or",
        ),
        (&["--model", "--hosts", "1"], "--model needs messages between hosts: expected --hosts 2 or more, not 1"),
        (&["--model", "--members", "1,2"], "--members 2: expected 1 with --model"),
        (&["--model", "--shape", "ranks"], "cannot be used with"),
        (&["--lanes", "2"], "--lanes needs several MPI processes on each host: expected --shape ranks"),
        (&["--lanes", "17", "--shape", "ranks"], "17 is not in 1..=16"),
        (
            &["--lanes", "3", "--shape", "ranks", "--members", "2+4", "--check", "1"],
            "--members 2+4: expected 3 or more on each host with --lanes 3",
        ),
        (&["--members", "256", "--hosts", "64"], "expected at most 4096 members in all, not 16384"),
    ] {
        let run = program.run(&[&["nodes"], arguments].concat()).failed(2, words);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

#[test]
fn operations_of_groups_over_two_hosts_are_right() {
    let rows = rows("operations over two hosts", "checks", &["--members", "2+2,1+3", "--check", "50"]);
    assert_eq!(
        rows.len() % 7,
        0,
        "four shapes of each library, and three where hosts have different numbers: {rows:?}"
    );
    assert!(rows.is_empty() || rows.iter().any(|row| row["uneven"] == "1+3"), "{rows:?}");
    assert!(rows.iter().all(|row| row["wrong"].is_null() && row["is_late"] == false), "{rows:?}");
}

#[test]
fn operations_of_groups_with_lanes_are_right() {
    let lanes = ["--members", "2", "--check", "100", "--shape", "ranks", "--lanes", "2"];
    let rows = rows("operations with lanes", "checks", &lanes);
    assert_eq!(rows.len() % 2, 0, "ranks of each library, one after the other and in turns: {rows:?}");
    assert!(rows.iter().all(|row| row["wrong"].is_null() && row["is_late"] == false), "{rows:?}");
}

#[test]
fn the_place_of_a_leaders_death_is_told() {
    let kill = ["--members", "2", "--kill", "leader", "--at", "started", "--runs", "1"];
    for row in rows("deaths at a place", "deaths", &kill) {
        let labels = [&row["victim"], &row["place"]].map(Value::as_str);
        assert_eq!(labels, [Some("leader"), Some("started")], "{row}");
        let counts = [&row["runs"], &row["named"], &row["hung"]].map(Value::as_u64);
        assert_eq!(counts, [Some(1), Some(1), Some(0)], "{row}");
    }
}

#[test]
fn the_model_of_a_network_stands_beside_it() {
    for row in rows("the model of a network", "model", &["--model", "--quick", "--runs", "1"]) {
        assert_eq!([&row["hosts"], &row["launches"]].map(Value::as_u64), [Some(2), Some(1)], "{row}");
        let figures = ["predicted_us", "measured_us", "ratio"].map(|field| row[field].as_f64());
        assert!(figures.iter().all(|figure| figure.is_some_and(|figure| figure > 0.0)), "{row}");
    }
}

#[test]
fn a_rank_that_dies_ends_the_job_of_a_library_that_does_not_survive_it() {
    let kill = ["--members", "2", "--kill", "member", "--shape", "ranks", "--runs", "1"];
    for row in rows("deaths of ranks", "deaths", &kill) {
        assert_eq!([&row["shape"], &row["victim"]].map(Value::as_str), [Some("ranks"), Some("member")], "{row}");
        let counts = [&row["runs"], &row["named"], &row["hung"]].map(Value::as_u64);
        assert_eq!(counts, [Some(1), Some(1), Some(0)], "{row}");
    }
}

#[test]
fn deaths_over_two_hosts_are_told_to_all() {
    for row in rows("deaths over two hosts", "deaths", &["--members", "2", "--kill", "member", "--runs", "2"]) {
        assert_eq!(
            [&row["named"], &row["shrunk"], &row["hung"]].map(Value::as_u64),
            [Some(2), Some(2), Some(0)],
            "{row}"
        );
    }
}
