//! Minimum spanning trees against another program's.

use corecast_plan::{Problem, shape};
use petgraph::algo::min_spanning_tree;
use petgraph::data::FromElements;
use petgraph::graph::UnGraph;
use proptest::prelude::*;

use crate::machines::made_up;

fn oracle_weight(problem: &Problem) -> f64 {
    let len = problem.len() as u32;
    let pairs = (0..len).flat_map(|i| (i + 1..len).map(move |j| (i, j)));
    let edges = pairs.map(|(i, j)| (i, j, problem.message(i as usize, j as usize)));
    let graph = UnGraph::<(), f64>::from_edges(edges);
    let tree: UnGraph<(), f64> = UnGraph::from_elements(min_spanning_tree(&graph));
    tree.edge_weights().sum()
}

proptest! {
    #[test]
    fn mst_weighs_as_little_as_petgraphs(len in 2..24u32, costs in proptest::collection::vec(0..50u32, 24 * 24)) {
        // Symmetric, as an undirected graph is; whole numbers, so that sums are exact in any order.
        let cost = |i: u32, j: u32| f64::from(costs[(i.min(j) * 24 + i.max(j)) as usize]);
        let ids: Vec<u32> = (0..len).collect();
        let machine = made_up(&ids, 4, |i, j| cost(i, j) + 1.0, |i, j| 2.0 * cost(i, j));
        let problem = Problem::of_machine(&machine).expect("CPUs");
        let tree = shape::find("mst").expect("a shape").build(&problem, None);
        let edges = (0..tree.len()).filter_map(|child| Some(problem.message(tree.parent(child)?, child)));
        prop_assert_eq!(edges.sum::<f64>(), oracle_weight(&problem));
    }
}
