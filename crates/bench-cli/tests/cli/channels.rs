//! `corecast bench channels` from outside: every contender's row, among threads and among processes.

use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::Program;

const ROW: [&str; 20] = [
    "contender",
    "ours",
    "fan",
    "lossless",
    "median_ns",
    "p10_ns",
    "p90_ns",
    "p99_ns",
    "min_ns",
    "mad_ns",
    "samples",
    "messages_per_s",
    "deliveries_per_s",
    "sender_ns",
    "latency",
    "cpu_s_per_million",
    "lost_share",
    "ratio",
    "skipped",
    "failed",
];
const GROUP: [&str; 9] =
    ["bytes", "receivers", "cpus", "oversubscribed", "depth", "raw_line_ns", "placement_changes", "reference", "rows"];
const REPORT: [&str; 17] = [
    "machine",
    "kernel",
    "commit",
    "seed",
    "quick",
    "traffic",
    "place",
    "seating",
    "wait",
    "seconds_per_row",
    "clock_offset_ns",
    "raw_line_ns",
    "placement_changes",
    "warnings",
    "groups",
    "published",
    "gates",
];

fn race(program: &Program, more: &[&str]) -> Value {
    let mut arguments = vec!["channels", "--quick", "--json", "--seed", "7", "--seconds", "0.001"];
    arguments.extend(more);
    program.json(&arguments)
}

fn rows(report: &Value) -> impl Iterator<Item = &Value> {
    report["groups"].as_array().expect("groups").iter().flat_map(|group| group["rows"].as_array().expect("rows"))
}

#[test]
fn threads_are_raced_with_documented_fields() {
    let program = Program::new();
    let report =
        race(&program, &["--contenders", "ump,rtrb,zimp,tokio-broadcast", "--sizes", "64,5000", "--receivers", "1"]);
    assert_fields(&report, &REPORT);
    assert_eq!((&report["place"], &report["seating"]), (&"threads".into(), &"pinned".into()));
    assert_eq!(report["groups"].as_array().map(Vec::len), Some(2));
    for group in report["groups"].as_array().expect("groups") {
        assert_fields(group, &GROUP);
        assert_eq!(group["reference"], "ump");
    }
    assert_eq!(rows(&report).count(), 8);
    for row in rows(&report) {
        assert_fields(row, &ROW);
        assert!(row["messages_per_s"].as_f64() > Some(0.0) && row["skipped"].is_null(), "{row}");
    }
    let gates = report["gates"].as_array().expect("gates");
    for gate in gates {
        assert_fields(gate, &["gate", "limit", "is_most", "measured", "verdict", "needs", "told"]);
        assert_eq!(gate["measured"].is_null(), gate["verdict"] == "not_judged", "{gate}");
        assert_eq!(gate["needs"].is_string(), gate["verdict"] == "not_judged", "{gate}");
    }
}

#[test]
fn processes_receive_whatever_can_cross_to_them() {
    let program = Program::new();
    let report = race(&program, &["--processes", "--sizes", "100", "--receivers", "2"]);
    assert_eq!(report["place"], "processes");
    let fine =
        ["for threads only", "built without feature", "needs a Java machine", "fs.mqueue", "did not finish within"];
    for row in rows(&report) {
        let reason = row["skipped"].as_str().unwrap_or_default();
        assert!(reason.is_empty() || fine.iter().any(|fine| reason.contains(fine)), "{row}");
    }
    let timed = |name: &str| rows(&report).any(|row| row["contender"] == name && row["skipped"].is_null());
    for name in [
        "mcast",
        "ump-bytes",
        "zimp",
        "byte-flags",
        "one-line",
        "barrelfish-mp",
        "unix-stream",
        "tcp",
        "udp",
        "pipe",
        "sysv-queue",
    ] {
        assert!(timed(name), "{name}");
    }
}

#[test]
fn participants_need_not_be_bound() {
    let report = race(&Program::new(), &["--no-pin", "--contenders", "rtrb", "--sizes", "8", "--receivers", "1"]);
    assert_eq!(report["seating"], "unpinned");
    assert_eq!(report["groups"][0]["cpus"], Value::Array(Vec::new()));
    assert!(report["groups"][0]["reference"].is_null(), "none of ours was raced");
}

