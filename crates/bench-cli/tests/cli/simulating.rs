//! `corecast sim`: locks on simulated machines.

use corecast_testing::machines;
use serde_json::Value;

use crate::fields::assert_fields;
use crate::program::Program;

const QUICK: [&str; 7] = ["sim", "locks", "--quick", "--json", "--runs", "1", "--locks"];

fn rows(report: &Value) -> &Vec<Value> {
    report["rows"].as_array().expect("an array")
}

#[test]
fn a_sweep_has_a_row_for_each_lock_and_number_of_threads_and_repeats() {
    let arguments = [&QUICK[..], &["mcs,ticket", "--machine", "xeon-8x10", "--cpus", "1,10,80"]].concat();
    let program = Program::new();
    let first = program.run(&arguments).succeeded().stdout;
    assert_eq!(program.run(&arguments).succeeded().stdout, first, "byte for byte");
    let report: Value = serde_json::from_str(&first).expect("JSON");
    assert_eq!(
        (&report["simulated"], &report["machine"], &report["cpus"]),
        (&true.into(), &"xeon-8x10".into(), &80.into())
    );
    let named: Vec<String> = rows(&report)
        .iter()
        .map(|row| format!("{} {}", row["contender"].as_str().expect("a name"), row["step"]))
        .collect();
    assert_eq!(named, ["mcs 1", "mcs 10", "mcs 80", "ticket 1", "ticket 10", "ticket 80"]);
    let rate = |place: usize| rows(&report)[place]["median"].as_f64().expect("a rate");
    assert!(rate(2) > rate(5), "a queue holds up with 80 threads: {report}");
    assert_eq!(rows(&report)[2]["transfers"].as_array().map(Vec::len), Some(3), "a number for each distance: {report}");
}

#[test]
fn a_model_file_is_simulated_and_a_faster_interconnect_is_faster() {
    let program = Program::new();
    let model = program.model(0..8);
    let rate = |what_if: &str| {
        let arguments = [&QUICK[..], &["mcs", "--machine", &model, "--cpus", "8", "--what-if", what_if]].concat();
        let report = program.json(&arguments);
        assert!(report["costs"].as_str().expect("words").ends_with("all other costs assumed from them"), "{report}");
        rows(&report)[0]["median"].as_f64().expect("a rate")
    };
    assert!(rate("interconnect=0.5") > rate("interconnect=4"));
    let text = program.run(&["sim", "locks", "--quick", "--machine", &model, "--cpus", "2"]).succeeded().stdout;
    assert!(text.starts_with("SIMULATED: "), "{text}");
}

#[test]
fn several_things_are_changed_at_once_and_told() {
    let program = Program::new();
    let arguments = ["sim", "atomics", "--quick", "--operations", "fai", "--cpus", "20", "--machine", "xeon-8x10"];
    let report = |changes: &[&str]| program.json(&[&arguments[..], &["--runs", "1", "--json"], changes].concat());
    let rate = |report: &Value| rows(report)[0]["median"].as_f64().expect("a rate");
    let (given, changed) = (report(&[]), report(&["--what-if", "kappa=0,service=8", "--what-if", "protocol=moesi"]));
    assert!(rate(&changed) > 1.2 * rate(&given), "requests that meet cost nothing more: {given} {changed}");
    let fields = ["interconnect", "kappa", "service_ns", "beta", "protocol"];
    assert_fields(&changed["what_if"], &fields);
    assert!(fields.iter().all(|field| given["what_if"][field].is_null()), "{given}");
    let told = ["kappa", "service_ns", "protocol"].map(|field| changed["what_if"][field].clone());
    assert_eq!(told, [0.0.into(), 8.0.into(), "moesi".into()] as [Value; 3]);
    let text = program.run(&[&arguments[..], &["--what-if", "beta=0.5,protocol=mesif"]].concat()).succeeded().stdout;
    assert!(text.contains("80 CPUs, beta 0.5, protocol mesi, seeds 1 to 5"), "{text}");
    let listed = program.json(&[&arguments[..], &["--what-if", "protocol=moesi", "--explain", "--json"]].concat());
    let parameters = listed["parameters"].as_array().expect("an array");
    let owned = parameters.iter().find(|known| known["parameter"] == "load.owned").expect("listed");
    assert_eq!(owned["origin"], "assumed");
}

