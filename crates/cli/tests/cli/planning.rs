//! `corecast plan`.

use corecast_testing::machines;
use serde_json::{Value, json};

use crate::program::{Program, Run};

#[test]
fn the_published_plan_of_a_published_machine() {
    let path = machines::model("paper-xeon-ivb-2x10-20");
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
    let mut plan = program.json(&["plan", "--machine", &model, "--op", "broadcast", "--shape", "binary", "--json"]);
    let time_ms = plan["time_ms"].take();
    assert!(time_ms.as_f64().is_some_and(|time| time >= 0.0), "{time_ms}");
    let expected = json!({
        "machine": "4 CPUs, costs assumed", "op": "broadcast", "planner": "binary", "shape": "binary", "root": 0,
        "children": {"0": [1, 2], "1": [3]}, "scheme": "trees", "predicted": plan["predicted"], "unit": "ns",
        "bound": plan["bound"], "gap": plan["gap"], "proven": plan["proven"], "effort": null, "seed": 0,
        "iterations": 0, "time_ms": null, "why": "asked for", "cpus": [0, 1, 2, 3], "depth": 2
    });
    assert_eq!(plan, expected);
    assert!(plan["predicted"].as_f64().expect("a number") > 0.0);
}

#[test]
fn the_same_seed_gives_the_same_plan_and_the_time_alone_differs() {
    let program = Program::new();
    let model = program.model(0..16);
    for op in ["broadcast", "barrier"] {
        let plan = |seed| {
            let mut plan = program.json(&["plan", "--machine", &model, "--op", op, "--json", "--seed", seed]);
            plan["time_ms"] = Value::Null;
            plan
        };
        assert_eq!(plan("7"), plan("7"), "{op}");
        assert_eq!((&plan("7")["seed"], &plan("7")["effort"]), (&json!(7), &json!("normal")));
    }
}

#[test]
fn two_trees_have_one_root_and_come_back_from_their_file() {
    let program = Program::new();
    let model = program.model(0..8);
    let plan = |options: &[&str]| program.json(&[&["plan", "--machine", &model, "--json"], options].concat());
    let made = plan(&["--op", "barrier", "--planner", "trees", "--out", "tree.json"]);
    assert_eq!((&made["up"]["root"], &made["down"]["root"]), (&made["root"], &made["root"]));
    assert_eq!(made["down"]["children"], made["children"]);
    let read = plan(&["--op", "barrier", "--tree", "tree.json"]);
    assert_eq!((&read["up"], &read["down"], &read["predicted"]), (&made["up"], &made["down"], &made["predicted"]));
    let reduce = plan(&["--op", "reduce", "--tree", "tree.json"]);
    assert_eq!(reduce["children"], made["up"]["children"], "a reduction goes up");
}

#[test]
fn the_least_of_every_effort_is_kept_by_the_next() {
    let program = Program::new();
    let model = program.model(0..12);
    let plan = |effort| {
        let arguments = ["plan", "--machine", &model, "--op", "reduce", "--effort", effort, "--json"];
        program.json(&arguments)
    };
    let predicted = |plan: &Value| plan["predicted"].as_f64().expect("a number");
    let [quick, normal, exact] = ["quick", "normal", "exact"].map(plan);
    assert!(predicted(&quick) >= predicted(&normal) && predicted(&normal) >= predicted(&exact));
    assert_eq!((&exact["proven"], &exact["gap"]), (&json!(true), &json!(0.0)), "{exact}");
}

#[test]
fn a_bound_is_told_if_it_is_near_or_asked_for() {
    let program = Program::new();
    let number = |plan: &Value, field: &str| plan[field].as_f64().unwrap_or_else(|| panic!("no {field} in {plan}"));
    for (cpus, op) in [(14, "broadcast"), (14, "barrier"), (40, "reduce")] {
        let model = program.model(0..cpus);
        let arguments = ["plan", "--machine", &model, "--op", op, "--effort", "quick", "--json"];
        let [plan, asked] = [&[][..], &["--bound"]].map(|more| program.json(&[&arguments[..], more].concat()));
        let (predicted, raised) = (number(&plan, "predicted"), number(&asked, "bound"));
        assert!(0.0 < raised && raised <= predicted, "{op}: {raised} {predicted}");
        assert!((number(&asked, "gap") - (predicted / raised - 1.0)).abs() < 1e-9, "{asked}");
        match plan["bound"].as_f64() {
            Some(bound) => assert!(bound <= raised && number(&plan, "gap") <= 0.15, "{op}: {bound} {raised}"),
            None => assert_eq!((&plan["bound"], &plan["gap"]), (&Value::Null, &Value::Null), "{plan}"),
        }
    }
}

