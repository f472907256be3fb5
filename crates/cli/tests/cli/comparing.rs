//! `corecast plan --compare` and `corecast explain`: a plan beside all that it was chosen from.

use corecast_testing::machines;
use serde_json::{Value, json};

use crate::program::Program;

/// Every name that `--planner` takes but auto.
fn everybody(program: &Program) -> Vec<String> {
    let lists = program.json(&["list", "--json"]);
    let names = ["shapes", "planners"].map(|list| lists[list].as_array().expect(list).clone());
    names.concat().iter().map(|entry| entry["name"].as_str().expect("a name").to_owned()).collect()
}

#[track_caller]
fn check_rows(program: &Program, rows: &Value, best: &Value) {
    let rows = rows.as_array().expect("an array");
    for name in everybody(program) {
        assert_eq!(rows.iter().filter(|row| row["planner"] == *name).count(), 1, "{name}");
    }
    let predicted: Vec<f64> = rows.iter().filter_map(|row| row["predicted"].as_f64()).collect();
    assert!(predicted.windows(2).all(|pair| pair[0] <= pair[1]), "cheapest first: {predicted:?}");
    assert_eq!(best.as_f64(), predicted.first().copied());
    for row in rows {
        let has_plan = row["predicted"].is_number();
        for field in ["root", "above", "depth", "fan_out", "time_ms"] {
            assert_eq!(row[field].is_number(), has_plan, "{field} in {row}");
        }
        assert_eq!(row["why_not"].is_string(), !has_plan, "{row}");
    }
}

#[test]
fn everybody_is_compared_with_the_plan() {
    let program = Program::new();
    let model = program.model(0..8);
    for op in ["broadcast", "barrier"] {
        let all = program.json(&["plan", "--machine", &model, "--op", op, "--compare", "--json"]);
        check_rows(&program, &all["compared"], &all["plan"]["predicted"]);
        let auto = all["compared"].as_array().expect("an array").iter().find(|row| row["planner"] == "auto");
        assert_eq!(auto.expect("the plan itself")["predicted"], all["plan"]["predicted"]);
    }
    let text = program.run(&["plan", "--machine", &model, "--op", "reduce", "--compare"]).succeeded().stdout;
    assert!(text.contains("% above best") && text.contains("\n * auto "), "{text}");
    assert!(text.contains("   skipped, ") && text.contains("leaders, dissemination"), "{text}");
}

