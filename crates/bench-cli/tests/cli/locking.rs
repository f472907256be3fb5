//! `corecast bench locks` from outside: every lock alone, in turns and in a crowd, and what each loses over all.

use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::{Program, first_cpu};

const REPORT: [&str; 15] = [
    "left_out",
    "machine",
    "commit",
    "seed",
    "quick",
    "cpus",
    "pairs",
    "distances",
    "cells",
    "combining",
    "readers",
    "flips",
    "regrets",
    "published",
    "gates",
];
const DISTANCE_ROW: [&str; 8] =
    ["contender", "ours", "acquire_p50_ns", "acquire_p99_ns", "release_p50_ns", "release_p99_ns", "skipped", "failed"];
const CELL: [&str; 9] = ["threads", "locks", "hold_ns", "gap", "gap_ns", "foreign", "pinned", "oversubscribed", "rows"];
const ROW: [&str; 16] = [
    "contender",
    "ours",
    "mops",
    "regret",
    "jain",
    "jain_100ms",
    "wait_max_100ms_ns",
    "most_to_fewest",
    "wait_mean_ns",
    "wait_p50_ns",
    "wait_p99_ns",
    "wait_p999_ns",
    "wait_max_ns",
    "longest_to_mean",
    "skipped",
    "failed",
];
const REGRET: [&str; 7] = ["contender", "ours", "mean", "interval", "p95", "max", "curve"];

const QUICK: [&str; 9] =
    ["locks", "--quick", "--locks", "2", "--hold", "100", "--contenders", "tas,word,auto,std", "--seed"];

fn names(rows: &Value) -> Vec<&str> {
    rows.as_array().expect("an array").iter().filter_map(|row| row["contender"].as_str()).collect()
}

#[test]
fn every_lock_has_a_row_in_each_situation_and_its_regret() {
    let report = Program::new().json(&[&QUICK[..], &["7", "--threads", "1,3", "--json"]].concat());
    assert_fields(&report, &REPORT);
    assert_eq!(names(&report["pairs"]), ["tas", "word", "auto", "std"]);
    for distance in report["distances"].as_array().expect("an array") {
        assert_eq!(names(&distance["rows"]), ["bare-cas", "tas", "word", "auto", "std"]);
        assert_fields(&distance["rows"][1], &DISTANCE_ROW);
    }
    let cells = report["cells"].as_array().expect("an array");
    let situation = |cell: &Value| (cell["threads"].as_u64(), cell["pinned"].as_bool(), cell["hold_ns"].as_u64());
    let expected = [(1, true), (1, false), (3, true), (3, false)];
    let expected = expected.map(|(threads, pinned)| (Some(threads), Some(pinned), Some(100)));
    assert_eq!(cells.iter().map(situation).collect::<Vec<_>>(), expected);
    for cell in cells {
        assert_fields(cell, &CELL);
        assert_fields(&cell["rows"][2], &ROW);
        assert!(cell["rows"][2]["wait_p999_ns"].is_number(), "{cell}");
        assert_eq!(names(&cell["rows"]), ["tas", "word", "auto", "std"]);
    }
    let regrets = report["regrets"].as_array().expect("an array");
    assert_eq!(regrets.len(), 4);
    for row in regrets {
        assert_fields(row, &REGRET);
        assert_eq!(row["curve"].as_array().map(Vec::len), Some(4), "one for each situation");
    }
    let grid = report["gates"].as_array().expect("an array").iter().find(|gate| gate["limit"] == 2.0).expect("a gate");
    assert_eq!(grid["verdict"], "not_judged", "a part of the grid says nothing of the whole");
}

#[test]
fn people_are_told_which_situation_a_table_is_of() {
    let program = Program::new();
    let options = ["7", "--threads", "1,3", "--placement", "unpinned", "--html", "locks.html"];
    let text = program.run(&[&QUICK[..], &options].concat()).succeeded().stdout;
    assert!(text.contains("3 threads, 2 locks, each held for 100 ns, unpinned"), "{text}");
    assert!(text.contains("mean regret") && text.contains("taken again and again on CPU"), "{text}");
    let page = std::fs::read_to_string(program.path("locks.html")).expect("written");
    assert!(page.contains("corecast bench locks --quick") && page.contains("--seed 7"), "{page}");
}

