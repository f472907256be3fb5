//! `corecast bench table` from outside: a row of every contender, and what was published beside them.

use crate::program::{Program, assert_fields};

const ROW: [&str; 14] = [
    "contender",
    "ours",
    "clients",
    "servers",
    "mops",
    "mean_mops",
    "min_mops",
    "max_mops",
    "regret",
    "hits",
    "gets",
    "jain",
    "most_to_fewest",
    "skipped",
];
const CELL: [&str; 5] = ["buckets", "mean", "threads", "oversubscribed", "rows"];
const REPORT: [&str; 12] =
    ["machine", "commit", "seed", "quick", "cpus", "wait", "every", "block_ms", "rounds", "cells", "published", "gates"];

const QUICK: [&str; 9] = ["bench", "table", "--quick", "--block", "1", "--buckets", "12", "--elements", "12"];

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
            assert!(row["skipped"].is_null() && row["mops"].as_f64() > Some(0.0), "{row}");
        }
    }
    let names: Vec<&str> =
        cells[0]["rows"].as_array().expect("rows").iter().filter_map(|row| row["contender"].as_str()).collect();
    for name in ["tas", "ticket", "mcs", "clh", "word", "messages", "dashmap", "papaya", "scc", "std"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let xeon = &report["published"][4];
    assert_eq!((&xeon["buckets"], &xeon["mean"], &xeon["messages_36"]), (&12.into(), &12.into(), &18.05.into()));
    assert_eq!(xeon["threads_36"], serde_json::json!({ "mops": 4.87, "lock": "clh" }));
    assert_eq!(report["gates"].as_array().map(Vec::len), Some(2));
}

#[test]
fn those_named_are_raced_and_the_published_of_the_same_table_are_shown() {
    let arguments = [&QUICK[..], &["--threads", "2", "--contenders", "word,messages"]].concat();
    let text = Program::new().run(&arguments).succeeded().stdout;
    assert!(text.contains("12 buckets of 12 on average, 2 threads") && text.contains("1 server, 1 client"), "{text}");
    assert!(text.contains("published of other machines") && text.contains("18.05"), "{text}");
    assert!(!text.contains("\n dashmap") && !text.contains("95.71"), "{text}");
    assert!(text.contains("not judged here: needs 2 threads"), "{text}");
}