#[test]
fn a_given_tree_is_compared_too() {
    let program = Program::new();
    let model = program.model(0..4);
    let tree = program.file("tree.json", r#"{"root": 0, "children": {"0": [1], "1": [2], "2": [3]}}"#);
    let arguments = ["plan", "--machine", &model, "--op", "broadcast", "--tree", &tree, "--compare", "--json"];
    let all = program.json(&arguments);
    let rows = all["compared"].as_array().expect("an array");
    let given = rows.iter().find(|row| row["planner"] == "given").expect("the plan itself");
    assert!(given["above"].as_f64().is_some_and(|above| above > 0.0), "a chain is not the best: {given}");
}

#[test]
fn a_file_of_another_scheme_gives_its_trees_and_says_so() {
    let program = Program::new();
    let model = program.model(0..4);
    for (scheme, is_told) in [("dissemination", true), ("trees", false)] {
        let text = format!(r#"{{"root": 0, "children": {{"0": [1, 2, 3]}}, "scheme": "{scheme}"}}"#);
        let tree = program.file("tree.json", text);
        let arguments = ["plan", "--machine", &model, "--op", "barrier", "--tree", &tree, "--json"];
        let run = program.run(&arguments).succeeded();
        assert_eq!(run.json()["scheme"], "trees");
        assert_eq!(run.stderr.contains("of scheme 'dissemination', of which only the trees are used"), is_told);
    }
}

#[test]
fn the_optimum_is_compared_where_the_effort_reaches() {
    let program = Program::new();
    let model = program.model(0..13);
    let all = program.json(&["plan", "--machine", &model, "--op", "broadcast", "--compare", "--json"]);
    let rows = all["compared"].as_array().expect("an array");
    let exact = rows.iter().find(|row| row["planner"] == "exact").expect("a row");
    assert_eq!(exact["why_not"], "effort normal compares it to 12 members, here are 13");
}

#[test]
fn an_explanation_compares_all() {
    let program = Program::new();
    let model = program.model(0..8);
    let text = program.run(&["explain", "broadcast", "--machine", &model]).succeeded().stdout;
    for words in ["others at effort quick:", "a group uses\n", "fibonacci", "costs show 2 clusters of 4 members"] {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    let by_option = program.run(&["explain", "--op", "broadcast", "--machine", &model]).succeeded().stdout;
    assert_eq!(by_option.lines().next(), text.lines().next());
    let explanation = program.json(&["explain", "--machine", &model, "--json"]);
    let operations = explanation["operations"].as_array().expect("an array");
    let names: Vec<&Value> = operations.iter().map(|operation| &operation["op"]).collect();
    assert_eq!(names, ["broadcast", "reduce", "barrier"]);
    assert_eq!(explanation["levels"], json!([[4, 4]]));
    for operation in operations {
        check_rows(&program, &operation["candidates"], &operation["predicted"]);
    }
}

#[test]
fn servers_of_transactional_memory_have_their_seats_and_reasons() {
    let program = Program::new();
    let model = program.model(0..8);
    let arguments = ["explain", "tm", "--machine", &model, "--servers-every", "4"];
    let text = program.run(&arguments).succeeded().stdout;
    for words in
        ["one of 4 participants is a server: 2 servers and 6 applications", "why there", "the form `auto` prefers"]
    {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    let explained = program.json(&[&arguments[..], &["--json"]].concat());
    let servers = explained["servers"].as_array().expect("an array");
    let participants: Vec<&Value> = servers.iter().map(|server| &server["participant"]).collect();
    assert_eq!(participants, [0, 4]);
    for server in servers {
        let participant = server["participant"].as_u64().expect("a number") as usize;
        assert_eq!(server["cpu"], explained["members"][participant]);
        assert!(server["why"].as_str().is_some_and(|why| why.contains("1 in a cluster with 4 of the 8")), "{server}");
    }
    assert!(explained["round_trip"].as_f64() <= explained["numbered_round_trip"].as_f64(), "{explained}");
    let fields = [
        "machine",
        "origin",
        "unit",
        "members",
        "levels",
        "servers_every",
        "servers",
        "round_trip",
        "numbered_round_trip",
        "form",
        "messages",
        "shared",
        "why",
    ];
    let found: Vec<&String> = explained.as_object().expect("an object").keys().collect();
    assert_eq!(found.len(), fields.len(), "{found:?}");
    assert!(fields.iter().all(|field| explained.get(field).is_some()), "{found:?}");
}

#[test]
fn a_barrier_is_explained_by_its_schemes() {
    let program = Program::new();
    let model = program.model(0..8);
    let explanation = program.json(&["explain", "--op", "barrier", "--machine", &model, "--json"]);
    let barrier = &explanation["operations"][0];
    let candidates = barrier["candidates"].as_array().expect("an array");
    for scheme in ["trees", "leaders", "dissemination"] {
        let row = candidates.iter().find(|row| row["planner"] == scheme).expect(scheme);
        assert!(row["predicted"].is_number(), "{row}");
        assert!(barrier["why"].as_str().expect("a reason").contains(scheme), "{barrier}");
    }
}

#[test]
fn members_that_share_cpus_are_explained() {
    let program = Program::new();
    let model = program.model(0..8);
    let all = program.json(&["explain", "--machine", &model, "--json", "--members", "16"]);
    assert_eq!(all["members"].as_array().expect("an array").len(), 16);
    assert_eq!(all["barrier"]["name"], "ticket", "members share CPUs");
}

/// The cheapest plans known of a published machine, in cycles.
#[test]
fn a_published_machine_is_planned_as_cheaply_as_known() {
    let path = machines::model("paper-xeon-ivb-2x10-20");
    let (program, path) = (Program::new(), path.display().to_string());
    for (op, best) in [("broadcast", 1303.0), ("reduce", 1716.0)] {
        let plan = program.json(&["plan", "--machine", &path, "--op", op, "--json"]);
        let predicted = plan["predicted"].as_f64().expect("a number");
        assert!(predicted <= best, "{op}: {predicted}");
    }
    let exact = ["--cpus", "0-11", "--effort", "exact", "--json"];
    let plan = program.json(&[&["plan", "--machine", &path, "--op", "broadcast"], &exact[..]].concat());
    assert_eq!((&plan["proven"], &plan["gap"]), (&json!(true), &json!(0.0)));
}
