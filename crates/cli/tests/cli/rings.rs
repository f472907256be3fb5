//! `corecast plan --op acknowledged`.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::program::Program;

fn ids(list: &Value, id: impl Fn(&Value) -> &Value) -> Vec<u64> {
    list.as_array().expect("an array").iter().map(|entry| id(entry).as_u64().expect("an id")).collect()
}

#[test]
fn a_ring_tells_every_node_its_neighbours() {
    let ring = Program::new().json(&["plan", "--op", "acknowledged", "--arity", "2", "--n", "23", "--json"]);
    assert_eq!((&ring["operation"], &ring["n"], &ring["arity"]), (&"acknowledged".into(), &23.into(), &2.into()));
    let nodes = ring["nodes"].as_array().expect("an array");
    let mut edges = BTreeSet::new();
    for node in nodes {
        let id = node["id"].as_u64().expect("an id");
        ids(&node["successors"], |edge| &edge["to"]).into_iter().for_each(|to| assert!(edges.insert((id, to))));
    }
    let heard = nodes.iter().flat_map(|node| {
        let id = node["id"].as_u64().expect("an id");
        ids(&node["predecessors"], |id| id).into_iter().map(move |from| (from, id))
    });
    assert_eq!(heard.collect::<BTreeSet<_>>(), edges);
    assert_eq!(ring["messages"].as_u64(), Some(edges.len() as u64));
    let roles = |role: &str| nodes.iter().filter(|node| node["role"] == role).count();
    assert_eq!(["root", "gather", "centre", "scatter"].map(roles), [1, 6, 10, 6]);
    assert!(nodes.iter().all(|node| node.get("cpu").is_none()), "no machine, no CPUs");
}

#[test]
fn a_ring_on_a_machine_has_a_node_on_every_cpu() {
    let program = Program::new();
    let model = program.model(0..8);
    let ring =
        program.json(&["plan", "--machine", &model, "--op", "acknowledged", "--root", "5", "--companion", "--json"]);
    let cpus: BTreeSet<u64> =
        ring["nodes"].as_array().expect("an array").iter().filter_map(|node| node["cpu"].as_u64()).collect();
    assert_eq!(cpus, (0..8).collect());
    assert_eq!((&ring["nodes"][0]["cpu"], &ring["nodes"][7]["role"]), (&5.into(), &"companion".into()));
}

#[test]
fn options_without_a_meaning_for_a_ring_are_refused() {
    let program = Program::new();
    for (arguments, told) in [
        (vec!["--op", "acknowledged", "--n", "0"], "1 to 4096 nodes, not 0"),
        (vec!["--op", "acknowledged", "--n", "4", "--arity", "0"], "arity is 1 to 4096, not 0"),
        (vec!["--op", "acknowledged", "--n", "4", "--effort", "exact"], "plans a ring"),
        (vec!["--op", "acknowledged", "--n", "4", "--svg", "-"], "plans a ring"),
        (vec!["--op", "acknowledged", "--n", "4", "--cpus", "0"], "cannot be used with"),
        (vec!["--op", "barrier", "--n", "4"], "go with --op acknowledged"),
    ] {
        program.run(&[&["plan"], &arguments[..]].concat()).failed(2, told);
    }
}
