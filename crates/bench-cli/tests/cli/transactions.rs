//! `bench tm`: its JSON, its text and its page.

use crate::fields::assert_fields;
use crate::program::Program;

const ROW: [&str; 16] = [
    "contender",
    "ours",
    "clients",
    "servers",
    "every",
    "mtps",
    "min_mtps",
    "max_mtps",
    "rounds_mtps",
    "regret",
    "transaction_ns",
    "aborts",
    "scans_per_s",
    "jain",
    "jain_of_time",
    "skipped",
];
const CELL: [&str; 12] = [
    "workload",
    "checks_percent",
    "readers",
    "scans_percent",
    "initial",
    "load",
    "updates_percent",
    "moves_percent",
    "snapshots_percent",
    "participants",
    "oversubscribed",
    "rows",
];
const REPORT: [&str; 16] = [
    "machine",
    "commit",
    "seed",
    "quick",
    "preset",
    "cpus",
    "wait",
    "every",
    "text_bytes",
    "block_ms",
    "rounds",
    "cut",
    "cells",
    "published",
    "gates",
    "over_one_lock",
];

const QUICK: [&str; 4] = ["tm", "--quick", "--block", "2"];

#[test]
fn memories_are_raced_at_the_work_that_is_named() {
    let named = ["--workloads", "bank,mp", "--contenders", "messages-fair-cm,shared-fair-cm,one-lock"];
    let sizes = ["--participants", "2", "--checks", "50", "--readers", "0", "--seed", "7", "--json"];
    let report = Program::new().json(&[&QUICK[..], &named, &sizes].concat());
    assert_fields(&report, &REPORT);
    assert_eq!(
        (&report["seed"], &report["block_ms"], &report["every"]),
        (&7.into(), &2.into(), &serde_json::json!([3]))
    );
    let cells = report["cells"].as_array().expect("an array");
    let told: Vec<_> =
        cells.iter().map(|cell| (cell["workload"].as_str(), cell["rows"].as_array().map(Vec::len))).collect();
    assert_eq!(told, [(Some("bank"), Some(3)), (Some("mp"), Some(1))]);
    for cell in cells {
        assert_fields(cell, &CELL);
        for row in cell["rows"].as_array().expect("an array") {
            assert_fields(row, &[&ROW[..], &["failed"]].concat());
            assert!(row["skipped"].is_null() && row["mtps"].is_number(), "{row}");
        }
    }
    assert_eq!((&cells[0]["checks_percent"], &cells[1]["checks_percent"]), (&50.into(), &serde_json::Value::Null));
    assert_eq!(report["gates"].as_array().map(Vec::len), Some(9));
    assert_eq!(report["published"][0]["least"], 2.51);
}

#[test]
fn a_file_is_counted_and_a_page_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let (text, page) = (folder.path().join("text"), folder.path().join("tm.html"));
    std::fs::write(&text, "The quick brown fox. ".repeat(1000)).expect("a file");
    let (text, page) = (text.to_str().expect("plain"), page.to_str().expect("plain"));
    let named = ["--workloads", "map-reduce", "--contenders", "shared-fair-cm,stm", "--participants", "1,2"];
    let shown =
        Program::new().run(&[&QUICK[..], &named, &["--file", text, "--html", page]].concat()).succeeded().stdout;
    assert!(shown.contains("map-reduce, 2 participants") && shown.contains("published of other machines"), "{shown}");
    assert!(shown.contains("2.51") && shown.contains("needs 12 CPUs"), "{shown}");
    let page = std::fs::read_to_string(page).expect("it was written");
    assert!(page.contains("Transactional memories, raced") && page.contains("<svg"));
}
