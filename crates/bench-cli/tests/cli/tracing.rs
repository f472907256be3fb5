//! `corecast sim trace`: the events of a lock and of a barrier on simulated machines.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::Program;

const LOCKS: [&str; 12] =
    ["sim", "trace", "locks", "--after", "20", "--us", "3", "--cpus", "8", "--seed", "3", "--lock"];

fn list<'a>(report: &'a Value, name: &str) -> &'a Vec<Value> {
    report[name].as_array().expect("an array")
}

#[test]
fn a_trace_has_the_documented_fields_and_repeats_byte_for_byte() {
    let program = Program::new();
    let arguments = [&LOCKS[..], &["mcs", "--json"]].concat();
    let first = program.run(&arguments).succeeded().stdout;
    // A longer command line lies elsewhere in memory, and moves the heap.
    let path = program.path(&"x".repeat(200)).to_str().expect("a path").to_owned();
    assert_eq!(program.run(&[&arguments[..], &["--svg", &path]].concat()).succeeded().stdout, first);
    let report: Value = serde_json::from_str(&first).expect("JSON");
    let head = ["simulated", "version", "machine", "costs", "cpus", "program", "contender", "threads", "fill", "seed"];
    let options = ["disturbance", "after_us", "us", "inside_ns", "outside_ns"];
    let counts = ["operations", "transfers", "transfers_per_operation", "from_memory"];
    assert_fields(&report, &[&head[..], &options, &counts, &["lines", "requests", "waits", "phases"]].concat());
    let moved = ["transfers", "from_memory", "loads", "stores", "exchanges"];
    assert_fields(&list(&report, "lines")[0], &[&["line", "place", "offset", "stack_of"], &moved[..]].concat());
    let request = &list(&report, "requests")[0];
    let times = ["asked_ns", "served_ns", "comes_ns"];
    let from = ["answerer", "from_cpu", "distance", "reach", "before", "after"];
    assert_fields(request, &[&["line", "byte", "cpu", "thread", "access"], &times[..], &from].concat());
    assert_fields(&request["before"], &["state", "owner", "copies"]);
    assert_fields(&list(&report, "waits")[0], &["thread", "cpu", "reason", "lines", "begin_ns", "end_ns"]);
    assert_fields(&list(&report, "phases")[0], &["thread", "cpu", "phase", "begin_ns", "end_ns"]);
}

#[test]
fn the_counts_of_a_trace_are_those_of_its_events() {
    let report = Program::new().json(&[&LOCKS[..], &["mcs", "--json"]].concat());
    let within = |time: &Value| (0.0..3000.0).contains(&time.as_f64().expect("a time"));
    let moves = |request: &&Value| within(&request["served_ns"]) && request["distance"].is_number();
    let moved = list(&report, "requests").iter().filter(moves).count() as u64;
    let numbers = |list: &Value| list.as_array().expect("an array").iter().filter_map(Value::as_u64).sum::<u64>();
    let from_memory = report["from_memory"].as_u64().expect("a number");
    assert_eq!(numbers(&report["transfers"]) + from_memory, moved);
    let by_line = list(&report, "lines").iter();
    assert_eq!(by_line.map(|line| numbers(&line["transfers"])).sum::<u64>(), numbers(&report["transfers"]));
    let holds = list(&report, "phases").iter().filter(|phase| phase["phase"] == "holds" && within(&phase["begin_ns"]));
    assert_eq!(Some(holds.count() as u64), report["operations"].as_u64());
    let places: BTreeSet<&str> = list(&report, "lines").iter().filter_map(|line| line["place"].as_str()).collect();
    assert!(places.contains("lock") && places.contains("guarded"), "{places:?}");
}

#[test]
fn the_picture_stands_alone_and_says_that_it_is_simulated() {
    let program = Program::new();
    let path = program.path("mcs.svg");
    for (cpus, threads) in [("2", 2), ("8", 8), ("48", 48)] {
        let arguments = ["--lock", "mcs", "--after", "20", "--us", "2", "--cpus", cpus, "--svg"];
        let arguments = [&["sim", "trace", "locks"], &arguments[..], &[path.to_str().expect("a path")]].concat();
        let text = program.run(&arguments).succeeded().stdout;
        assert!(text.starts_with("SIMULATED: mcs on ") && text.contains("picture written to"), "{text}");
        let picture = std::fs::read_to_string(&path).expect("it was written");
        let document = roxmltree::Document::parse(&picture).expect("well-formed");
        let texts: BTreeSet<&str> = document.descendants().filter_map(|node| node.text()).collect();
        let headline = text.lines().next().expect("a line");
        assert!(
            texts.contains(headline) && headline.contains("opteron-4x12") && picture.contains(", seed 1, corecast "),
            "{headline}"
        );
        assert!(picture.contains("prefers-color-scheme: dark") && !picture.contains("var("));
        assert!(!["NaN", "inf\"", "width=\"-"].iter().any(|wrong| picture.contains(wrong)));
        let named = (0..threads).filter(|cpu| texts.contains(format!("CPU {cpu}").as_str())).count();
        assert_eq!(named, threads, "a row for each");
        let holds = document.descendants().filter(|node| node.attribute("class") == Some("trace-holds")).count();
        assert!(holds > 5, "{holds} of {cpus}");
    }
}

