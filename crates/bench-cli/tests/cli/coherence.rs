//! `corecast cc`: single operations on cache lines, and `corecast measure coherence`, which makes a machine's parameters of them.

use std::collections::HashSet;

use serde_json::Value;

use crate::program::{Program, first_cpu};

/// All cells of a result.
fn cells(report: &Value) -> Vec<&Value> {
    let groups = report["groups"].as_array().expect("groups");
    groups.iter().flat_map(|group| group["cells"].as_array().expect("cells")).collect()
}

#[test]
fn every_case_is_measured_or_says_what_it_needs() {
    let program = Program::new();
    let listed = program.json(&["cc", "--list", "--json"]);
    let listed: HashSet<&str> = listed.as_array().expect("a list").iter().filter_map(|c| c["name"].as_str()).collect();
    assert!(listed.contains("cas-modified") && listed.len() > 34, "{listed:?}");
    let report = program.json(&["cc", "--quick", "--seed", "5", "--json"]);
    assert_eq!((&report["seed"], &report["quick"]), (&5.into(), &true.into()));
    assert!(report["timers"].as_array().is_some_and(|timers| !timers.is_empty()));
    assert_eq!(report["published"].as_array().map(Vec::len), Some(3));
    let cells = cells(&report);
    let names: HashSet<&str> = cells.iter().filter_map(|cell| cell["case"].as_str()).collect();
    assert_eq!(names, listed);
    for cell in cells {
        assert_ne!(cell["times"].is_object(), cell["skipped"].is_string(), "{cell}");
        for field in ["min_ns", "p50_ns", "p90_ns", "p99_ns", "max_ns", "mean_ns"] {
            assert!(cell["times"].is_null() || cell["times"][field].is_number(), "{field}: {cell}");
        }
    }
}

#[test]
fn cases_are_chosen_by_name_and_number_and_drawn_on_a_page() {
    let program = Program::new();
    let page = program.path("page.html").display().to_string();
    let arguments = ["cc", "--quick", "--cases", "empty-timer,26,32", "--html", &page];
    let text = program.run(&arguments).succeeded().stdout;
    for words in ["one CPU alone", "empty-timer", "load-own-cache", "pause", "1.35", "page written to"] {
        assert!(text.contains(words), "'{words}' is not in {text}");
    }
    assert!(!text.contains("nop"), "{text}");
    let html = std::fs::read_to_string(&page).expect("written");
    assert!(html.contains("load-own-cache") && html.contains("--seed"), "{html}");
}

#[test]
fn a_case_that_there_is_not_is_named_with_those_there_are() {
    let program = Program::new();
    let words = "no case is called 'cas-sideways': expected a number from 0 to 33 or one of store-modified, ";
    let run = program.run(&["cc", "--cases", "7,cas-sideways"]).failed(2, words);
    assert_eq!(run.stdout, "");
    program.run(&["cc", "--cpus", "0-60000"]).failed(2, "of --cpus 0-60000 is not among the CPUs");
    program.run(&["cc", "--list", "--quick"]).failed(2, "cannot be used with");
}

#[test]
fn one_cpu_is_enough_for_what_needs_no_other() {
    let program = Program::new();
    let cpu = first_cpu();
    let report = program.json(&["cc", "--quick", "--cpus", &cpu, "--cases", "7,24,31", "--json"]);
    let reasons: Vec<(&str, Option<&str>)> =
        cells(&report).iter().map(|cell| (cell["case"].as_str().expect("a name"), cell["skipped"].as_str())).collect();
    let alone = Some("needs 2 CPUs, and there is 1");
    assert_eq!(reasons, [("empty-timer", None), ("load-modified", alone), ("cas-contended", alone)]);
}

#[test]
fn parameters_are_added_to_the_model_with_where_they_come_from_and_simulated() {
    let program = Program::new();
    let model = program.json(&["coherence", "--quick", "--seed", "3", "--json", "--output", "model.json"]);
    let coherence = &model["coherence"];
    assert_eq!((&coherence["quick"], &coherence["unit"]), (&true.into(), &"ns".into()));
    let origin = |name: &str| coherence[name]["origin"].as_str().expect("a parameter");
    assert_eq!(["hit", "pause", "hold", "store_buffer"].map(origin), ["measured", "measured", "assumed", "assumed"]);
    let several = corecast::machine::pin::affinity().expect("told").len() > 1;
    assert_eq!(coherence["load"]["modified"]["origin"], if several { "measured" } else { "assumed" });
    assert_eq!(coherence["system"]["woken"]["origin"], if several { "measured" } else { "assumed" });
    let file = std::fs::read_to_string(program.path("model.json")).expect("written");
    assert_eq!(serde_json::from_str::<Value>(&file).expect("JSON"), model);
    let asked = ["sim", "locks", "--quick", "--json", "--runs", "1", "--locks", "mcs", "--cpus", "1"];
    let report = program.json(&[&asked[..], &["--machine", "model.json"]].concat());
    assert!(report["costs"].as_str().is_some_and(|words| words.contains("costs of single accesses")), "{report}");
}

#[test]
fn parameters_are_not_mixed_with_the_model_of_another_machine() {
    let program = Program::new();
    let cpu = first_cpu();
    let model = r#"{"schema": "corecast-machine/1", "name": "other", "unit": "ns", "cpus": [{"id": CPU, "numa": 0}],
        "send": [[0]], "receive": [[0]], "provenance": {"kind": "assumed"}}"#;
    std::fs::write(program.path("other.json"), model.replace("CPU", &cpu)).expect("written");
    let run = program.run(&["coherence", "--quick", "--json", "--machine", "other.json"]);
    run.failed(2, "is not known to be of this machine, whose single accesses cannot be written into it");
    program.run(&["coherence", "--out", "absent/m.json"]).failed(1, "cannot write the model to absent/m.json");
}