#[test]
fn the_time_outside_and_a_load_beside_are_axes_too() {
    let beside = ["7", "--threads", "2", "--placement", "pinned", "--gap", "0,10", "--foreign", "0,3"];
    let program = Program::new();
    let report = program.json(&[&QUICK[..], &beside, &["--json"]].concat());
    let situation = |cell: &Value| ["gap", "gap_ns", "foreign"].map(|field| cell[field].as_u64());
    let found: Vec<_> = report["cells"].as_array().expect("an array").iter().map(situation).collect();
    assert_eq!(found, [[0, 0, 0], [0, 0, 3], [10, 1000, 0], [10, 1000, 3]].map(|cell| cell.map(Some)));
    let text = program.run(&[&QUICK[..], &beside].concat()).succeeded().stdout;
    assert!(text.contains("each held for 100 ns, 10 times that between, 3 foreign threads beside"), "{text}");
    for nonsense in
        [["--gap", "1.5"], ["--gap", "1001"], ["--foreign", "1001"], ["--foreign", "some"], ["--wait", "spin"]]
    {
        program.run(&[&["locks"], &nonsense[..]].concat()).failed(2, nonsense[0]);
    }
}

#[test]
fn closures_are_sent_beside_the_locks_if_that_is_named() {
    let program = Program::new();
    let named = ["locks", "--quick", "--contenders", "combine,delegate,tas", "--threads", "2", "--locks", "1"];
    let report = program.json(&[&named[..], &["--hold", "0", "--json"]].concat());
    assert!(report["cells"].as_array().expect("an array").iter().all(|cell| names(&cell["rows"]) == ["tas"]));
    let cells = report["combining"].as_array().expect("an array");
    let hold = |cell: &Value| cell["hold_ns"].as_u64();
    assert_eq!(cells.iter().map(hold).collect::<Vec<_>>(), [Some(0), Some(100)]);
    for cell in cells {
        assert_fields(cell, &CELL);
        assert_eq!(names(&cell["rows"]), ["combine", "delegate", "tas"]);
    }
    let text = program.run(&[&named[..], &["--hold", "0"]].concat()).succeeded().stdout;
    assert!(text.contains("closures sent, or the data locked: 2 threads, 1 lock, each held for 100 ns"), "{text}");
}

#[test]
fn readers_are_raced_by_themselves_if_they_are_named() {
    let program = Program::new();
    let named =
        ["locks", "--quick", "--contenders", "rw_spread,seq,rw_parking_lot", "--threads", "1,3", "--writes", "0,50"];
    let report = program.json(&[&named[..], &["--json", "--seed", "3"]].concat());
    assert!(report["cells"].as_array().is_some_and(Vec::is_empty), "no mutex is named");
    let expected = ["rw_spread", "seq", "rw_parking_lot"];
    assert_eq!(names(&report["readers"]["pairs"]), expected);
    let cells = report["readers"]["cells"].as_array().expect("an array");
    let situation = |cell: &Value| (cell["threads"].as_u64(), cell["writes"].as_u64());
    let situations: Vec<_> = cells.iter().map(situation).collect();
    assert_eq!(situations, [(1, 0), (1, 50), (3, 0), (3, 50)].map(|(threads, writes)| (Some(threads), Some(writes))));
    for cell in cells {
        assert_fields(cell, &["threads", "writes", "oversubscribed", "rows"]);
        assert_eq!(names(&cell["rows"]), expected);
        assert_fields(&cell["rows"][0], &["contender", "ours", "mops", "write_mops", "jain", "skipped", "failed"]);
    }
    program.run(&["locks", "--contenders", "rw_fair"]).failed(2, "rw_fair");
    program.run(&["locks", "--writes", "101"]).failed(2, "--writes");
}

#[test]
fn flips_are_run_if_they_are_asked_for() {
    let named = ["locks", "--quick", "--contenders", "tas", "--threads", "1", "--locks", "1", "--hold", "0"];
    let program = Program::new();
    let cpu = first_cpu();
    let report = program.json(&[&named[..], &["--cpus", &cpu, "--flips", "--json"]].concat());
    let flips = report["flips"].as_array().expect("an array");
    let [crowd] = &flips[..] else { panic!("on one CPU threads and a crowd of them alternate: {flips:?}") };
    assert_fields(crowd, &["phases", "phase_ms", "oversubscribed", "rows"]);
    assert_fields(&crowd["phases"][1], &["threads", "hold_ns"]);
    assert_eq!((crowd["oversubscribed"].as_bool(), crowd["phase_ms"].as_u64()), (Some(true), Some(100)));
    assert_eq!(names(&crowd["rows"]), ["tas"]);
    let fields = ["contender", "ours", "mops", "settled_ms", "skipped", "failed"];
    assert_fields(&crowd["rows"][0], &fields);
}