#[test]
fn seeds_give_a_median_and_a_range_and_the_page_says_that_it_is_simulated() {
    let program = Program::new();
    let page_path = program.path("sim.html");
    let page = page_path.to_str().expect("a path");
    let arguments = ["sim", "locks", "--quick", "--locks", "tas", "--cpus", "6", "--runs", "3", "--seed", "4"];
    let report = program.json(&[&arguments[..], &["--json", "--html", page]].concat());
    let row = &rows(&report)[0];
    let [least, median, most] = ["least", "median", "most"].map(|name| row[name].as_f64().expect("a figure"));
    assert!(least <= median && median <= most && least < most, "{report}");
    assert_eq!((&report["unit"], &report["runs"]), (&"M/s".into(), &3.into()));
    let page = std::fs::read_to_string(&page_path).expect("it was written");
    for words in
        ["Simulated: acquisitions", "No figure on this page was measured", "corecast sim locks", "seeds 4 to 6"]
    {
        assert!(page.contains(words), "'{words}' is not in {page}");
    }
    let text = program.run(&arguments).succeeded().stdout;
    assert!(text.starts_with("SIMULATED: ") && text.contains("medians of the seeds, which are at most"), "{text}");
}

#[test]
fn barriers_are_times_and_the_groups_own_choice_is_one_of_them() {
    let arguments = ["sim", "barriers", "--quick", "--json", "--runs", "2", "--cpus", "12", "--barriers"];
    let report = Program::new().json(&[&arguments[..], &["ticket,dissemination,auto"]].concat());
    assert_eq!((&report["unit"], &report["higher_is_better"]), (&"ns".into(), &false.into()));
    let time = |place: usize| rows(&report)[place]["median"].as_f64().expect("a time");
    assert_eq!(rows(&report)[2]["contender"], "auto");
    assert!(time(2) < time(0), "a group of 12 does not choose one line for all: {report}");
    Program::new().run(&["sim", "barriers", "--barriers", "nothing"]).failed(2, "unknown barrier 'nothing'");
}

/// Each point is a process, and processes repeat.
#[test]
fn every_program_has_rows_and_repeats() {
    let program = Program::new();
    for (arguments, contenders, steps) in [
        ("collectives --op allreduce --cpus 2,12 --trees planned,binary", 2, 2),
        ("messages --figure round-trip --channels ump,ff", 2, 4),
        ("messages --figure server --cpus 1,3 --channels ump", 1, 2),
        ("table --buckets 12 --mean 48 --cpus 1,6 --locks ticket,messages", 2, 2),
        ("tm --cpus 2,6 --contenders messages-fair-cm,shared-none --checks 50", 2, 2),
        ("atomics --cpus 6 --operations fai,cas", 2, 1),
        ("replica --cpus 2,4 --learning planned,ring --clients 2", 2, 2),
        ("replica --cpus 4 --learning sequential --figure p99 --outstanding 3 --own-ns 100", 1, 1),
    ] {
        let arguments: Vec<&str> = ["sim"].into_iter().chain(arguments.split(' ')).collect();
        let arguments = [&arguments[..], &["--quick", "--json", "--runs", "1"]].concat();
        let first = program.run(&arguments).succeeded().stdout;
        assert_eq!(program.run(&arguments).succeeded().stdout, first, "byte for byte: {arguments:?}");
        let report: Value = serde_json::from_str(&first).expect("JSON");
        assert_eq!(rows(&report).len(), contenders * steps, "{report}");
        assert!(rows(&report).iter().all(|row| row["median"].as_f64() > Some(0.0)), "{report}");
    }
}

