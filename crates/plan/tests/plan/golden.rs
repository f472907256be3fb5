//! The nine trees that the original program built for a real machine, child for child, and their costs.

use std::collections::BTreeMap;

use corecast_base::CpuId;
use corecast_plan::{Problem, Tree, shape, simulate};
use corecast_testing::machines::published;
use serde::Deserialize;

use crate::machines;

#[derive(Deserialize)]
struct Golden {
    root: u32,
    children: BTreeMap<u32, Vec<u32>>,
    /// Cut to a whole number of cycles.
    broadcast: f64,
    /// As `broadcast`.
    reduction: f64,
}

/// Our name of the shape that the file calls so.
fn our_name(published: &str) -> &str {
    if published == "mst" { "mst2" } else { published }
}

fn children(problem: &Problem, tree: &Tree) -> BTreeMap<u32, Vec<u32>> {
    let id = |member: usize| problem.cpu(member).get();
    let parents = (0..tree.len()).filter(|&member| !tree.children(member).is_empty());
    parents.map(|member| (id(member), tree.children(member).iter().map(|&child| id(child)).collect())).collect()
}

#[test]
fn nine_trees_and_their_costs_are_the_original_programs() {
    let text = std::fs::read_to_string(published("xeon-ivb-2x10/trees.json")).expect("the golden trees are readable");
    let golden: BTreeMap<String, Golden> = serde_json::from_str(&text).expect("the golden trees are JSON");
    assert_eq!(golden.len(), 9);
    let problem = Problem::of_machine(&machines::xeon()).expect("a machine");
    for (published, golden) in golden {
        let shape = shape::find(our_name(&published)).expect("every golden shape is ours");
        let tree = shape.build(&problem, None);
        assert_eq!(problem.cpu(tree.root()), CpuId::new(golden.root), "root of {published}");
        assert_eq!(children(&problem, &tree), golden.children, "children of {published}");
        assert_eq!(simulate::broadcast(&problem, &tree).trunc(), golden.broadcast, "broadcast over {published}");
        assert_eq!(simulate::reduction(&problem, &tree).trunc(), golden.reduction, "reduction over {published}");
    }
}
