//! `corecast bench atomics` and `bench messages` from outside: a row of every contender in each situation.

use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::Program;

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
const MESSAGE_REPORT: [&str; 12] = [
    "machine",
    "commit",
    "seed",
    "quick",
    "cpus",
    "wait",
    "block_ms",
    "rounds",
    "pairs",
    "servers",
    "published",
    "gates",
];
const PAIR_CELL: [&str; 9] =
    ["distance", "pairs", "cpus", "oversubscribed", "bytes", "trip", "line_ns", "placement_changes", "rows"];
const PAIR_ROW: [&str; 14] = [
    "contender",
    "ours",
    "messages",
    "median_ns",
    "p10_ns",
    "p90_ns",
    "p99_ns",
    "min_ns",
    "mad_ns",
    "samples",
    "lines",
    "mops",
    "skipped",
    "failed",
];
const SERVER_CELL: [&str; 10] = [
    "servers",
    "clients",
    "cpus",
    "oversubscribed",
    "trip",
    "receive",
    "work_ns",
    "line_ns",
    "placement_changes",
    "rows",
];
const SERVER_ROW: [&str; 11] = [
    "contender",
    "ours",
    "messages",
    "mops",
    "min_mops",
    "max_mops",
    "lines",
    "client_ns",
    "jain",
    "skipped",
    "failed",
];
const MESSAGES: [&str; 6] = ["messages", "--quick", "--block", "1", "--work", "0"];

fn array<'a>(value: &'a Value, field: &str) -> &'a Vec<Value> {
    value[field].as_array().expect("an array")
}

#[test]
fn every_operation_has_a_row_for_each_number_of_threads() {
    let report = Program::new().json(&["atomics", "--quick", "--threads", "1,3", "--seed", "7", "--json"]);
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
    let program = Program::new();
    let arguments = ["atomics", "--quick", "--threads", "2", "--contenders", "swap", "--pause", "500"];
    let text = program.run(&[&arguments[..], &["--html", "atomics.html"]].concat()).succeeded().stdout;
    assert!(text.contains("pauses for 500 ns") && text.contains("\n2 threads") && text.contains(" swap"), "{text}");
    assert!(text.contains("David, Guerraoui, Trigonakis") && !text.contains(" fai"), "{text}");
    let page = std::fs::read_to_string(program.path("atomics.html")).expect("written");
    assert!(page.contains("pause for 500 ns") && page.contains("--contenders swap"), "{page}");
}

#[test]
fn every_channel_has_a_row_between_pairs_and_at_servers() {
    let program = Program::new();
    let more = ["--clients", "3", "--every", "2", "--seed", "7", "--json", "--html", "messages.html"];
    let report = program.json(&[&MESSAGES[..], &more].concat());
    let page = std::fs::read_to_string(program.path("messages.html")).expect("written");
    assert!(page.contains("from halves in turns") && page.contains("--every 2"), "{page}");
    assert_fields(&report, &MESSAGE_REPORT);
    assert_eq!((&report["seed"], &report["block_ms"]), (&7.into(), &1.into()));
    for cell in array(&report, "pairs") {
        assert_fields(cell, &PAIR_CELL);
        let names: Vec<&str> = array(cell, "rows").iter().filter_map(|row| row["contender"].as_str()).collect();
        assert_eq!(names, ["ump", "one-line", "rtrb", "crossbeam-channel", "std-sync-channel"]);
        for row in array(cell, "rows") {
            assert_fields(row, &PAIR_ROW);
            assert!(row["skipped"].is_null() && row["median_ns"].as_f64() > Some(0.0), "{row}");
        }
    }
    let trips: Vec<&str> = array(&report, "pairs").iter().filter_map(|cell| cell["trip"].as_str()).collect();
    assert_eq!(trips[..4], ["one-way", "round-trip", "one-way", "round-trip"]);
    let who: Vec<(u64, &str)> = array(&report, "servers")
        .iter()
        .map(|cell| (cell["clients"].as_u64().expect("a number"), cell["receive"].as_str().expect("a word")))
        .collect();
    assert_eq!(who[..4], [(3, "any"), (3, "subset"), (3, "any"), (3, "subset")]);
    for cell in array(&report, "servers") {
        assert_fields(cell, &SERVER_CELL);
        for row in array(cell, "rows") {
            assert_fields(row, &SERVER_ROW);
            assert_ne!(row["skipped"].is_null(), row["mops"].is_null(), "{row}");
        }
    }
    assert_eq!((array(&report, "published").len(), array(&report, "gates").len()), (6, 2));
}

#[test]
fn situations_and_contenders_are_those_asked_for() {
    let some = ["--clients", "2", "--every", "2", "--bytes", "64", "--contenders", "ump,crossbeam-select"];
    let text = Program::new().run(&[&MESSAGES[..], &some].concat()).succeeded().stdout;
    for words in ["64 bytes one way", "64 bytes there and back", "1 server, 2 clients, from halves in turns", "5.20"] {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    assert!(text.contains("not judged here: needs 2 CPUs,"), "{text}");
    assert!(!text.contains("rtrb") && !text.contains("ns of work"), "{text}");
}