#[test]
fn threads_that_share_cpus_and_are_stopped_are_told_in_rows_table_and_page() {
    let program = Program::new();
    let page_path = program.path("sim.html");
    let page = page_path.to_str().expect("a path");
    let disturbed = ["--threads-per-cpu", "2", "--preempt", "500:100", "--cpus", "2", "--runs", "2"];
    let arguments = [&["sim", "locks", "--quick", "--locks", "word"], &disturbed[..]].concat();
    let report = program.json(&[&arguments[..], &["--json", "--html", page]].concat());
    assert_fields(&report["disturbance"], &["threads_per_cpu", "unpinned", "foreign_cpus", "stops", "kill_at"]);
    assert_eq!((&report["disturbance"]["stops"]["one_in"], &report["kills"]), (&500.into(), &Value::Null));
    let row = &rows(&report)[0];
    assert_fields(&row["disturbed"], &["stops", "stopped_us", "switches", "moves", "killed"]);
    assert_eq!((&row["step"], &row["hung"]), (&4.into(), &0.into()), "two threads on each of two CPUs");
    let count = |name: &str| row["disturbed"][name].as_f64().expect("a number");
    assert!(["stops", "stopped_us", "switches"].iter().all(|name| count(name) > 1.0), "{row}");
    let words = "disturbed: 2 threads on each CPU; threads stopped before one access in 500, for up to 100 us";
    let text = program.run(&arguments).succeeded().stdout;
    assert!(text.contains(words) && text.contains("switches"), "{text}");
    let page = std::fs::read_to_string(&page_path).expect("it was written");
    assert!(page.contains(words), "{page}");
}

#[test]
fn threads_that_move_beside_another_program_are_told() {
    let program = Program::new();
    let arguments =
        ["sim", "locks", "--quick", "--locks", "word", "--cpus", "4", "--runs", "1", "--outside-ns", "2000"];
    let moving = [&arguments[..], &["--unpinned", "--foreign-load", "2"]].concat();
    let report = program.json(&[&moving[..], &["--json"]].concat());
    assert_eq!(report["disturbance"]["unpinned"], true);
    assert_eq!(report["disturbance"]["foreign_cpus"], 2);
    assert!(rows(&report)[0]["disturbed"]["moves"].as_u64() > Some(0), "{report}");
    let text = program.run(&moving).succeeded().stdout;
    let words = "disturbed: threads move between CPUs; another program on the first 2 of the CPUs";
    assert!(text.contains(words) && text.contains("moves"), "{text}");
    let pinned = program.json(&[&arguments[..], &["--foreign-load", "2", "--json"]].concat());
    assert_eq!(rows(&pinned)[0]["disturbed"]["moves"], 0);
    let report = program.json(&["sim", "check", "--json", "--unpinned", "--seeds", "5", "--locks", "mcs"]);
    assert_eq!((&report["unpinned"], &rows(&report)[0]["failed"]), (&true.into(), &Value::Null));
}

/// Eight CPUs on four cores, the first two on one.
#[test]
fn cpus_that_share_a_core_are_slower_and_their_costs_are_told() {
    let program = Program::new();
    let machine = machines::models().into_iter().find(|file| file.path.ends_with("intel-i7-6700k-8.json"));
    let path = machine.expect("it is in the repository").path;
    let machine = ["--machine", path.to_str().expect("a path")];
    let arguments = [&["sim", "atomics", "--json", "--quick", "--runs", "1"], &machine[..]].concat();
    let work = ["--operations", "fai", "--words", "64", "--pause-ns", "1000", "--cpus", "1,2"];
    let played = |smt: &[&str]| program.json(&[&arguments[..], &work, smt].concat());
    let (apart, shared) = (played(&[]), played(&["--smt"]));
    assert_eq!((&apart["smt"], &shared["smt"]), (&false.into(), &true.into()));
    let rate = |report: &Value, row: usize| rows(report)[row]["median"].as_f64().expect("a number");
    assert_eq!(rate(&shared, 0), rate(&apart, 0), "one is alone on its core");
    let (alone, both) = (rate(&shared, 0), rate(&shared, 1));
    assert!(both > 1.05 * alone && both < 0.8 * rate(&apart, 1), "{alone}, {both} and {}", rate(&apart, 1));
    let listed = program.json(&[&arguments[..], &["--smt", "--explain"]].concat());
    let parameters = listed["parameters"].as_array().expect("an array");
    let slowdown = parameters.iter().find(|known| known["parameter"] == "smt.slowdown").expect("listed");
    assert_eq!((&slowdown["values"][0], &slowdown["origin"]), (&1.6.into(), &"assumed".into()));
}

