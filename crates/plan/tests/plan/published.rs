//! The model's predictions against what the authors measured on the machine of the golden trees.

use std::collections::BTreeMap;

use corecast_plan::{Problem, shape, simulate};

use crate::machines;

/// The columns of the published table, with our names of the shapes.
const TOPOLOGIES: [(&str, &str); 7] = [
    ("bintree", "binary"),
    ("cluster", "cluster"),
    ("badtree", "bad"),
    ("sequential", "sequential"),
    ("mst", "mst2"),
    ("fibonacci", "fibonacci"),
    ("AT", "adaptive+shuffle+sort"),
];

/// Spearman's coefficient: the correlation of ranks, for values without ties.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let rank = |values: &[f64], value: f64| values.iter().filter(|&&other| other < value).count() as f64;
    let differences = a.iter().zip(b).map(|(&x, &y)| (rank(a, x) - rank(b, y)).powi(2));
    let n = a.len() as f64;
    1.0 - 6.0 * differences.sum::<f64>() / (n * (n * n - 1.0))
}

#[test]
fn predicted_broadcasts_rank_as_the_measured_ones() {
    let Some(machine) = machines::xeon() else { return };
    let file = machines::data().expect("the machine is there").join("smelt-xeon-2x10/ab-bench.csv");
    let table = std::fs::read_to_string(file).expect("the measurements are readable");
    let row = |name: &str| {
        let line = table.lines().find(|line| line.trim().starts_with(name)).expect("the row is there");
        line.trim().split(',').map(str::to_owned).collect::<Vec<_>>()
    };
    let measured: BTreeMap<String, String> = row("algorithm").into_iter().zip(row("ab,")).collect();
    let measured = TOPOLOGIES.map(|(column, _)| measured[column].parse().expect("a number"));

    let problem = Problem::of_machine(&machine).expect("a machine");
    let predicted = TOPOLOGIES.map(|(_, shape)| {
        let tree = shape::find(shape).expect("a shape").build(&problem, None);
        simulate::broadcast(&problem, &tree)
    });
    let correlation = rank_correlation(&predicted, &measured);
    assert!(correlation >= 0.93, "{correlation}: predicted {predicted:?}, measured {measured:?}");
}
