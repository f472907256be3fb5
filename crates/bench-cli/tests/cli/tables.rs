//! `corecast bench table` from outside: a row of every contender, and what was published beside them.

use std::process::{Child, Stdio};
use std::{fs, thread};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::{Program, Run};

const ROW: [&str; 21] = [
    "contender",
    "ours",
    "clients",
    "servers",
    "every",
    "mops",
    "mean_mops",
    "min_mops",
    "max_mops",
    "regret",
    "hit_mops",
    "hits",
    "gets",
    "jain",
    "most_to_fewest",
    "p50_ns",
    "p99_ns",
    "p999_ns",
    "samples",
    "skipped",
    "failed",
];
const CELL: [&str; 5] = ["buckets", "mean", "threads", "oversubscribed", "rows"];
const REPORT: [&str; 17] = [
    "machine",
    "commit",
    "seed",
    "quick",
    "cpus",
    "wait",
    "every",
    "batch",
    "zipf",
    "unpinned",
    "writes_payload",
    "fence",
    "block_ms",
    "rounds",
    "cells",
    "published",
    "gates",
];

const QUICK: [&str; 8] = ["table", "--quick", "--block", "1", "--buckets", "12", "--elements", "12"];

/// Whether some contender had time: one alone may have none in the blocks of a quick race, on a machine that is busy.
fn gets_somewhere(cell: &Value) -> bool {
    cell["rows"].as_array().expect("an array").iter().any(|row| row["mops"].as_f64() > Some(0.0))
}