/// Two CPUs are of one die, or of two packages; one is the first in any case.
#[test]
fn cpus_are_taken_cluster_by_cluster_or_spread() {
    let program = Program::new();
    let file = machines::models().into_iter().find(|file| file.path.ends_with("paper-xeon-ivb-2x10-20.json"));
    let path = file.expect("it is in the repository").path;
    for machine in ["opteron-4x12", path.to_str().expect("a path")] {
        for (what, is_time) in
            [("atomics --operations fai --cpus 1,2", false), ("barriers --barriers ticket --cpus 2", true)]
        {
            let arguments: Vec<&str> = ["sim"].into_iter().chain(what.split(' ')).collect();
            let arguments = [&arguments[..], &["--machine", machine, "--quick", "--json", "--runs", "1"]].concat();
            let played = |fill: &str| program.json(&[&arguments[..], &["--fill", fill]].concat());
            let (near, far) = (played("clusters"), played("spread"));
            assert_eq!((&near["fill"], &far["fill"]), (&"clusters".into(), &"spread".into()));
            assert_eq!(program.json(&arguments), near, "the order without the option");
            let last = |report: &Value| rows(report).last().and_then(|row| row["median"].as_f64()).expect("a figure");
            assert_eq!(last(&near) < last(&far), is_time, "{near} {far}");
            assert_eq!(rows(&near)[0] == rows(&far)[0], !is_time, "one CPU: {near} {far}");
        }
    }
    let text = program.run(&["sim", "locks", "--quick", "--locks", "mcs", "--cpus", "2", "--fill", "spread"]);
    let text = text.succeeded().stdout;
    assert!(text.contains("48 CPUs, taken by turns over packages and nodes, seeds 1 to 5"), "{text}");
}

#[test]
fn kills_in_turn_count_the_runs_in_which_the_others_wait() {
    let arguments = ["sim", "locks", "--quick", "--json", "--runs", "1", "--locks", "ticket", "--cpus", "3"];
    let report = Program::new().json(&[&arguments[..], &["--kill-at", "10..29"]].concat());
    assert_eq!(report["kills"], serde_json::json!({"first": 10, "last": 29}));
    let row = &rows(&report)[0];
    let hung = row["hung"].as_u64().expect("a number");
    assert_eq!(row["disturbed"]["killed"], 20, "{row}");
    assert!((1..20).contains(&hung) && row["median"].is_number(), "{row}");
}

#[test]
fn what_depends_on_assumptions_is_marked_and_parameters_tell_where_they_come_from() {
    let program = Program::new();
    let arguments = ["sim", "locks", "--quick", "--runs", "1", "--machine", "xeon-8x10", "--cpus", "40"];
    let report = program.json(&[&arguments[..], &["--json", "--corners", "--locks", "mcs,tas"]].concat());
    let corners = rows(&report)[0]["corners"].as_array().expect("an array");
    assert_eq!((corners.len(), &corners[0]), (9, &rows(&report)[0]["median"]), "{report}");
    let listed = program.json(&[&arguments[..], &["--json", "--explain"]].concat());
    let parameters = listed["parameters"].as_array().expect("an array");
    let origin =
        |name: &str| parameters.iter().find(|known| known["parameter"] == name).expect("listed")["origin"].clone();
    assert_eq!([origin("load.modified"), origin("kappa")], ["published", "assumed"]);
    assert_fields(&listed, &["machine", "cpus", "costs", "distances", "protocol", "parameters"]);
    assert_fields(&listed["protocol"], &["directory", "owned", "origin"]);
    let text = program.run(&[&arguments[..], &["--explain"]].concat()).succeeded().stdout;
    assert!(text.contains("all caches are asked; a written line is written back when it is shared"), "{text}");
}

