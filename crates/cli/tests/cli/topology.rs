//! `corecast topo`.

use corecast::machine::pin;
use corecast_testing::machines;
use serde_json::Value;

use crate::program::Program;
use crate::system_tree;

fn fields(topology: &Value, name: &str) -> Vec<Value> {
    topology["cpus"].as_array().expect("an array").iter().map(|cpu| cpu[name].clone()).collect()
}

#[test]
fn this_machine_has_the_cpus_of_the_mask() {
    let topology = Program::new().json(&["topo", "--json"]);
    let ids: Vec<u64> = fields(&topology, "id").iter().map(|id| id.as_u64().expect("a number")).collect();
    let mask = pin::affinity().expect("own mask");
    assert!(!ids.is_empty() && ids.iter().all(|&id| mask.iter().any(|cpu| u64::from(cpu.get()) == id)));
    let first = topology["cpus"][0].as_object().expect("an object");
    let mut names: Vec<&str> = first.keys().map(String::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["core", "id", "kind", "l2", "l3", "numa", "package"]);
}

#[test]
fn a_captured_tree_tells_its_own_machine() {
    let program = Program::new();
    system_tree::write(&program.path("root"), 0..8);
    let topology = program.json(&["topo", "--json", "--sysfs-root", "root"]);
    assert_eq!(fields(&topology, "id"), (0..8).collect::<Vec<u32>>());
    assert_eq!(fields(&topology, "core"), [0, 0, 2, 2, 4, 4, 6, 6]);
    assert_eq!(fields(&topology, "numa"), [0, 0, 0, 0, 1, 1, 1, 1]);
    let part = program.json(&["topo", "--json", "--sysfs-root", "root", "--cpus", "3,5-6"]);
    assert_eq!(fields(&part, "id"), [3, 5, 6]);
    let text = program.run(&["topo", "--sysfs-root", "root"]).succeeded().stdout;
    assert!(text.starts_with("8 CPUs (0-7) on 4 cores, 2 NUMA nodes, 1 package, told by sysfs\n"), "{text}");
    let rows = text.lines().filter(|line| line.trim_start().starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(rows.count(), 1 + 8, "a summary and a row for each CPU: {text}");
}

#[test]
fn other_sources_are_asked_for_by_name() {
    let program = Program::new();
    let made_up = program.json(&["topo", "--json", "--synthetic", "pack:2 core:4 pu:2"]);
    assert_eq!((fields(&made_up, "id").len(), &made_up["source"]), (16, &Value::from("synthetic")));
    let of_model = program.json(&["topo", "--json", "--machine", &program.model(0..6)]);
    assert_eq!(
        (fields(&of_model, "numa"), &of_model["source"]),
        (vec![0.into(); 4].into_iter().chain([1.into(), 1.into()]).collect(), &Value::from("file"))
    );
}

#[test]
fn published_machines_are_read() {
    let path = machines::model("paper-xeon-ivb-2x10-20");
    let path = path.display().to_string();
    let topology = Program::new().json(&["topo", "--json", "--machine", &path]);
    assert_eq!(fields(&topology, "id").len(), 20);
}
