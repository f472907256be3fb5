//! `corecast bench collectives` from outside: among threads and among processes, with every length.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use serde_json::{Value, json};

use crate::program::{Program, Run};

fn race(program: &Program, more: &[&str]) -> Value {
    let mut arguments = vec!["collectives", "--quick", "--json", "--seed", "7"];
    arguments.extend(more);
    let run = program.run(&arguments);
    // A contender of corecast's own that did not finish fails the run, and on a busy machine that may be.
    if run.code == Some(1) && is_too_busy(&run.stderr) { run.json() } else { run.succeeded().json() }
}

fn groups(report: &Value) -> &Vec<Value> {
    report["groups"].as_array().expect("groups")
}

/// The row of a contender, and why it was not timed.
fn row<'a>(group: &'a Value, contender: &str) -> (&'a Value, &'a str) {
    let row = group["rows"].as_array().expect("rows").iter().find(|row| row["contender"] == contender);
    let row = row.unwrap_or_else(|| panic!("{contender} is not in {group}"));
    (row, row["skipped"].as_str().unwrap_or_default())
}

/// Timed, unless the machine was too busy for it.
#[track_caller]
fn assert_timed(group: &Value, contender: &str) {
    let (row, skipped) = row(group, contender);
    assert!(row["median_ns"].as_f64() > Some(0.0) || is_too_busy(skipped), "{row}");
}

fn is_too_busy(skipped: &str) -> bool {
    ["too busy", "did not finish within"].iter().any(|words| skipped.contains(words))
}

#[test]
fn members_that_are_processes_are_raced() {
    let program = Program::new();
    let contenders = ["--contenders", "pthread,std,libgomp,corecast/ticket"];
    let barrier = race(&program, &[&["--processes", "--op", "barrier", "--n", "2,3"], &contenders[..]].concat());
    assert_eq!(barrier["place"], "processes");
    for group in groups(&barrier) {
        ["corecast", "corecast/ticket", "pthread"].iter().for_each(|contender| assert_timed(group, contender));
        ["std", "libgomp"].iter().for_each(|contender| assert_eq!(row(group, contender).1, "for threads only"));
    }
    let others = ["--processes", "--in-process", "--op", "broadcast,reduce,allreduce", "--n", "2", "--size", "8,4Ki"];
    let others = race(&program, &others);
    let found: Vec<Value> = groups(&others).iter().map(|group| json!([group["op"], group["bytes"]])).collect();
    let ops = ["broadcast", "reduce", "allreduce"];
    assert_eq!(found, ops.map(|op| [json!([op, 8]), json!([op, 4096])]).concat());
    for group in groups(&others) {
        assert_timed(group, "corecast");
        assert_eq!(row(group, "slots+std-barrier").1, "for threads only");
    }
}

#[test]
fn threads_carry_what_is_asked_for() {
    let report = race(&Program::new(), &["--in-process", "--op", "broadcast", "--n", "2", "--size", "0,56,64Ki"]);
    assert_eq!(report["place"], "threads");
    assert_eq!(groups(&report).iter().map(|group| &group["bytes"]).collect::<Vec<_>>(), [0, 56, 64 << 10]);
    for (i, group) in groups(&report).iter().enumerate() {
        ["corecast", "slots+std-barrier"].iter().for_each(|contender| assert_timed(group, contender));
        assert_eq!(row(group, "mutex+condvar").1.contains("56 bytes only"), i != 1, "{group}");
        let same = "the same tree as corecast here";
        assert_eq!(row(group, "corecast/tree/cluster").1, same, "two members have one tree");
    }
}

#[test]
fn exchanges_and_agreements_are_raced_among_threads_and_processes() {
    let ops = ["gather", "scatter", "commit", "atomic_stream"];
    let some = ["--op", "gather,scatter,commit,atomic_stream", "--n", "2", "--size", "8,2Ki"];
    for more in [&["--in-process"][..], &["--processes", "--contenders", "openmpi"]] {
        let report = race(&Program::new(), &[&some[..], more].concat());
        let found: Vec<Value> = groups(&report).iter().map(|group| json!([group["op"], group["bytes"]])).collect();
        assert_eq!(found, ops.map(|op| [json!([op, 8]), json!([op, 2048])]).concat());
        for group in groups(&report) {
            assert_timed(group, "corecast");
            if more.len() == 1 {
                assert_timed(group, "slots+std-barrier");
            }
        }
    }
}

#[test]
fn operations_have_an_echo_where_that_is_asked_for() {
    let program = Program::new();
    let echo = ["--op", "broadcast,reduce,commit", "--n", "2,3", "--leaf-echo", "--spread", "--contenders"];
    for more in [&["slots+std-barrier,libgomp"][..], &["openmpi", "--processes"]] {
        let report = race(&program, &[&echo[..], more].concat());
        for group in groups(&report) {
            assert_eq!(group["timing"], "leaf_echo", "{group}");
            assert_timed(group, "corecast");
            for row in group["rows"].as_array().expect("rows").iter().skip(1) {
                let skipped = row["skipped"].as_str().unwrap_or_default();
                let fine = ["", "its driver was not made for this task"];
                let is_here = !skipped.contains(" install ");
                assert!(fine.contains(&skipped) || is_too_busy(skipped) || !is_here, "{row}");
            }
        }
    }
}

#[test]
fn a_race_leaves_a_page() {
    let program = Program::new();
    let sizes = ["--op", "broadcast", "--n", "2", "--size", "0,8,4Ki", "--contenders", "slots+std-barrier"];
    race(&program, &[&sizes[..], &["--html", "race.html"]].concat());
    let page = std::fs::read_to_string(program.path("race.html")).expect("written");
    for words in [
        "broadcast among 2 members: time against bytes",
        "4 KiB",
        "corecast bench collectives --quick --json --seed 7 --op broadcast --n 2 --size 0,8,4Ki",
    ] {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn a_page_may_have_a_name_that_is_no_text() {
    let program = Program::new();
    let name = OsStr::from_bytes(b"rings-\xff.html");
    let acknowledged = ["acknowledged", "--quick", "--n", "2", "--bursts", "1,8", "--html"];
    let run = Run::from(program.command(&acknowledged).arg(name).output().expect("the program starts")).succeeded();
    assert!(run.stdout.contains("page written to rings-\u{fffd}.html"), "{}", run.stdout);
    let page = std::fs::read_to_string(program.path("").join(name)).expect("written");
    assert!(page.contains("rate in bursts of 8") && page.contains("published: SDR, k = 6"));
    assert!(page.contains("--html 'rings-\u{fffd}.html'"), "the command, as far as it can be shown");
}

#[test]
fn a_page_without_a_folder_is_told_before_the_race() {
    let program = Program::new();
    for kind in ["collectives", "acknowledged"] {
        let run = program.run(&[kind, "--html", "none/race.html"]);
        assert_eq!(run.failed(1, "cannot write the page to none/race.html: No such file").stdout, "");
    }
    let full = ["acknowledged", "--quick", "--n", "2", "--bursts", "1", "--html", "/dev/full"];
    let run = program.run(&full).failed(1, "cannot write the page to /dev/full: ");
    assert!(run.stdout.contains("corecast/ring/counters/k2"), "the table is there: {}", run.stdout);
}

#[test]
fn a_member_is_not_started_by_hand() {
    Program::new().run(&["collective-member"]).failed(1, "Socket operation on non-socket");
}