#[test]
fn locks_channels_and_collectives_are_checked_by_seeds_and_kills() {
    let program = Program::new();
    let report = program.json(&["sim", "check", "--json", "--seeds", "20", "--locks", "mcs,auto"]);
    assert_eq!((&rows(&report)[1]["trials"], &rows(&report)[1]["failed"]), (&20.into(), &Value::Null));
    let report = program.json(&["sim", "check", "--json", "--seeds", "1", "--locks", "ticket", "--kills"]);
    assert!(rows(&report)[0]["killed"].as_u64() > Some(10), "{report}");
    program.run(&["sim", "check", "--kills", "--locks", "byte"]).failed(2, "--kills does not try byte");
    let few = ["sim", "check", "--json", "--seeds", "2", "--channels", "ump", "--collectives", "allreduce"];
    for kills in [&[][..], &["--kills"]] {
        let report = program.json(&[&few[..], kills].concat());
        assert_fields(&rows(&report)[0], &["kind", "name", "trials", "killed", "failed_seed", "failed"]);
        let named = rows(&report).iter().map(|row| (row["kind"].as_str(), row["failed"].is_null()));
        assert_eq!(named.collect::<Vec<_>>(), [(Some("channel"), true), (Some("collective"), true)], "{report}");
        assert_eq!(rows(&report)[0]["killed"].as_u64() > Some(70), !kills.is_empty(), "{report}");
    }
    program.run(&["sim", "check", "--collectives", "x"]).failed(2, "unknown collective 'x'");
}

#[test]
fn every_machine_model_of_the_project_is_simulated() {
    for file in machines::models() {
        let path = file.path.to_str().expect("a path").to_owned();
        let report = Program::new().json(&[&QUICK[..], &["ticket", "--cpus", "2", "--machine", &path]].concat());
        assert!(rows(&report)[0]["median"].as_f64() > Some(0.0), "{path}: {report}");
    }
}