#[test]
fn nothing_is_claimed_of_256_cpus_that_a_second_cannot_show() {
    let program = Program::new();
    let arguments = ["plan", "--synthetic", "pack:2 numa:4 core:16 pu:2", "--op", "broadcast", "--effort", "quick"];
    let json = program.run(&[&arguments[..], &["--json"]].concat()).succeeded().json();
    assert_eq!(json["cpus"].as_array().expect("CPUs").len(), 256);
    let text = program.run(&arguments).succeeded().stdout;
    if json["gap"].is_null() {
        assert!(json["bound"].is_null() && text.contains("no lower bound within 15 % is known"), "{text}");
        assert!(!text.contains("% above"), "{text}");
    } else {
        assert!(json["gap"].as_f64().is_some_and(|gap| gap <= 0.15), "{json}");
    }
}

#[test]
fn limits_are_kept() {
    let program = Program::new();
    let model = program.model(0..12);
    let plan = |options: &[&str]| {
        program.json(&[&["plan", "--machine", &model, "--op", "broadcast", "--json"], options].concat())
    };
    let narrow = plan(&["--max-children", "2"]);
    let widths = narrow["children"].as_object().expect("an object").values();
    assert!(widths.map(|list| list.as_array().expect("an array").len()).max() <= Some(2), "{narrow}");
    assert_eq!(plan(&["--max-depth", "1"])["depth"], 1);
}

#[test]
fn subsets_roots_and_operations_are_honoured() {
    let program = Program::new();
    let model = program.model(0..8);
    for op in ["broadcast", "reduce", "barrier", "allreduce", "two-phase-commit"] {
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
    assert_eq!((&read["planner"], &read["shape"]), (&json!("given"), &json!("searched")));
    let full = program.run(&["plan", "--machine", &model, "--op", "broadcast", "--out", "/dev/full"]);
    full.failed(1, "tree /dev/full: No space left on device");
}

#[test]
fn text_tells_who_why_how_well_and_shows_the_tree_in_send_order() {
    let program = Program::new();
    let model = program.model(0..4);
    let text = program.run(&["plan", "--machine", &model, "--op", "reduce"]).succeeded().stdout;
    for words in
        ["reduce among 4 CPUs of", ", predicted ", "no plan", "(effort normal, seed 0, ", " ms)\n\nmessages go up"]
    {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    let text = program.run(&["plan", "--machine", &model, "--op", "broadcast", "--shape", "binary"]).succeeded().stdout;
    assert!(text.ends_with("CPU 0\n├─ CPU 1\n│  └─ CPU 3\n└─ CPU 2\n"), "{text}");
}

#[test]
fn assumed_costs_are_said_to_be_assumed() {
    let program = Program::new();
    let run = program.run(&["plan", "--op", "barrier", "--synthetic", "pack:2 core:4 pu:1"]).succeeded();
    assert!(run.stderr.contains("costs are assumed from the topology"), "{}", run.stderr);
    let quiet = program.run(&["plan", "--op", "barrier", "--synthetic", "pack:2 core:4 pu:1", "--quiet"]).succeeded();
    let first = |run: &Run| run.stdout.lines().next().map(str::to_owned);
    assert_eq!((quiet.stderr.as_str(), first(&quiet)), ("", first(&run)));
}

#[test]
fn costs_beyond_pairs_count_where_they_were_measured() {
    let program = Program::new();
    let model = std::fs::read_to_string(program.model(0..6)).expect("written before");
    let curves = "{\"fan_out\": [[1, 5.0], [4, 20.0]], \"fan_in\": [[1, 120.0], [3, 200.0]], ";
    let model = program.file("extended.json", model.replacen('{', curves, 1));
    let plan = |model_option| {
        let arguments = ["plan", "--machine", &model, "--op", "reduce", "--shape", "sequential", "--json", "--model"];
        program.json(&[&arguments[..], &[model_option]].concat())["predicted"].as_f64().expect("a number")
    };
    assert!(plan("extended") < plan("pairwise"), "receives overlap");
}

#[test]
fn noise_is_allowed_for_where_it_is_known() {
    let program = Program::new();
    let model = program.model(0..6);
    let plan = |options: &[&str]| {
        program.run(&[&["plan", "--machine", &model, "--op", "broadcast", "--json", "--root", "2"], options].concat())
    };
    plan(&["--robust"]).failed(2, "has no send_spread and receive_spread").failed(2, "--robust=PERCENT");
    plan(&["--robust=200"]).failed(2, "expected a number from 0 to 100");
    plan(&["--robust=20", "--root", "9"]).failed(2, "cannot be used multiple times");
    let robust = plan(&["--robust=20"]).succeeded().json();
    assert!(robust["why"].as_str().expect("a reason").contains("20 % of noise"), "{robust}");
    assert_eq!((&robust["root"], &robust["unit"]), (&json!(2), &json!("ns")));
}