#[test]
fn without_a_picture_each_event_has_a_line() {
    let program = Program::new();
    let arguments = [&LOCKS[..], &["mcs"]].concat();
    let text = program.run(&arguments).succeeded().stdout;
    for words in
        ["came from", "distance 1: same package", "acquisitions began in the window", "holds, until", " polls line "]
    {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    let report = program.json(&[&arguments[..], &["--json"]].concat());
    let events: usize = ["requests", "waits", "phases"].iter().map(|name| list(&report, name).len()).sum();
    let (_, listed) = text.split_once("       ns\n").expect("a heading");
    assert_eq!(listed.lines().count(), events);
    let printed = program.run(&[&arguments[..], &["--svg", "-"]].concat()).succeeded().stdout;
    assert!(printed.starts_with("<svg") && printed.trim_end().ends_with("</svg>"), "{printed}");
}

#[test]
fn threads_that_share_a_cpu_or_are_stopped_wait() {
    let program = Program::new();
    let shared = ["--threads-per-cpu", "4", "--lock", "word", "--cpus", "2", "--after", "8000", "--us", "1000"];
    let shared = [&["sim", "trace", "locks"], &shared[..], &["--inside-ns", "20000"]].concat();
    let reasons = |arguments: &[&str]| -> BTreeSet<String> {
        let report = program.json(&[arguments, &["--json"]].concat());
        list(&report, "waits").iter().map(|wait| wait["reason"].as_str().expect("a word").to_owned()).collect()
    };
    assert!(reasons(&shared).contains("cpu"), "{:?}", reasons(&shared));
    let text = program.run(&shared).succeeded().stdout;
    assert!(text.contains("8 threads") && text.contains("CPU 1, thread 3"), "{text}");
    let stopped = reasons(&[&LOCKS[..], &["tas", "--preempt", "20:2"]].concat());
    assert!(stopped.contains("stopped"), "{stopped:?}");
}

#[test]
fn members_of_a_group_are_traced_at_one_barrier() {
    let program = Program::new();
    let arguments = [
        "sim",
        "trace",
        "barriers",
        "--barrier",
        "dissemination",
        "--cpus",
        "8",
        "--machine",
        "xeon-8x10",
        "--warm-up",
        "9",
    ];
    let report = program.json(&[&arguments[..], &["--json"]].concat());
    assert_eq!((&report["contender"], &report["operations"]), (&"dissemination".into(), &1.into()));
    assert_eq!(list(&report, "phases").len(), 8, "each member calls it once");
    let moved: u64 = list(&report, "transfers").iter().filter_map(Value::as_u64).sum();
    assert!((24..=72).contains(&moved), "three rounds of eight members: {moved}");
    program.run(&["sim", "trace", "barriers", "--barrier", "nothing"]).failed(2, "nothing");
}

#[test]
fn bad_input_of_a_trace_is_named() {
    let program = Program::new();
    let fails = |arguments: &[&str], code: i32, words: &str| {
        program.run(&[&["sim", "trace", "locks"], arguments].concat()).failed(code, words);
    };
    fails(&["--lock", "nothing"], 2, "unknown lock 'nothing'");
    fails(&[], 2, "--lock <LOCK>");
    fails(&["--lock", "mcs", "--cpus", "0"], 2, "expected a whole number from 1 to 4096");
    fails(&["--lock", "mcs", "--cpus", "49"], 2, "--cpus 49: the machine has 48 CPUs");
    fails(&["--lock", "mcs", "--us", "0"], 2, "expected a whole number from 1 to 1000");
    fails(&["--lock", "mcs", "--machine", "nothing"], 2, "no machine is called 'nothing'");
    let long = ["--lock", "mcs", "--cpus", "48", "--after", "5", "--us", "900"];
    fails(&long, 2, "a trace has at most 20000 events, and there are more in this window");
    fails(&["--lock", "mcs", "--svg", "none/mcs.svg"], 1, "cannot write the picture to none/");
    fails(&["--lock", "mcs", "--svg", "-", "--json"], 2, "--svg - and --json both want standard output");
}