#[test]
fn bad_input_is_named() {
    let program = Program::new();
    let fails = |arguments: &[&str], words: &str| {
        program.run(&[&["sim", "locks"], arguments].concat()).failed(2, words);
    };
    fails(&["--cpus", "0"], "expected a whole number from 1 to 4096");
    fails(&["--cpus", "49"], "--cpus 49: the machine has 48 CPUs");
    fails(&["--machine", "nothing"], "no machine is called 'nothing': expected opteron-4x12, xeon-8x10 or a file");
    fails(&["--locks", "nothing"], "unknown lock 'nothing'");
    fails(
        &["--what-if", "far=1"],
        "expected interconnect=F (a factor from 0.01 to 100), kappa=F (0 to 1000), service=NS",
    );
    fails(&["--what-if", "kappa=1,beta=2"], "invalid value 'beta=2'");
    fails(&["--what-if", "kappa=1,kappa=2"], "--what-if: kappa is changed twice: expected one value");
    let other = |arguments: &[&str], words: &str| {
        program.run(&[&["sim"], arguments].concat()).failed(2, words);
    };
    other(&["collectives", "--trees", "nothing"], "unknown tree 'nothing': expected planned or one of");
    other(&["collectives", "--bytes", "7"], "expected a multiple of 8");
    other(&["messages", "--cpus", "3"], "--cpus are the clients of a server");
    other(&["messages", "--figure", "server", "--channels", "ff"], "no server receives from ff: expected ump");
    other(&["messages", "--figure", "server", "--cpus", "48"], "--cpus 48");
    other(&["table", "--locks", "nothing"], "unknown lock 'nothing'");
    other(&["atomics", "--operations", "nothing"], "unknown operation 'nothing'");
    other(&["barriers", "--kill-at", "3"], "--kill-at means nothing for sim barriers: the other members would wait");
    other(&["messages", "--kill-at", "3"], "--kill-at means nothing for sim messages");
    other(&["messages", "--threads-per-cpu", "2"], "--threads-per-cpu means nothing for sim messages");
    other(&["messages", "--unpinned"], "--unpinned means nothing for sim messages: a message goes between two CPUs");
    other(&["replica", "--unpinned"], "--unpinned means nothing for sim replica: each replica has a CPU");
    other(&["check", "--unpinned", "--kills"], "cannot be used with");
    other(&["messages", "--fill", "spread"], "--fill spread means nothing for sim messages: a message goes between");
    other(&["replica", "--fill", "spread"], "--fill spread means nothing for sim replica: replicas are placed over");
    fails(&["--fill", "near"], "[possible values: clusters, spread]");
    fails(&["--foreign-load", "0"], "expected a whole number from 1 to 4096");
    fails(&["--foreign-load", "0,1"], "expected a whole number from 1 to 4096");
    fails(&["--smt"], "--smt: no two CPUs of opteron-4x12 share a core; expected a file with `core` of its `cpus`");
    fails(&["--kill-at", "9..3"], "expected the number of an access, or a range");
    fails(&["--kill-at", "3", "--cpus", "1"], "--kill-at leaves no thread");
    fails(&["--preempt", "0"], "expected a number of accesses");
    fails(&["--threads-per-cpu", "0"], "expected a whole number from 1 to 256");
    other(&["tm", "--contenders", "nothing"], "unknown transactional memory 'nothing': expected one of messages-none,");
    other(&["tm", "--kill-at", "3"], "--kill-at means nothing for sim tm");
    other(&["tm", "--cpus", "1,2"], "--cpus 1: messages-none has 0 applications; expected one that transfers");
    other(&["tm", "--checks", "60", "--scans", "50"], "--checks 60 and --scans 50: expected at most 100 together");
    other(
        &["replica", "--learning", "nothing"],
        "unknown way of learning 'nothing': expected one of planned, sequential",
    );
    other(&["replica", "--machine", "xeon-8x10", "--cpus", "65"], "--cpus 65: a group has at most 64 replicas");
    other(&["replica", "--kill-at", "3"], "--kill-at means nothing for sim replica: a client would wait for its node");
    other(
        &["replica", "--threads-per-cpu", "2"],
        "--threads-per-cpu means nothing for sim replica: each replica has a CPU",
    );
    other(&["replica", "--wait", "spin"], "--wait spin: nodes and their clients share CPUs");
    other(&["replica", "--outstanding", "17"], "expected a whole number from 1 to 16");
    fails(&["--runs", "0"], "expected a whole number from 1 to 1000");
    fails(&["--what-if", "interconnect=0"], "expected interconnect=F (a factor from 0.01 to 100)");
    let model = program.file("model.json", "{}");
    fails(&["--machine", &model], "model.json");
}

#[test]
fn what_is_simulated_is_compared_with_what_is_measured() {
    let program = Program::new();
    let asked = ["--what", "barriers,collectives", "--members", "2,4", "--runs", "2"];
    let report = program.json(&[&["sim", "compare", "--quick", "--json"], &asked[..]].concat());
    let comparisons = report["comparisons"].as_array().expect("an array");
    let told: Vec<_> = comparisons.iter().map(|one| (one["what"].as_str(), one["members"].as_u64())).collect();
    let of = |what: &'static str, members| (Some(what), Some(members));
    assert_eq!(told, [of("barriers", 2), of("barriers", 4), of("collectives", 2), of("collectives", 4)]);
    for comparison in comparisons {
        assert_eq!(comparison["unit"], "ns", "{comparison}");
        let rows = comparison["rows"].as_array().expect("an array");
        for row in rows {
            let is_whole = row["simulated"].is_number() && row["ratio"].is_number();
            assert!(row["measured"].is_number() && is_whole != row["failed"].is_string(), "{row}");
        }
        assert_eq!(comparison["holds"].is_boolean(), !rows.is_empty(), "{comparison}");
        assert_eq!(comparison["repeated_choice_loss"].is_number(), !rows.is_empty(), "{comparison}");
        let [in_order, differ] = ["pairs_in_order", "pairs_that_differ"].map(|name| comparison[name].as_u64());
        assert!(in_order.is_some() && in_order <= differ, "{comparison}");
    }
    program.run(&["sim", "compare", "--members", "1"]).failed(2, "expected a whole number from 2 to 64");
    program.run(&["sim", "compare", "--runs", "0"]).failed(2, "expected a whole number from 1 to 100");
}
