//! `corecast bench busy` from outside: a row for every contender, neighbours that end with their parent, and contenders that do
//! not come to their ends. Nothing depends on how fast anything is.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::{Program, Run};

const REPORT: [&str; 14] = [
    "machine",
    "commit",
    "seed",
    "quick",
    "cpus",
    "wait",
    "neighbour",
    "bursts",
    "quota_cpus",
    "steps",
    "limit_ms",
    "repetitions",
    "cells",
    "gates",
];
const CELL: [&str; 8] = ["op", "members", "place", "pinned", "hogs", "hogs_alone", "rounds", "rows"];
const ROW: [&str; 15] = [
    "contender",
    "ours",
    "judged",
    "sleeps",
    "runs",
    "wall_ms",
    "median_ns",
    "p99_ns",
    "longest_ns",
    "cpu_s",
    "hogs_cpus",
    "ratio",
    "unfinished",
    "skipped",
    "failed",
];

/// A few rounds, for which a busy machine gets all the time it wants.
const TINY: [&str; 9] = ["busy", "--quick", "--members", "2", "--rounds", "20", "--repetitions", "1", "--limit=600000"];

fn rows(report: &Value) -> &Vec<Value> {
    report["cells"][0]["rows"].as_array().expect("an array")
}

#[test]
fn every_contender_has_a_row() {
    let arguments = [&TINY[..], &["--op", "barrier", "--hogs", "1", "--seed", "7", "--json"]].concat();
    let report = Program::new().json(&arguments);
    assert_fields(&report, &REPORT);
    assert_eq!(
        (&report["seed"], &report["neighbour"], &report["bursts"]),
        (&7.into(), &"normal".into(), &false.into())
    );
    assert_eq!(report["cells"].as_array().map(Vec::len), Some(1));
    let cell = &report["cells"][0];
    assert_fields(cell, &CELL);
    assert_eq!((&cell["op"], &cell["members"], &cell["hogs"]), (&"barrier".into(), &2.into(), &1.into()));
    assert!(cell["hogs_alone"].as_f64() > Some(0.0), "{cell}");
    for row in rows(&report) {
        assert_fields(row, &ROW);
        assert!(row["unfinished"].is_null(), "{row}");
        assert_eq!(row["skipped"].is_null(), row["runs"] == 1, "{row}");
        assert_eq!(row["skipped"].is_null(), row["wall_ms"].as_f64() > Some(0.0), "{row}");
    }
    let names: Vec<&str> = rows(&report).iter().filter_map(|row| row["contender"].as_str()).collect();
    let expected =
        ["corecast", "corecast-park", "corecast-spin", "std", "pthread", "libgomp", "libomp", "openmpi", "mpich"];
    assert_eq!(names, expected);
    assert_eq!(report["gates"].as_array().map(Vec::len), Some(3));
}

#[test]
fn weak_neighbours_in_bursts_and_members_that_are_processes() {
    let load = ["--hogs", "2", "--bursts", "--neighbour"];
    for (neighbour, op) in [("nice", "ping-pong"), ("idle", "commit")] {
        let arguments = [&TINY[..], &load, &[neighbour, "--op", op, "--contenders", "std", "--json"]].concat();
        let report = Program::new().json(&arguments);
        assert_eq!((&report["neighbour"], &report["bursts"]), (&neighbour.into(), &true.into()));
        let finished: Vec<_> =
            rows(&report).iter().map(|row| (row["contender"].as_str(), row["runs"].as_u64())).collect();
        assert_eq!(finished, [(Some("corecast"), Some(1)), (Some("std"), Some(1))]);
    }
    let named =
        ["--op", "barrier", "--hogs", "0", "--processes", "--pinned", "both", "--contenders", "std,pthread", "--json"];
    let report = Program::new().json(&[&TINY[..], &named].concat());
    for cell in report["cells"].as_array().expect("an array") {
        assert_eq!(cell["place"], "processes");
        let skipped = cell["rows"].as_array().expect("an array").iter().map(|row| row["skipped"].as_str());
        assert_eq!(skipped.collect::<Vec<_>>(), [None, Some("for threads only"), None], "{cell}");
    }
    assert_eq!(report["cells"].as_array().map(Vec::len), Some(2), "pinned and not");
}

#[test]
fn the_text_says_how_many_cells_hold() {
    let named = ["--op", "mutex", "--hogs", "0", "--contenders", "parking_lot"];
    let text = Program::new().run(&[&TINY[..], &named].concat()).succeeded().stdout;
    for words in ["mutex, 2 threads, pinned, 0 hogs, 400 rounds: ", " parking_lot ", " of 1 judged cell hold, "] {
        assert!(text.contains(words), "'{words}' is not in: {text}");
    }
}