#[test]
fn every_contender_has_a_row() {
    let arguments = [&QUICK[..], &["--threads", "1,3", "--seed", "7", "--json"]].concat();
    let report = Program::new().json(&arguments);
    assert_fields(&report, &REPORT);
    assert_eq!((&report["seed"], &report["quick"], &report["block_ms"]), (&7.into(), &true.into(), &1.into()));
    let cells = report["cells"].as_array().expect("an array");
    assert_eq!(cells.iter().map(|cell| cell["threads"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(3)]);
    for cell in cells {
        assert_fields(cell, &CELL);
        for row in cell["rows"].as_array().expect("an array") {
            assert_fields(row, &ROW);
            assert!(row["skipped"].is_null() && row["mops"].is_number(), "{row}");
        }
        assert!(gets_somewhere(cell), "{cell}");
    }
    let names: Vec<&str> =
        cells[0]["rows"].as_array().expect("rows").iter().filter_map(|row| row["contender"].as_str()).collect();
    for name in ["tas", "ticket", "mcs", "clh", "word", "messages", "dashmap", "papaya", "scc", "std", "std-sharded"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let xeon = &report["published"][4];
    assert_eq!((&xeon["buckets"], &xeon["mean"], &xeon["messages_36"]), (&12.into(), &12.into(), &18.05.into()));
    assert_eq!(xeon["threads_36"], serde_json::json!({ "mops": 4.87, "lock": "clh" }));
    assert_eq!(report["gates"].as_array().map(Vec::len), Some(11));
}

#[test]
fn those_named_are_raced_and_the_published_of_the_same_table_are_shown() {
    let arguments = [&QUICK[..], &["--threads", "2", "--contenders", "word,messages"]].concat();
    let text = Program::new().run(&arguments).succeeded().stdout;
    assert!(text.contains("12 buckets of 12 on average, 2 threads") && text.contains("1 server, 1 client"), "{text}");
    assert!(text.contains("published of other machines") && text.contains("18.05"), "{text}");
    let (races, gates) = text.split_once("\n gate ").expect("races, then gates");
    assert!(!races.contains("\n dashmap") && !races.contains("95.71"), "{text}");
    assert!(gates.contains("not judged here: needs 512") && gates.contains("`--original` with the original"), "{text}");
}

#[test]
fn every_share_of_servers_batches_and_nodes_off_the_lines_are_raced() {
    let named = ["--contenders", "misaligned-mcs,messages,messages-batched", "--threads", "4", "--every", "2,4"];
    let report = Program::new().json(&[&QUICK[..], &named, &["--batch", "5", "--misaligned", "--json"]].concat());
    let rows = report["cells"][0]["rows"].as_array().expect("an array");
    let told: Vec<_> = rows.iter().map(|row| (row["contender"].as_str(), row["servers"].as_u64())).collect();
    assert_eq!(
        told,
        [
            (Some("misaligned-mcs"), Some(0)),
            (Some("messages"), Some(2)),
            (Some("messages/4"), Some(1)),
            (Some("messages-batched"), Some(2)),
            (Some("messages-batched/4"), Some(1)),
        ]
    );
}

#[test]
fn processes_serve_and_ask_and_departures_from_the_paper_are_told() {
    let named = ["--contenders", "messages-processes,delegated,rw_ttas", "--threads", "1,5", "--every", "2"];
    let changed = ["--zipf", "0.99", "--unpinned", "--write-payload", "--no-fence"];
    let quick = ["table", "--quick", "--buckets", "12", "--elements", "12"];
    let report = Program::new().json(&[&quick[..], &named, &changed, &["--json"]].concat());
    assert_eq!(
        (&report["every"], &report["zipf"], &report["unpinned"]),
        (&serde_json::json!([2]), &0.99.into(), &true.into())
    );
    for (cell, processes) in report["cells"].as_array().expect("an array").iter().zip([(1, 1), (3, 2)]) {
        let rows = cell["rows"].as_array().expect("an array");
        assert_eq!(rows.len(), 3);
        for row in rows {
            assert!(row["skipped"].is_null() && row["mops"].is_number(), "{row}");
            assert_eq!(row["samples"].as_u64() > Some(0), row["p50_ns"].as_f64() > Some(0.0), "{row}");
        }
        assert!(gets_somewhere(cell), "{cell}");
        let last = &rows[2];
        assert_eq!(last["contender"], "messages-processes");
        assert_eq!((&last["servers"], &last["clients"]), (&processes.0.into(), &processes.1.into()));
    }
    let text = Program::new().run(&[&QUICK[..], &["--contenders", "tas"], &changed].concat()).succeeded().stdout;
    assert!(text.contains("keys by Zipf's law, 0.99; threads not bound; puts write their bytes; no fence"), "{text}");
}

#[test]
fn a_process_of_a_table_needs_its_parent() {
    Program::new().run(&["table-member"]).failed(1, "Socket operation on non-socket");
}

/// A process whose parent is this one.
fn child_of(parent: &Child) -> Option<Pid> {
    fs::read_dir("/proc").expect("listed").find_map(|entry| {
        let pid: i32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let mut after_name = stat.rsplit_once(") ")?.1.split(' ').skip(1);
        (after_name.next()?.parse() == Ok(parent.id())).then(|| Pid::from_raw(pid))?
    })
}

#[test]
fn a_table_of_processes_ends_with_a_reason_whichever_dies() {
    let program = Program::new();
    let arguments = ["--block", "60000", "--threads", "1", "--contenders", "messages-processes", "--json"];
    let arguments = [&["table", "--quick", "--buckets", "2", "--elements", "4"][..], &arguments].concat();
    let running = program.command(&arguments).stdout(Stdio::piped()).spawn().expect("the program starts");
    // One that has just ended by itself is no longer there to be killed.
    while child_of(&running).is_none_or(|child| kill_process(child, Signal::KILL).is_err()) {
        thread::yield_now();
    }
    // The row of a contender of ours that broke down fails the run.
    let report = Run::from(running.wait_with_output().expect("it ends")).failed(1, "").json();
    let reason = report["cells"][0]["rows"][0]["skipped"].as_str().expect("it has no numbers").to_owned();
    assert!(["SIGKILL", "died", "ended", "closed"].iter().any(|word| reason.contains(word)), "{reason}");
}
