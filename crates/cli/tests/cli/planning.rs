//! `corecast plan` and `corecast explain`.

use serde_json::{Value, json};

use crate::program::{Program, shared_data};

#[test]
fn the_published_plan_of_a_published_machine() {
    let Some(path) = shared_data("machines/paper-xeon-ivb-2x10-20.json") else { return };
    let path = path.display().to_string();
    let plan = Program::new().json(&["plan", "--machine", &path, "--op", "broadcast", "--shape", "adaptive", "--json"]);
    assert_eq!(plan["root"], 13);
    assert_eq!(plan["predicted"].as_f64().expect("a number").trunc(), 1426.0);
    assert_eq!(
        (&plan["op"], &plan["shape"], &plan["unit"]),
        (&json!("broadcast"), &json!("adaptive"), &json!("cycles"))
    );
}

#[test]
fn a_plan_has_its_documented_fields() {
    let program = Program::new();
    let model = program.model(0..4);
    let plan = program.json(&["plan", "--machine", &model, "--op", "broadcast", "--shape", "binary", "--json"]);
    let expected = json!({
        "machine": "4 CPUs, costs assumed", "op": "broadcast", "shape": "binary", "root": 0,
        "children": {"0": [1, 2], "1": [3]}, "predicted": plan["predicted"], "unit": "ns",
        "cpus": [0, 1, 2, 3], "depth": 2
    });
    assert_eq!(plan, expected);
    assert!(plan["predicted"].as_f64().expect("a number") > 0.0);
}

#[test]
fn subsets_roots_and_operations_are_honoured() {
    let program = Program::new();
    let model = program.model(0..8);
    for op in ["broadcast", "reduce", "barrier", "two-phase-commit"] {
        let plan = program.json(&["plan", "--machine", &model, "--op", op, "--cpus", "2,5-7", "--root", "6", "--json"]);
        assert_eq!((&plan["op"], &plan["root"], &plan["cpus"]), (&json!(op), &json!(6), &json!([2, 5, 6, 7])));
        let children: Vec<&Value> = plan["children"].as_object().expect("an object").values().collect();
        let count: usize = children.iter().map(|list| list.as_array().expect("an array").len()).sum();
        assert_eq!(count, 3, "all but the root have a parent");
    }
}

#[test]
fn a_tree_comes_back_from_its_file() {
    let program = Program::new();
    let model = program.model(0..8);
    let plan = |options: &[&str]| {
        program.json(&[&["plan", "--machine", &model, "--op", "broadcast", "--json"], options].concat())
    };
    let made = plan(&["--shape", "fibonacci", "--out", "tree.json"]);
    let read = plan(&["--tree", "tree.json"]);
    assert_eq!((&read["children"], &read["predicted"]), (&made["children"], &made["predicted"]));
    assert_eq!(read["shape"], "given");
    let full = program.run(&["plan", "--machine", &model, "--op", "broadcast", "--out", "/dev/full"]);
    full.failed(1, "tree /dev/full: No space left on device");
}

#[test]
fn text_shows_the_tree_in_send_order() {
    let program = Program::new();
    let model = program.model(0..4);
    let text = program.run(&["plan", "--machine", &model, "--op", "broadcast", "--shape", "binary"]).succeeded().stdout;
    assert!(text.ends_with("CPU 0\n├─ CPU 1\n│  └─ CPU 3\n└─ CPU 2\n"), "{text}");
}

#[test]
fn an_explanation_compares_all_shapes() {
    let program = Program::new();
    let model = program.model(0..8);
    let text = program.run(&["explain", "broadcast", "--machine", &model]).succeeded().stdout;
    assert!(text.contains("the cheapest of 11 shapes") && text.contains("a group uses\n"), "{text}");
    let all = program.json(&["explain", "--machine", &model, "--json", "--members", "16"]);
    let operations = all["operations"].as_array().expect("an array");
    let names: Vec<&Value> = operations.iter().map(|operation| &operation["op"]).collect();
    assert_eq!(names, ["broadcast", "reduce", "barrier"]);
    assert_eq!(all["members"].as_array().expect("an array").len(), 16);
    assert_eq!(all["barrier"]["name"], "ticket", "members share CPUs");
    for operation in operations {
        let candidates = operation["candidates"].as_array().expect("an array");
        let least =
            candidates.iter().filter_map(|candidate| candidate["predicted"].as_f64()).fold(f64::INFINITY, f64::min);
        assert_eq!(operation["predicted"].as_f64(), Some(least), "{operation}");
    }
}

#[test]
fn assumed_costs_are_said_to_be_assumed() {
    let program = Program::new();
    let run = program.run(&["plan", "--op", "barrier", "--synthetic", "pack:2 core:4 pu:1"]).succeeded();
    assert!(run.stderr.contains("costs are assumed from the topology"), "{}", run.stderr);
    let quiet = program.run(&["plan", "--op", "barrier", "--synthetic", "pack:2 core:4 pu:1", "--quiet"]).succeeded();
    assert_eq!((quiet.stderr.as_str(), quiet.stdout), ("", run.stdout));
}