#[test]
fn a_contender_that_does_not_finish_has_a_row_and_the_exit_status_says_so_of_corecast() {
    // Ten thousand times 300 steps by each of two members take longer than a millisecond anywhere.
    let endless = ["busy", "--quick", "--op", "barrier", "--members", "2", "--hogs", "0", "--repetitions", "2"];
    let limited = ["--rounds", "10000", "--limit", "1", "--contenders", "std,corecast-spin"];
    let run = Program::new().run(&[&endless[..], &limited, &["--json"]].concat());
    let report = run.json();
    for row in rows(&report) {
        assert_eq!((&row["runs"], &row["wall_ms"]), (&0.into(), &Value::Null), "{row}");
        assert_eq!(row["unfinished"], "it did not finish within 1 ms");
        assert_eq!(row["failed"], row["sleeps"], "{row}");
    }
    assert_eq!(rows(&report).len(), 3);
    run.failed(1, "contenders of corecast did not come to their ends: corecast at barrier, 2 threads, pinned, 0 hogs");
    let text = Program::new().run(&[&endless[..], &limited].concat());
    assert!(
        text.stdout.contains("unfinished: corecast at barrier, 2 threads, pinned, 0 hogs: it did not"),
        "{}",
        text.stdout
    );
    text.failed(1, "did not come to their ends");
}

#[test]
fn input_that_will_not_do() {
    let program = Program::new();
    for (arguments, words) in [
        (&["--hogs", "1000"][..], "1000 is not in 0..=64"),
        (&["--hogs", "-1"], "-1 is not in 0..=64"),
        (&["--hogs", "many"], "'many'"),
        (&["--op", "smoke"], "[possible values: barrier, broadcast, allreduce, ping-pong, "),
        (&["--members", "1"], "1 is not in 2..=256"),
        (&["--neighbour", "loud"], "[possible values: normal, nice, idle]"),
        (&["--pinned", "maybe"], "[possible values: yes, no, both]"),
        (&["--quota", "0"], "expected a number of CPUs from 0.01 to 1024"),
        (&["--rounds", "10001"], "10001 is not in 1..=10000"),
        (&["--op", "mutex", "--contenders", "openmpi"], "no contender is called 'openmpi': there are corecast, std, "),
    ] {
        let run = program.run(&[&["busy", "--quick"], arguments].concat()).failed(2, words);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
    program.run(&["busy-member"]).failed(1, "Socket operation on non-socket");
}

/// A run that lasts until it is killed, and the processes it has started once it has begun: 2 neighbours at least.
fn endless(program: &Program) -> (Child, Vec<i32>) {
    let load = ["--op", "barrier", "--members", "2", "--hogs", "2", "--contenders", "std"];
    let arguments = ["--rounds", "10000", "--limit", "600000", "--repetitions", "99"];
    let arguments = [&["busy"][..], &load, &arguments].concat();
    let mut running =
        program.command(&arguments).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program starts");
    let mut lines = BufReader::new(running.stderr.take().expect("piped")).lines();
    let begun = lines.by_ref().map(|line| line.expect("UTF-8")).any(|line| line.contains("barrier, 2 threads"));
    assert!(begun, "it never began");
    // A reader that has closed the output would be told of by a signal.
    thread::spawn(move || lines.for_each(drop));
    let children = children_of(&running);
    assert!(children.len() >= 2, "{children:?}");
    (running, children)
}

/// The state of a process, such as R, and its parent; `None` if there is none.
fn state_of(pid: i32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut after_name = stat.rsplit_once(") ")?.1.split(' ');
    Some((after_name.next()?.chars().next()?, after_name.next()?.parse().ok()?))
}

fn children_of(parent: &Child) -> Vec<i32> {
    let entries =
        fs::read_dir("/proc").expect("listed").filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    entries.filter(|&pid| state_of(pid).is_some_and(|(_, of)| of == parent.id())).collect()
}

/// Waits until none of them runs any more.
fn await_end(children: &[i32]) {
    let runs = |&pid: &i32| state_of(pid).is_some_and(|(state, _)| !['Z', 'X'].contains(&state));
    while children.iter().any(runs) {
        thread::yield_now();
    }
}

#[test]
fn neighbours_end_with_a_parent_that_is_killed() {
    let (mut running, children) = endless(&Program::new());
    kill_process(Pid::from_child(&running), Signal::KILL).expect("it still runs");
    running.wait().expect("it ends");
    await_end(&children);
}

#[test]
fn a_run_that_is_told_to_end_leaves_nobody_behind() {
    let (running, children) = endless(&Program::new());
    kill_process(Pid::from_child(&running), Signal::TERM).expect("it still runs");
    let run = Run::from(running.wait_with_output().expect("it ends"));
    assert_eq!(run.code, Some(130));
    await_end(&children);
}
