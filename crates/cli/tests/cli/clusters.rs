//! `corecast plan --cluster` and `corecast explain --cluster`.

use serde_json::Value;

use crate::program::Program;

/// The example of the documentation.
fn example() -> String {
    format!("{}/../../docs/examples/cluster.json", env!("CARGO_MANIFEST_DIR"))
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_hundred_thousand_nodes_are_planned_and_explained() {
    let (program, path) = (Program::new(), example());
    let plan = ["plan", "--cluster", &path, "--nodes", "100000", "--effort", "quick"];
    let json = program.json(&[&plan[..], &["--operation", "allreduce", "--node", "77", "--json"]].concat());
    assert_eq!(
        (&json["simulated"], &json["nodes"], &json["members"]),
        (&true.into(), &100_000.into(), &25_600_000.into())
    );
    let depths = json["depths"]["down"].as_array().expect("counts").iter();
    let nodes: u64 = depths.map(|count| count.as_u64().expect("a count")).sum();
    assert!(nodes.abs_diff(100_000) < 10, "each depth is rounded: {nodes}");
    let growth = json["growth"].as_array().expect("steps");
    assert_eq!((growth.len(), &growth[17]["nodes"]), (18, &100_000.into()));
    let costs: Vec<f64> = growth.iter().map(|step| number(&step["quiet_ns"])).collect();
    assert!(costs.windows(2).all(|pair| pair[0] <= pair[1] * 1.1), "{costs:?}");
    assert!(number(&json["best"]["expected_ns"]) >= number(&json["best"]["quiet_ns"]));
    assert_eq!(json["neighbours"]["node"], 77);
    assert!(json["neighbours"]["up"]["parent"].is_u64() && json["provenance"]["measured"] == 0);

    let text = program.run(&[&plan[..], &["--op", "allreduce", "--explain"]].concat()).succeeded().stdout;
    for words in [
        "simulated from 3 published,",
        "the operation was not measured",
        "why ",
        "growth, simulated",
        "openucx/ucx#9908",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
}

#[test]
fn ways_that_no_group_takes_are_compared_on_request_only() {
    let (program, path) = (Program::new(), example());
    let plan =
        ["plan", "--cluster", &path, "--op", "allreduce", "--bytes", "1Mi", "--effort", "quick", "--nodes", "64"];
    let is_of_groups = |json: &Value| {
        let ways = json["candidates"].as_array().expect("ways").clone();
        ways.iter().map(|way| way["of_groups"].as_bool().expect("said")).collect::<Vec<_>>()
    };
    let json = program.json(&[&plan[..], &["--json"]].concat());
    assert!(is_of_groups(&json).iter().all(|&is| is), "{json}");
    let json = program.json(&[&plan[..], &["--beyond-groups", "--json"]].concat());
    assert!(is_of_groups(&json).contains(&true) && is_of_groups(&json).contains(&false), "{json}");
    let text = program.run(&[&plan[..], &["--explain"]].concat()).succeeded().stdout;
    assert!(!text.contains("no group does") && text.contains("compared: the ways that groups take"), "{text}");
    let text = program.run(&[&plan[..], &["--beyond-groups", "--explain"]].concat()).succeeded().stdout;
    assert!(text.contains("(no group does)") && text.contains("which say so"), "{text}");
}

#[test]
fn a_page_and_an_explanation_are_written() {
    let (program, path) = (Program::new(), example());
    let page = program.path("cluster.html");
    let page_path = page.display().to_string();
    program
        .run(&["plan", "--cluster", &path, "--op", "barrier", "--effort", "quick", "--html", &page_path])
        .succeeded();
    let page = std::fs::read_to_string(page).expect("a page");
    assert!(page.contains("barrier of 8 bytes on 1024 nodes, simulated"), "{page}");
    let text =
        program.run(&["explain", "reduce", "--cluster", &path, "--nodes", "64", "--bytes", "64Ki"]).succeeded().stdout;
    assert!(text.contains("reduce of 65536 B among 16384 members on 64 nodes"), "{text}");
}

#[test]
fn what_a_cluster_has_no_use_for_is_refused() {
    let (program, path) = (Program::new(), example());
    for (options, expected) in [
        (&["plan", "--op", "barrier", "--nodes", "5"][..], "--cluster"),
        (&["plan", "--cluster", &path, "--op", "barrier", "--nodes", "0"], "from 1 to 1000000000"),
        (&["plan", "--cluster", &path, "--op", "two-phase-commit"], "not planned between nodes"),
        (&["plan", "--cluster", &path, "--op", "acknowledged"], "plans a ring"),
        (&["plan", "--cluster", &path, "--op", "barrier", "--shape", "binary"], "--cluster plans for nodes"),
        (&["plan", "--cluster", &path, "--op", "barrier", "--node", "1024"], "nodes 0 to 1023"),
        (&["plan", "--cluster", &path, "--op", "reduce", "--root-node", "1024"], "nodes 0 to 1023"),
        (&["plan", "--cluster", "/none.json", "--op", "reduce"], "cluster model /none.json"),
        (&["explain", "tm", "--cluster", &path], "--cluster is for operations"),
        (&["explain", "--cluster", &path, "--members", "3"], "not for --cluster"),
    ] {
        program.run(options).failed(2, expected);
    }
}