#[test]
fn a_page_has_the_pictures_of_the_paper() {
    let program = Program::new();
    let more = ["--contenders", "mcast,zimp,tcp", "--sizes", "1,64", "--receivers", "1,2", "--html", "channels.html"];
    let report = race(&program, &more);
    let page = std::fs::read_to_string(program.path("channels.html")).expect("written");
    for words in ["against bytes", "against receivers", "1 bytes to 1 thread", "--receivers 1,2", "Aublin et al."] {
        assert!(page.contains(words), "'{words}' is not in {page}");
    }
    assert_eq!(page.matches("<svg").count(), 4, "two numbers of receivers, two lengths");
    let published = report["published"].as_array().expect("published");
    assert_eq!((published.len(), &published[0]["least"], &published[0]["most"]), (12, &12.5.into(), &12.5.into()));
    let is_fitting = report["groups"][0]["oversubscribed"] == false;
    assert_eq!(published[0]["here"].is_number(), is_fitting, "{report}");
    program.run(&["channels", "--list", "--html", "channels.html"]).failed(2, "cannot be used with");
    program.run(&["channels", "--html", "none/channels.html"]).failed(1, "cannot write the page to none/");
}

#[test]
fn contenders_are_listed() {
    let program = Program::new();
    let list = program.json(&["channels", "--list", "--json"]);
    let list = list.as_array().expect("a list");
    assert!(list.len() >= 25, "{}", list.len());
    for listed in list {
        assert_fields(listed, &["contender", "about", "fan", "ours", "processes", "lossless"]);
    }
    let text = program.run(&["channels", "--list"]).succeeded().stdout;
    assert!(list.iter().all(|listed| text.contains(listed["contender"].as_str().expect("a name"))), "{text}");
}

#[test]
fn a_receiving_process_is_not_started_by_hand() {
    Program::new().run(&["channel-member"]).failed(1, "Socket operation on non-socket");
}

#[test]
fn programs_are_played() {
    let program = Program::new();
    for (name, participants) in [("paxos", 6), ("checkpoint", 4)] {
        for place in ["--threads", "--processes"] {
            let contenders = "ump+mcast,barrelfish-mp,udp";
            let report = race(
                &program,
                &[place, "--macro", name, "--contenders", contenders, "--sizes", "100", "--receivers", "3"],
            );
            assert_eq!((&report["traffic"], &report["place"]), (&name.into(), &place[2..].into()));
            assert_eq!(report["groups"][0]["cpus"].as_array().map(Vec::len), Some(participants));
            let reasons: Vec<&Value> = rows(&report).map(|row| &row["skipped"]).collect();
            assert!(reasons[0].is_null() && reasons[1].is_null(), "{place}: {reasons:?}");
            assert_eq!(reasons[2], "a lost message would end the program");
            assert_eq!(report["gates"].as_array().map(Vec::len), Some(3));
        }
    }
}

/// One node sends to many, many send to one, and each contender crosses to its processes in its own way.
#[test]
fn programs_are_played_by_processes_over_whatever_can_cross_to_them() {
    let program = Program::new();
    let report = race(&program, &["--macro", "checkpoint", "--processes", "--sizes", "5000", "--receivers", "2"]);
    let fine = ["for threads only", "lost message", "built without feature", "fs.mqueue", "did not finish within"];
    for row in rows(&report) {
        let reason = row["skipped"].as_str().unwrap_or_default();
        assert!(reason.is_empty() || fine.iter().any(|fine| reason.contains(fine)), "{row}");
    }
    let timed = |name: &str| rows(&report).any(|row| row["contender"] == name && row["messages_per_s"].is_number());
    for name in ["ump+mcast", "mcast", "ump-bytes", "zimp", "byte-flags", "unix-seqpacket", "tcp", "pipe", "sysv-queue"]
    {
        assert!(timed(name), "{name}");
    }
}
