//! `corecast bench atomics` from outside: a row of every operation for each number of threads.

use serde_json::Value;

use crate::program::{Program, assert_fields};

const ATOMIC_REPORT: [&str; 11] =
    ["machine", "commit", "seed", "quick", "cpus", "lines", "pause_ns", "block_ms", "rounds", "cells", "published"];
const ATOMIC_ROW: [&str; 14] = [
    "contender",
    "calls",
    "successes",
    "tries",
    "mops",
    "mean_mops",
    "max_mops",
    "success_mops",
    "jain",
    "p50_ns",
    "p99_ns",
    "p999_ns",
    "samples",
    "skipped",
];

fn array<'a>(value: &'a Value, field: &str) -> &'a Vec<Value> {
    value[field].as_array().expect("an array")
}

#[test]
fn every_operation_has_a_row_for_each_number_of_threads() {
    let report = Program::new().json(&["bench", "atomics", "--quick", "--threads", "1,3", "--seed", "7", "--json"]);
    assert_fields(&report, &ATOMIC_REPORT);
    assert_eq!((&report["seed"], &report["quick"]), (&7.into(), &true.into()));
    let cells = array(&report, "cells");
    assert_eq!(cells.iter().map(|cell| cell["threads"].as_u64()).collect::<Vec<_>>(), [Some(1), Some(3)]);
    for cell in cells {
        assert_fields(cell, &["threads", "oversubscribed", "rows"]);
        let names: Vec<&str> = array(cell, "rows").iter().filter_map(|row| row["contender"].as_str()).collect();
        assert_eq!(names, ["cas", "tas", "fai", "swap", "fai-by-cas"]);
        for row in array(cell, "rows") {
            assert_fields(row, &ATOMIC_ROW);
            assert!(row["skipped"].is_null() && row["mops"].as_f64() > Some(0.0), "{row}");
        }
    }
    assert_fields(&report["published"][0], &["figure", "machine", "least", "most", "source", "here"]);
    assert_eq!(report["published"][0]["most"], 20.0);
    for line in array(&report, "lines") {
        assert_fields(line, &["distance", "cpus", "line_ns"]);
        assert!(line["line_ns"].as_f64() <= report["pause_ns"].as_f64(), "{report}");
    }
}

#[test]
fn operations_are_chosen_and_the_pause_is_as_asked_for() {
    let arguments = ["bench", "atomics", "--quick", "--threads", "2", "--contenders", "swap", "--pause", "500"];
    let text = Program::new().run(&arguments).succeeded().stdout;
    assert!(text.contains("pauses for 500 ns") && text.contains("\n2 threads") && text.contains(" swap"), "{text}");
    assert!(text.contains("David, Guerraoui, Trigonakis") && !text.contains(" fai"), "{text}");
}
