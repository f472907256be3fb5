//! Processes that may use little of a machine.

use corecast::machine::pin;

use crate::program::Program;
use crate::system_tree;

/// Runs `body` on one CPU, which the programs that it starts inherit.
fn on_one_cpu<R>(body: impl FnOnce() -> R) -> R {
    let cpu = pin::affinity().expect("own mask").as_slice()[0];
    let _pinned = pin::pin(cpu).expect("an allowed CPU");
    body()
}

#[test]
fn half_a_cpu_is_told() {
    let program = Program::new();
    let root = program.path("root");
    system_tree::write(&root, 0..4);
    system_tree::grant_half_a_cpu(&root);
    assert_eq!(program.json(&["topo", "--json", "--sysfs-root", "root"])["quota"], 0.5);
    let text = program.run(&["topo", "--sysfs-root", "root"]).succeeded().stdout;
    assert!(text.contains("quota: control groups grant the time of 0.5 CPUs"), "{text}");
    let plan = program.json(&["plan", "--op", "barrier", "--sysfs-root", "root", "--json"]);
    assert_eq!(plan["cpus"].as_array().expect("an array").len(), 4);
}

#[test]
fn half_a_cpu_is_measured_and_warned_about() {
    let program = Program::new();
    let root = program.path("root");
    let first = pin::affinity().expect("own mask").as_slice()[0].get();
    system_tree::write(&root, first..first + 1);
    system_tree::grant_half_a_cpu(&root);
    let model = program.json(&["measure", "--quick", "--json", "--sysfs-root", "root"]);
    let warnings = model["warnings"].as_array().expect("an array");
    assert!(warnings.iter().any(|warning| warning.as_str().is_some_and(|text| text.contains("0.5 CPUs"))), "{model}");
}

#[test]
fn one_cpu_is_enough_to_tune() {
    let program = Program::new();
    let outcome = on_one_cpu(|| program.json(&["tune", "--quick", "--json"]));
    assert_eq!(outcome["machine"]["provenance"]["kind"], "assumed");
    let warning = outcome["machine"]["warnings"][0].as_str().expect("a warning");
    assert!(warning.contains("no cost between CPUs could be measured"), "{warning}");
    assert_eq!(outcome["plans"][0]["children"], serde_json::json!({}));
    assert!(outcome["race"]["groups"][0]["rows"][0]["median_ns"].is_number(), "{}", outcome["race"]);
}
